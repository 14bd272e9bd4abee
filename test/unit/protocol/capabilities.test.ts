/** Which capabilities cross the gateway: what is advertised is owed. */

import { describe, test } from "vitest";

import {
  toLegacyClient,
  toLegacyServer,
  toModern,
  toOtherEra,
} from "../../../src/protocol/capabilities.ts";
import { LEGACY_REVISIONS } from "../../../src/protocol/revisions.ts";
import { declaresTasks } from "../../../src/protocol/tasks-extension.ts";

const ui = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html"] } };
const tasks = { "io.modelcontextprotocol/tasks": {} };
const others = { ...tasks, "com.example/x": {} };
const server = {
  tools: { listChanged: true },
  completions: {},
  logging: {},
  tasks: { list: {} },
  extensions: { ...others, ...ui },
};
const client = { roots: { listChanged: true }, sampling: {}, elicitation: { url: {} }, tasks: {} };

describe("capabilities of a server, as a legacy client sees them", () => {
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

describe("capabilities of a client, as a legacy server sees them", () => {
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

describe("tasks", () => {
  const { tasks: _, ...rest } = server;

  test("are an extension from one modern hop to the next", ({ expect }) => {
    expect(toModern(server)).toEqual({ ...rest, extensions: { ...tasks, ...ui } });
    expect(toModern(client)).not.toHaveProperty("tasks");
  });

  test("are not passed to the other era", ({ expect }) => {
    expect(toOtherEra(server)).toEqual({ ...rest, extensions: ui });
    expect(toOtherEra(client)).not.toHaveProperty("tasks");
  });

  test.for([true, 1, "yes", null, []])(
    "are not declared by %j, which a lenient server might take for it",
    (said, { expect }) => {
      const extensions = { "io.modelcontextprotocol/tasks": said };
      expect(toModern({ extensions })).toEqual({});
      expect(declaresTasks({ extensions })).toBe(false);
    },
  );

  test("are declared with an object", ({ expect }) => {
    expect(declaresTasks({ extensions: tasks })).toBe(true);
    expect(declaresTasks({ extensions: ui })).toBe(false);
    expect(declaresTasks({ tasks: {} })).toBe(false);
    expect(declaresTasks({ extensions: null })).toBe(false);
  });
});

describe("extensions", () => {
  const everyWay = [
    toOtherEra,
    ...LEGACY_REVISIONS.flatMap((revision) => [
      (capabilities: object) => toLegacyClient({ ...capabilities }, revision),
      (capabilities: object) => toLegacyServer({ ...capabilities }, revision),
    ]),
  ];
  test.for([
    { name: "with a routed one among others", extensions: { ...others, ...ui }, kept: ui },
    { name: "with none that is routed", extensions: others, kept: undefined },
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

test("capabilities that are filtered are not changed themselves", ({ expect }) => {
  const before = JSON.stringify(server);
  toModern(server);
  toLegacyClient(server, "2024-11-05");
  toLegacyServer(server, "2024-11-05");
  expect(JSON.stringify(server)).toBe(before);
});
