import { describe, test } from "vitest";

import { readServerMap } from "../../../../cli/publish/server-map.ts";

const ENVIRONMENT = { HOME: "/home/me", TOKEN: "t0ken" };
const GATEWAY = new URL("https://mcp.example.com/mcp");
const BACK = "leads back to the gateway";

function read(map: object) {
  return readServerMap(JSON.stringify({ mcpServers: map }), ENVIRONMENT, GATEWAY);
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
    expect(readServerMap(text, ENVIRONMENT, GATEWAY)).toEqual({
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
    const names = readServerMap(JSON.stringify(file), {}, GATEWAY)?.servers.map(({ name }) => name);
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
    [{ command: "edgeway", args: ["connect", "https://mcp.example.com/mcp"] }, BACK],
    [{ command: "node", args: ["/git/edgeway/cli/edgeway.mjs", "connect", GATEWAY.href] }, BACK],
    [{ command: "npx", args: ["edgeway", "connect"], env: { EDGEWAY_URL: GATEWAY.origin } }, BACK],
    [{ command: "npx", args: ["-y", "edgeway@0.1.0", "connect", `${GATEWAY.href}/docs`] }, BACK],
    [{ command: "env", args: ["A=b", "${HOME}/edgeway", "connect", GATEWAY.href] }, BACK],
    [{ command: "C:\\bin\\Edgeway.CMD", args: ["connect", GATEWAY.href] }, BACK],
    [{ command: "cmd", args: ["/c", `npx edgeway connect "${GATEWAY.href}"`] }, BACK],
    [{ command: "npx", args: ["-y", "mcp-remote@latest", GATEWAY.href] }, BACK],
  ] as const)("skips %j by name", ([entry, why], { expect }) => {
    const { servers, skipped } = read({ other: entry, good: { command: "x" } }) ?? {};
    expect(servers?.map(({ name }) => name)).toEqual(["good"]);
    expect(skipped).toEqual([expect.stringContaining(`other: ${why}`)]);
  });

  test.for([
    { command: "edgeway-notes", args: ["connect", GATEWAY.href] },
    { command: "npx", args: ["@someone/notes", "/git/edgeway", GATEWAY.href] },
    { command: "node", args: ["/git/edgeway/serve.mjs", "connect", GATEWAY.href] },
    { command: "edgeway", args: ["connect", "https://another.example.com/mcp"] },
  ])("has %j, which is another program", (entry, { expect }) => {
    expect(read({ notes: entry })).toMatchObject({ servers: [{ name: "notes" }], skipped: [] });
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
    expect(readServerMap(text, {}, GATEWAY)).toBeUndefined();
  });
});
