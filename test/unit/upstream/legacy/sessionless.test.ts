/** Sessions of equal clients at a server that gives no session ids, and at servers that are not so. */

import { describe, test } from "vitest";

import type { LegacyClient } from "../../../../src/upstream/legacy/handshake.ts";
import { LegacyConnection } from "../../../../src/upstream/legacy/connection.ts";
import type { SavedConnection } from "../../../../src/upstream/legacy/saved-connection.ts";
import type { UpstreamTarget } from "../../../../src/upstream/target.ts";
import { type Answer, failureOf, fakeTarget, html, type Seen } from "../fake-target.ts";
import { handshake, refusal, result } from "./legacy-servers.ts";

const { signal: never } = new AbortController();
const PEER = { notify: () => Promise.resolve(), ask: () => Promise.resolve({ result: {} }) };
const CLIENT: LegacyClient = {
  revision: "2025-06-18",
  capabilities: { roots: {} },
  clientInfo: { name: "c", version: "1" },
};
const CALL = { method: "tools/call", params: { name: "a" } };

const ignore = (): void => undefined;

/** One call in a new session of this client. */
async function callOnce(
  target: UpstreamTarget,
  client = CLIENT,
  saved?: SavedConnection,
): Promise<unknown> {
  const connection = new LegacyConnection({
    target,
    client,
    unsolicited: PEER,
    save: ignore,
    saved,
  });
  const reply = await connection.request(CALL, PEER, never);
  await connection.close();
  return reply;
}

/** A server that shakes hands with these headers and answers every call, unless `special` does. */
function server(
  headers: () => Record<string, string>,
  special: (seen: Seen) => ReturnType<Answer> | undefined = () => undefined,
) {
  const seen: Seen[] = [];
  const target = fakeTarget((request) => {
    seen.push(request);
    const answer = special(request);
    if (answer !== undefined) return answer;
    const { method } = request.body;
    if (method === "initialize") return result(handshake, headers())(request);
    return method === "tools/call" ? result({})(request) : new Response(null, { status: 202 });
  });
  return { target, methods: () => seen.splice(0).map(({ body }) => body["method"]) };
}

const HANDSHAKE = ["initialize", "notifications/initialized"];

describe("a server that gives no session ids", () => {
  test("is not asked for a handshake again by the session of an equal client", async ({
    expect,
  }) => {
    const { target, methods } = server(() => ({}));
    await callOnce(target);
    expect(methods()).toEqual([...HANDSHAKE, "tools/call"]);
    expect(await callOnce(target)).toEqual({ result: {} });
    expect(methods()).toEqual(["tools/call"]);
  });

  test.for([
    { name: "name", client: { ...CLIENT, clientInfo: { name: "other", version: "1" } } },
    { name: "capabilities", client: { ...CLIENT, capabilities: {} } },
    { name: "revision", client: { ...CLIENT, revision: "2025-03-26" } as const },
  ])("meets a client with another $name", async ({ client }, { expect }) => {
    const { target, methods } = server(() => ({}));
    await callOnce(target);
    await callOnce(target, client);
    expect(methods().slice(3)).toEqual([...HANDSHAKE, "tools/call"]);
  });

  test("meets each caller of which it is told", async ({ expect }) => {
    const { target, methods } = server(() => ({}));
    const toldOf = (person: string): UpstreamTarget => {
      const caller = { origin: "https://gateway.test", person };
      return { ...target, assertion: { header: "Who", caller, value: async () => person } };
    };
    await callOnce(toldOf("alice"));
    await callOnce(toldOf("bob"));
    await callOnce(toldOf("alice"));
    const session = [...HANDSHAKE, "tools/call"];
    expect(methods()).toEqual([...session, ...session, "tools/call"]);
  });

  test("is asked again when it did not hear of the first session's beginning", async ({
    expect,
  }) => {
    let fails = true;
    const { target, methods } = server(
      () => ({}),
      ({ body }) =>
        fails && body["method"] === "notifications/initialized" ? html(500) : undefined,
    );
    expect(await failureOf(callOnce(target))).toMatchObject({ failure: "unreachable" });
    fails = false;
    await callOnce(target);
    expect(methods()).toEqual([...HANDSHAKE, ...HANDSHAKE, "tools/call"]);
  });

  test.for([
    { status: 400, code: -32000 },
    { status: 404, code: -32601 },
  ])("and has sessions now, is asked for one: $status", async ({ status, code }, { expect }) => {
    let hasSessions = false;
    let ran = 0;
    const { target, methods } = server(
      () => (hasSessions ? { "Mcp-Session-Id": "s1" } : {}),
      (request) => {
        if (request.body["method"] !== "tools/call") return undefined;
        if (hasSessions && request.headers.get("mcp-session-id") !== "s1")
          return refusal(status, code)(request);
        ran += 1;
        return undefined;
      },
    );
    await callOnce(target);
    hasSessions = true;
    methods();
    expect(await callOnce(target)).toEqual({ result: {} });
    expect(methods()).toEqual(["tools/call", ...HANDSHAKE, "tools/call", undefined]);
    expect(ran).toBe(2);
    await callOnce(target);
    expect(methods()).toEqual([...HANDSHAKE, "tools/call", undefined]);
  });

  test("and refuses a call after a handshake as well, is not asked a third time", async ({
    expect,
  }) => {
    let refuses = false;
    const { target, methods } = server(
      () => ({}),
      (request) =>
        refuses && request.body["method"] === "tools/call"
          ? refusal(404, -32601)(request)
          : undefined,
    );
    await callOnce(target);
    refuses = true;
    methods();
    expect(await callOnce(target)).toMatchObject({ error: { code: -32601 } });
    expect(methods()).toEqual(["tools/call", ...HANDSHAKE, "tools/call"]);
  });

  test("and has left the era, fails as it would at a handshake", async ({ expect }) => {
    let isModern = false;
    const onlyModern = refusal(400, -32022, { supported: ["2026-07-28"] });
    const { target } = server(
      () => ({}),
      (request) => (isModern ? onlyModern(request) : undefined),
    );
    await callOnce(target);
    isModern = true;
    expect(await failureOf(callOnce(target))).toMatchObject({ failure: "other-era" });
  });

  test("is asked again by a stored session that it refuses", async ({ expect }) => {
    const { target, methods } = server(
      () => ({ "Mcp-Session-Id": "s1" }),
      (request) =>
        request.body["method"] === "tools/call" && request.headers.get("mcp-session-id") !== "s1"
          ? refusal(400, -32000)(request)
          : undefined,
    );
    const stored: SavedConnection = {
      transport: "streamable-http",
      sessionId: undefined,
      logLevel: undefined,
      handshake: { revision: "2025-06-18", capabilities: {}, serverInfo: {} },
    };
    expect(await callOnce(target, CLIENT, stored)).toEqual({ result: {} });
    expect(methods()).toEqual(["tools/call", ...HANDSHAKE, "tools/call", undefined]);
  });
});

test("a server that gives session ids shakes hands in each session", async ({ expect }) => {
  const { target, methods } = server(() => ({ "Mcp-Session-Id": "s1" }));
  await callOnce(target);
  await callOnce(target);
  const session = [...HANDSHAKE, "tools/call", undefined];
  expect(methods()).toEqual([...session, ...session]);
});

test.for([
  { server: "with session ids", headers: { "Mcp-Session-Id": "s" }, sent: 1 },
  { server: "without session ids, where all share it", headers: {}, sent: 0 },
])(
  "the end of a subscription is sent $sent times to a server $server",
  async ({ headers, sent }, { expect }) => {
    const { target, methods } = server(
      () => headers,
      ({ body: { id, method } }) =>
        String(method).startsWith("resources/")
          ? Response.json({ jsonrpc: "2.0", id, result: {} })
          : undefined,
    );
    const connection = new LegacyConnection({
      ...{ target, client: CLIENT, unsolicited: PEER, save: ignore },
    });
    for (const method of ["resources/subscribe", "resources/unsubscribe"]) {
      const call = { method, params: { uri: "file:///a" } };
      expect(await connection.request(call, PEER, never)).toEqual({ result: {} });
    }
    await connection.close();
    const subscriptions = methods().filter((method) => String(method).startsWith("resources/"));
    expect(subscriptions).toEqual([
      "resources/subscribe",
      ...Array.from({ length: sent }, () => "resources/unsubscribe"),
    ]);
  },
);
