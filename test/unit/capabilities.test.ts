/** Which capabilities cross the gateway: what is advertised is owed. */

import { describe, test } from "vitest";

import { toLegacyClient, toLegacyServer, toModern } from "../../src/protocol/capabilities.ts";
import { LEGACY_REVISIONS } from "../../src/protocol/revisions.ts";

const ui = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html"] } };
const tasks = { "io.modelcontextprotocol/tasks": {}, "com.example/x": {} };
const server = {
  tools: { listChanged: true },
  completions: {},
  logging: {},
  tasks: { list: {} },
  extensions: { ...tasks, ...ui },
};
const client = { roots: { listChanged: true }, sampling: {}, elicitation: { url: {} }, tasks: {} };

describe("of a server, as a legacy client sees them", () => {
  test.for([
    { revision: "2024-11-05", names: ["tools", "logging", "extensions"] },
    { revision: "2025-03-26", names: ["tools", "completions", "logging", "extensions"] },
    { revision: "2025-06-18", names: ["tools", "completions", "logging", "extensions"] },
    { revision: "2025-11-25", names: ["tools", "completions", "logging", "tasks", "extensions"] },
  ] as const)("at $revision: $names", ({ revision, names }, { expect }) => {
    const seen = toLegacyClient(server, revision);
    expect(Object.keys(seen)).toEqual(names);
    expect(seen).toMatchObject({ tools: { listChanged: true }, extensions: ui });
  });
});

describe("of a client, as a legacy server sees them", () => {
  test.for([
    { revision: "2024-11-05", hasTasks: false },
    { revision: "2025-03-26", hasTasks: false },
    { revision: "2025-06-18", hasTasks: false },
    { revision: "2025-11-25", hasTasks: true },
  ] as const)("at $revision, tasks: $hasTasks", ({ revision, hasTasks }, { expect }) => {
    const { tasks: tasksOfClient, ...rest } = client;
    expect(toLegacyServer(client, revision)).toEqual(
      hasTasks ? { ...rest, tasks: tasksOfClient } : rest,
    );
  });
});

test("on the modern wire tasks are an extension, and not one that is routed", ({ expect }) => {
  expect(toModern(server)).toEqual({
    tools: { listChanged: true },
    completions: {},
    logging: {},
    extensions: ui,
  });
  expect(toModern(client)).not.toHaveProperty("tasks");
});

describe("extensions", () => {
  const everyWay = [
    toModern,
    ...LEGACY_REVISIONS.flatMap((revision) => [
      (capabilities: object) => toLegacyClient({ ...capabilities }, revision),
      (capabilities: object) => toLegacyServer({ ...capabilities }, revision),
    ]),
  ];
  test.for([
    { name: "with a routed one among others", extensions: { ...tasks, ...ui }, kept: ui },
    { name: "with none that is routed", extensions: tasks, kept: undefined },
    { name: "empty", extensions: {}, kept: undefined },
    { name: "of a wrong type", extensions: ["io.modelcontextprotocol/ui"], kept: undefined },
    { name: "null", extensions: null, kept: undefined },
  ])("$name", ({ extensions, kept }, { expect }) => {
    for (const pass of everyWay) {
      const passed = pass({ prompts: {}, extensions });
      expect(passed).toEqual({ prompts: {}, ...(kept === undefined ? {} : { extensions: kept }) });
      expect("extensions" in passed).toBe(kept !== undefined);
    }
  });
});

test("what was given is not changed", ({ expect }) => {
  const before = JSON.stringify(server);
  toModern(server);
  toLegacyClient(server, "2024-11-05");
  toLegacyServer(server, "2024-11-05");
  expect(JSON.stringify(server)).toBe(before);
});
