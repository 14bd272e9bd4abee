import { describe, test } from "vitest";

import { readServerMap } from "../../../../cli/publish/server-map.ts";

const ENVIRONMENT = { HOME: "/home/me", TOKEN: "t0ken" };

function read(map: object) {
  return readServerMap(JSON.stringify({ mcpServers: map }), ENVIRONMENT);
}

describe("the map of a client", () => {
  test("has its commands, with their arguments, environment and folder", ({ expect }) => {
    const text = `{
      // as an editor keeps it
      "mcpServers": {
        "My Files": { "command": "npx", "args": ["-y", "pkg", "\${HOME}/docs"], "cwd": "\${HOME}" },
        "api": { "command": "node", "env": { "TOKEN": "\${env:TOKEN}", "PORT": 1, "MODE": "\${MODE:-ro}" } },
      },
    }`;
    expect(readServerMap(text, ENVIRONMENT)).toEqual({
      servers: [
        {
          name: "my-files",
          command: "npx",
          args: ["-y", "pkg", "/home/me/docs"],
          env: {},
          cwd: "/home/me",
        },
        {
          name: "api",
          command: "node",
          args: [],
          env: { TOKEN: "t0ken", PORT: "1", MODE: "ro" },
          cwd: undefined,
        },
      ],
      skipped: [],
    });
  });

  test.for([
    ["mcpServers", { mcpServers: { a: { command: "x" } } }],
    ["servers", { inputs: [], servers: { a: { type: "stdio", command: "x" } } }],
    ["nothing around it", { a: { command: "x" } }],
  ] as const)("may stand in %s", ([, file], { expect }) => {
    const names = readServerMap(JSON.stringify(file), {})?.servers.map(({ name }) => name);
    expect(names).toEqual(["a"]);
  });

  test.for([
    [{ url: "https://example.com/mcp" }, "has an address"],
    [{ serverUrl: "https://example.com/mcp", command: "x" }, "has an address"],
    [{ command: "x", disabled: true }, "is disabled"],
    [{ command: "x", enabled: false }, "is disabled"],
    [{ args: [] }, "has no command"],
    [{ command: ["x"] }, "has no command"],
    [{ command: "x", args: "y" }, "its args are no list"],
    [{ command: "x", env: { A: {} } }, "its env is no map"],
    [{ command: "x", cwd: 1 }, "its cwd is no text"],
    [{ command: "x", args: ["${UNSET}"] }, "the variable UNSET is not set"],
    [{ command: "x", env: { KEY: "${input:key}" } }, "${input:key} means something"],
    ["x", "is no server"],
  ] as const)("skips %j by name", ([entry, why], { expect }) => {
    const { servers, skipped } = read({ other: entry, good: { command: "x" } }) ?? {};
    expect(servers?.map(({ name }) => name)).toEqual(["good"]);
    expect(skipped).toEqual([expect.stringContaining(`other: ${why}`)]);
  });

  test("has one server of each name", ({ expect }) => {
    const { servers, skipped } = read({ "a b": { command: "x" }, "A-B": { command: "y" } }) ?? {};
    expect(servers?.map(({ command }) => command)).toEqual(["x"]);
    expect(skipped).toEqual(["A-B: another one is published as a-b already"]);
    expect(read({ 日本: { command: "x" } })?.skipped).toEqual([
      expect.stringContaining("no name of a-z"),
    ]);
  });

  test.for(["", "[]", "name = 1", '"text"'])("is not in %j", (text, { expect }) => {
    expect(readServerMap(text, {})).toBeUndefined();
  });
});
