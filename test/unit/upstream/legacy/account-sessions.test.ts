/** Sessions at a server that knows its callers by an account: each belongs to the account that opened it. */

import { describe, test } from "vitest";

import { LegacyConnection } from "../../../../src/upstream/legacy/connection.ts";
import type { EndedAccount } from "../../../../src/upstream/credentials.ts";
import type { SavedConnection } from "../../../../src/upstream/legacy/saved-connection.ts";
import { writeResumeToken } from "../../../../src/upstream/legacy/resume-token.ts";
import { StreamableHttpWire } from "../../../../src/upstream/legacy/streamable-http-wire.ts";
import { CONNECT, type FakeCredentials, fakeCredentials, tokenOf } from "../fake-credentials.ts";
import { bytesOf, failureOf, fakeTarget, json, type Seen } from "../fake-target.ts";
import { EVENTS, handshake, shakeHands, sseServer, refusal } from "./legacy-servers.ts";

const { signal: never } = new AbortController();
const PEER = { notify: () => Promise.resolve(), ask: () => Promise.resolve({ result: {} }) };
const CLIENT = {
  revision: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "c", version: "1" },
} as const;
const CALL = { method: "tools/call", params: { name: "a" } };

/** A server whose sessions are named after the token that opened them, and which holds them to it. */
function world(hasSessions = true) {
  const credentials = fakeCredentials();
  const seen: Seen[] = [];
  const ran: string[] = [];
  const saved: SavedConnection[] = [];
  let refused = "";
  /** Called before the server answers a message of this method. */
  const before = new Map<string, () => void>();
  const target = fakeTarget(
    (request) => {
      seen.push(request);
      const { method, headers, body } = request;
      before.get(String(body["method"]))?.();
      const token = headers.get("authorization") ?? "";
      const [account = ""] = token.slice("Bearer ".length).split("-");
      if (token === refused) return new Response(null, { status: 401 });
      const session = headers.get("mcp-session-id");
      if (session !== null && session !== `of-${account}`) throw new Error("Another's session");
      if (method !== "POST") return new Response(null, { status: method === "GET" ? 405 : 200 });
      const { id } = body;
      if (body["method"] === "initialize") {
        const own = hasSessions ? { "Mcp-Session-Id": `of-${account}` } : undefined;
        const instructions = `Only for ${account}`;
        const result = { ...handshake, instructions };
        return json({ jsonrpc: "2.0", id, result }, own && { headers: own });
      }
      if (id === undefined) return new Response(null, { status: 202 });
      ran.push(account);
      return json({ jsonrpc: "2.0", id, result: { of: account } });
    },
    { credentials, transport: "streamable-http" },
  );
  const open = (from?: SavedConnection): LegacyConnection =>
    new LegacyConnection({
      ...{ target, client: CLIENT, unsolicited: PEER, saved: from },
      save: (state) => void saved.push(state),
    });
  const methods = (): unknown[] =>
    seen.splice(0).map(({ method, body }) => body["method"] ?? method);
  return {
    credentials,
    target,
    open,
    seen,
    saved,
    ran,
    before,
    methods,
    refuse: (token: string) => (refused = token),
  };
}

const OPENING = ["initialize", "notifications/initialized"];

describe("a session at a server with accounts", () => {
  test("U42 is kept when its token is refused and refreshed", async ({ expect }) => {
    const { open, refuse, methods, ran } = world();
    const connection = open();
    await connection.request(CALL, PEER, never);
    refuse(tokenOf("a1", 1));
    expect(await connection.request(CALL, PEER, never)).toEqual({ result: { of: "a1" } });
    expect(methods()).toEqual([...OPENING, "tools/call", "tools/call", "tools/call"]);
    expect(ran).toEqual(["a1", "a1"]);
  });

  test.for([true, false])(
    "U62 is opened anew for another account, sessions %s",
    async (hasSessions, { expect }) => {
      const { open, credentials, methods, ran } = world(hasSessions);
      const connection = open();
      await connection.request(CALL, PEER, never);
      credentials.accountId = "a2";
      expect(await connection.request(CALL, PEER, never)).toEqual({ result: { of: "a2" } });
      expect(methods()).toEqual([...OPENING, "tools/call", ...OPENING, "tools/call"]);
      expect(ran).toEqual(["a1", "a2"]);
    },
  );

  test("U62 that was stored is not used for another account", async ({ expect }) => {
    const { open, credentials, saved, methods } = world();
    await open().request(CALL, PEER, never);
    expect(saved.at(-1)).toMatchObject({ accountId: "a1", sessionId: "of-a1" });
    methods();
    await open(saved.at(-1)).request(CALL, PEER, never);
    expect(methods()).toEqual(["tools/call"]);
    credentials.accountId = "a2";
    await open(saved.at(-1)).request(CALL, PEER, never);
    expect(methods()).toEqual([...OPENING, "tools/call"]);
    expect(saved.at(-1)).toMatchObject({ accountId: "a2", sessionId: "of-a2" });
  });

  test("U40 shares no handshake with another account's", async ({ expect }) => {
    const { open, credentials, methods } = world(false);
    await open().request(CALL, PEER, never);
    await open().request(CALL, PEER, never);
    expect(methods()).toEqual([...OPENING, "tools/call", "tools/call"]);
    credentials.accountId = "a2";
    await open().request(CALL, PEER, never);
    expect(methods()).toEqual([...OPENING, "tools/call"]);
  });

  test("U37 sends the credential when it ends", async ({ expect }) => {
    const { open, methods } = world();
    const connection = open();
    await connection.request(CALL, PEER, never);
    await connection.close();
    expect(methods().at(-1)).toBe("DELETE"); // the server throws for another's session
  });

  test("U61 is ended with its own credential when its account has ended, and no other is", async ({
    expect,
  }) => {
    const { open, credentials, methods, ran } = world();
    const connection = open();
    await connection.request(CALL, PEER, never);
    const last = await credentials.current();
    if (last.kind === "need") throw new Error("Nothing to use");
    credentials.accountId = "a2";
    methods();
    await connection.accountEnded({ slug: "s", accountId: "a1", credential: last });
    expect(methods()).toEqual(["DELETE"]); // the server throws for another's session
    await connection.request(CALL, PEER, never);
    expect(ran).toEqual(["a1", "a2"]);
    expect(methods()).toEqual([...OPENING, "tools/call"]);
    await connection.accountEnded({ slug: "s", accountId: "a1", credential: last });
    expect(methods()).toEqual([]);
  });
});

describe("a session that is left while it is being opened", () => {
  test.for<{ name: string; leave: (connection: LegacyConnection) => Promise<void> }>([
    { name: "for good", leave: (connection) => connection.close() },
    {
      name: "as its account ends",
      leave: (connection) => connection.accountEnded({ slug: "s", accountId: "a1" }),
    },
  ])("$name runs no call, and has no stream", async ({ leave }, { expect }) => {
    const { open, methods, ran, before } = world();
    const connection = open();
    let left: Promise<void> | undefined;
    before.set("notifications/initialized", () => void (left = leave(connection)));
    const calling = failureOf(connection.request(CALL, PEER, never));
    const listening = failureOf(connection.listen(undefined));
    expect([await calling, await listening]).toMatchObject([
      { failure: "lost" },
      { failure: "lost" },
    ]);
    await left;
    expect([methods(), ran]).toEqual([[...OPENING, "DELETE"], []]);
  });

  test.for<{ name: string; end: (connection: LegacyConnection, ended: EndedAccount) => unknown }>([
    { name: "for good", end: (connection, { credential }) => connection.close(credential) },
    { name: "as its account ends", end: (connection, ended) => connection.accountEnded(ended) },
  ])("$name is ended with its own credential once it is open", async ({ end }, { expect }) => {
    const { open, methods, seen, before, credentials, ran } = world();
    const connection = open();
    const credential = await credentials.current();
    if (credential.kind === "need") throw new Error("Nothing to use");
    before.set("initialize", () => {
      credentials.accountId = "a2";
      end(connection, { slug: "s", accountId: "a1", credential });
    });
    const failure = await failureOf(connection.request(CALL, PEER, never));
    expect(failure).toMatchObject({ failure: "lost" });
    expect(seen.at(-1)?.headers.get("mcp-session-id")).toBe("of-a1");
    expect([methods(), ran]).toEqual([["initialize", "DELETE"], []]);
  });

  test("before it was begun is not begun", async ({ expect }) => {
    const { open, methods, credentials } = world();
    const connection = open();
    const account = Promise.withResolvers<string>();
    credentials.account = () => account.promise;
    const calling = failureOf(connection.request(CALL, PEER, never));
    await connection.close();
    account.resolve("a1");
    expect(await calling).toMatchObject({ failure: "lost" });
    expect(methods()).toEqual([]);
  });
});

describe("an answer to a question of the server", () => {
  const TOKEN = writeResumeToken({ ask: 7 }) ?? "";

  test("is undelivered while the account needs attention, and can be sent when it does not", async ({
    expect,
  }) => {
    const { open, credentials, seen } = world();
    const connection = open();
    await connection.request(CALL, PEER, never);
    credentials.need = CONNECT;
    seen.splice(0);
    expect(await connection.answer(TOKEN, { result: { action: "accept" } })).toBe(false);
    expect(seen).toEqual([]);
    credentials.need = undefined;
    expect(await connection.answer(TOKEN, { result: { action: "accept" } })).toBe(true);
    expect(seen.map(({ body }) => body["id"])).toEqual([7]);
  });

  test("is over when the session is of another account", async ({ expect }) => {
    const { open, credentials } = world();
    const connection = open();
    await connection.request(CALL, PEER, never);
    credentials.accountId = "a2";
    expect(await connection.answer(TOKEN, { result: {} })).toBe(true);
  });
});

/** A server that cuts the stream of each call after an event id, and answers on the next GET. */
function cutting(credentials: FakeCredentials) {
  const seen: Seen[] = [];
  const target = fakeTarget(
    (request) => {
      seen.push(request);
      const { method, body } = request;
      if (body["method"] === "initialize") {
        const headers = { "Mcp-Session-Id": "s" };
        return json({ jsonrpc: "2.0", id: body["id"], result: handshake }, { headers });
      }
      if (body["id"] === undefined && method === "POST") return new Response(null, { status: 202 });
      if (method === "POST")
        return new Response(bytesOf("id: e1\nretry: 1\ndata:\n\n"), { headers: EVENTS });
      return new Response(null, { status: 500 });
    },
    { credentials, transport: "streamable-http" },
  );
  return { target, seen };
}

test.for([
  { name: "is another", lose: (credentials: FakeCredentials) => (credentials.accountId = "a2") },
  {
    name: "has ended",
    lose: (credentials: FakeCredentials) =>
      (credentials.need = { kind: "need", need: "connect", reason: "refused" }),
  },
])(
  "a call whose stream broke is not sent again when its account $name",
  async ({ lose }, { expect }) => {
    const credentials = fakeCredentials();
    const { target, seen } = cutting(credentials);
    const connection = new LegacyConnection({
      ...{ target, client: CLIENT, unsolicited: PEER, save: () => undefined },
    });
    await connection.ready();
    const peer = { ...PEER, released: () => void lose(credentials) };
    expect(await failureOf(connection.request(CALL, peer, never))).toMatchObject({
      failure: "lost",
    });
    expect(seen.filter(({ body }) => body["method"] === "tools/call")).toHaveLength(1);
  },
);

test("U62 the standalone stream of another account's session is not opened", async ({ expect }) => {
  const credentials = fakeCredentials("a2");
  const seen: Seen[] = [];
  const target = fakeTarget(
    (request) => {
      seen.push(request);
      return new Response(null, { status: 405 });
    },
    { credentials },
  );
  const wire = new StreamableHttpWire(target, {
    ...{ sessionId: "s", revision: "2025-06-18", accountId: "a1" },
  });
  await new Promise<void>((resolve) =>
    wire.listen({ deliver: () => Promise.resolve(), primed: () => undefined, onLost: resolve }),
  );
  expect(seen).toEqual([]);
});

describe("HTTP+SSE at a server with accounts", () => {
  test("U37 carries the credential on the stream and on every POST", async ({ expect }) => {
    const credentials = fakeCredentials();
    const seen: Seen[] = [];
    const answer = sseServer(refusal(405, -32601));
    const target = fakeTarget(
      (request) => {
        seen.push(request);
        return answer(request);
      },
      { credentials, transport: "sse" },
    );
    const { wire } = await shakeHands(target);
    await wire.post({ jsonrpc: "2.0", method: "notifications/initialized" });
    expect(seen.map(({ headers }) => headers.get("authorization"))).toEqual(
      seen.map(() => tokenOf("a1", 1)),
    );
    expect(seen.map(({ method }) => method)).toEqual(["GET", "POST", "POST"]);
    credentials.accountId = "a2";
    const posted = wire.post({ jsonrpc: "2.0", method: "notifications/cancelled" });
    expect(await failureOf(posted)).toMatchObject({ failure: "session-lost" });
    expect(seen).toHaveLength(3);
    await wire.close();
  });

  test("U38 sends nothing to an endpoint on another origin", async ({ expect }) => {
    const seen: Seen[] = [];
    const answer = sseServer(refusal(405, -32601), "http://other.test/messages");
    const target = fakeTarget(
      (request) => {
        seen.push(request);
        return answer(request);
      },
      { credentials: fakeCredentials(), transport: "sse" },
    );
    const failure = await failureOf(shakeHands(target));
    expect(failure).toMatchObject({ failure: "malformed" });
    expect(String(failure)).toContain('"fake"');
    expect(seen.map(({ method }) => method)).toEqual(["GET"]);
  });
});
