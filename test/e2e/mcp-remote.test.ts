/** `mcp-remote`, which brings hosts that speak stdio alone: sign-in, refresh, and several at once. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, test as base } from "vitest";

import { Browser } from "../support/oauth-browser.ts";
import { approve } from "../support/oauth-client.ts";
import {
  Home,
  type McpRemote,
  openedAddress,
  startMcpRemote,
} from "../support/oauth-mcp-remote.ts";
import { overHttp } from "../support/oauth-over-http.ts";
import { OWNER_CODE } from "../support/oauth-owner.ts";
import { type Server, startGateway } from "../support/servers.ts";
import { textOf } from "./outcome.ts";

const RESULT = /^Today we pour /;

let gateway: Server;
beforeAll(async () => {
  gateway = await startGateway({ auth: "oauth" });
});
afterAll(() => gateway.stop());

interface Person {
  readonly home: Home;
  /** Starts one more, for one of the gateway's endpoints. */
  start(path?: string, options?: readonly string[]): McpRemote;
  /** Does in the browser what it was opened for. */
  signIn(remote: McpRemote): Promise<void>;
}

// oxlint-disable-next-line no-empty-pattern -- vitest reads what a fixture needs off the pattern
const test = base.extend("person", async ({}, { onCleanup }): Promise<Person> => {
  const folder = await mkdtemp(join(tmpdir(), "edgeway-mcp-remote-"));
  const home = await Home.in(folder);
  const started: McpRemote[] = [];
  onCleanup(async () => {
    await Promise.all(started.map((remote) => remote.close()));
    await rm(folder, { recursive: true, force: true });
  });
  return {
    home,
    start(path = "/mcp", options = []) {
      const remote = startMcpRemote(home, gateway.url + path, options);
      started.push(remote);
      return remote;
    },
    async signIn(remote) {
      const browser = new Browser(gateway.url, overHttp);
      const back = await approve(browser, await openedAddress(home, remote), { code: OWNER_CODE });
      const response = await fetch(back);
      if (!response.ok) throw new Error(`mcp-remote says ${await response.text()}`);
      await remote.connected;
    },
  };
});

async function useTool({ client }: McpRemote): Promise<string> {
  return textOf(await client.callTool({ name: "todays_tea", arguments: {} }));
}

describe("mcp-remote", () => {
  test.for<[path: string, options: readonly string[]]>([
    ["/mcp", []],
    ["/mcp", ["--host", "127.0.0.1"]],
    ["/sse", ["--transport", "sse-only"]],
  ])(
    "gets from an empty configuration to a tool result: %s %j",
    async ([path, options], { expect, person }) => {
      const remote = person.start(path, options);
      await person.signIn(remote);
      expect(await useTool(remote)).toMatch(RESULT);
      const [opened] = await person.home.opened();
      expect(remote.said()).toContain(opened);
    },
  );

  test("needs no new sign-in when it starts again", async ({ expect, person }) => {
    const first = person.start();
    await person.signIn(first);
    await first.close();
    const second = person.start();
    await second.connected;
    expect(await useTool(second)).toMatch(RESULT);
    expect(await person.home.opened()).toHaveLength(1);
  });

  test.for<[when: string, isKnown: boolean]>([
    ["has expired", true],
    ["is good no more", false],
  ])("refreshes a token that %s, while it runs", async ([, isKnown], { expect, person }) => {
    const remote = person.start();
    await person.signIn(remote);
    // It opens a stream of its own first, and of two refusals at once it forgets a call.
    await useTool(remote);
    const before = await person.home.tokens();
    await person.home.spoilAccessToken(isKnown);
    expect(await useTool(remote)).toMatch(RESULT);
    const after = await person.home.tokens();
    expect(after["access_token"]).not.toBe("spoilt");
    expect(after["refresh_token"]).not.toBe(before["refresh_token"]);
    expect(await person.home.opened()).toHaveLength(1);
  });

  test("shares one sign-in between several hosts, which refresh at once", async ({
    expect,
    person,
  }) => {
    const first = person.start();
    await person.signIn(first);
    await first.close();
    await person.home.spoilAccessToken(true);
    const remotes = [person.start(), person.start(), person.start()];
    await Promise.all(remotes.map((remote) => remote.connected));
    const results = await Promise.all(remotes.map((remote) => useTool(remote)));
    expect(results.filter((text) => RESULT.test(text))).toHaveLength(remotes.length);
    expect(await person.home.opened()).toHaveLength(1);
  });
});
