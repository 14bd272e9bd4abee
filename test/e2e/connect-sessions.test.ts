/** The session of `edgeway connect` at a gateway by hand, which forgets, refuses and breaks off as a test orders. */

import { test as base } from "vitest";

import { type RawHost, type Start, startUntil } from "../support/cli.ts";
import type { Json } from "../support/clients-face.ts";
import { serveSite, type Site } from "../support/page-server.ts";
import { INITIALIZE } from "../support/raw-session.ts";
import { until } from "../support/until.ts";

const URI = "test://watched";

/** What the gateway is asked: a method of MCP, or GET or DELETE. */
interface Asked {
  readonly method: string;
  /** `none`, or the session's name. */
  readonly session: string;
  readonly lastEventId: string | undefined;
}

interface ScriptedGateway {
  readonly url: string;
  readonly seen: readonly Asked[];
  /** Answers in place of the usual answer, which `undefined` leaves as it is. */
  answer: (asked: Asked) => Response | undefined | Promise<Response | undefined>;
}

const test = base
  // oxlint-disable-next-line no-empty-pattern -- vitest reads what a fixture needs off the pattern
  .extend("start", ({}, { onCleanup }): Start => startUntil(onCleanup))
  // oxlint-disable-next-line no-empty-pattern -- the same
  .extend("gateway", async ({}, { onCleanup }): Promise<ScriptedGateway> => {
    const seen: Asked[] = [];
    let sessions = 0;
    const site: Site = await serveSite(async ({ method: verb = "", headers }, body) => {
      const { id, method = verb } = JSON.parse(body || "{}") as { id?: unknown; method?: string };
      const session = headers["mcp-session-id"]?.toString() ?? "none";
      const asked = { method, session, lastEventId: headers["last-event-id"]?.toString() };
      seen.push(asked);
      const own = await gateway.answer(asked);
      if (own !== undefined) return own;
      if (verb === "GET") return new Response(null, { status: 405 });
      if (id === undefined) return new Response(null, { status: 202 });
      const isFirst = method === "initialize";
      const named = isFirst && { "mcp-session-id": `session-${++sessions}` };
      const result = isFirst ? { protocolVersion: "2025-11-25", capabilities: CAPABILITIES } : {};
      return Response.json({ jsonrpc: "2.0", id, result }, { headers: { ...named } });
    });
    onCleanup(() => site.stop());
    const gateway: ScriptedGateway = {
      url: `${site.origin}/mcp`,
      seen,
      answer: () => undefined,
    };
    return gateway;
  });

const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: {},
  resources: { listChanged: true, subscribe: true },
};

/** To a host that has subscribed to the resource. */
const ALL_CHANGED = [
  { jsonrpc: "2.0", method: "notifications/tools/list_changed", params: {} },
  { jsonrpc: "2.0", method: "notifications/resources/list_changed", params: {} },
  { jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri: URI } },
];

const TEXT = { "content-type": "text/plain; charset=UTF-8" };

/** The metadata of a request of 2026-07-28. */
const MODERN = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

const INITIALIZED = { jsonrpc: "2.0", method: "notifications/initialized" };

/** Asks, and waits for the answer. */
async function ask(host: RawHost, id: string, method: string, params: Json = {}): Promise<Json> {
  host.send({ jsonrpc: "2.0", id, method, params });
  return host.answer(id);
}

async function introduce(host: RawHost): Promise<void> {
  await ask(host, "first", "initialize", INITIALIZE.params);
}

/** A stream that has this much, and ends. The next one is asked for at once. */
function stream(text: string): Response {
  return new Response(`retry: 1\n${text}\n\n`, {
    headers: { "content-type": "text/event-stream" },
  });
}

test("a host that initializes once more has another session, and the first one is deleted at once", async ({
  expect,
  gateway,
  start,
}) => {
  const seen = (): string[] => gateway.seen.map(({ method, session }) => `${method} ${session}`);
  const host = start(["connect", gateway.url]);
  await introduce(host);
  host.send(INITIALIZED);
  await until(() => seen().includes("GET session-1"), "the standalone stream");
  await ask(host, "second", "initialize", INITIALIZE.params);
  await until(() => seen().includes("DELETE session-1"), "the end of the first session");
  await ask(host, "ping", "ping");
  expect(seen().at(-1)).toBe("ping session-2");
  host.end();
  expect(await host.exitCode).toBe(0);
  expect(seen().filter((one) => one.startsWith("DELETE"))).toEqual([
    "DELETE session-1",
    "DELETE session-2",
  ]);
});

test("a standalone stream whose place is gone begins anew, and what may have changed meanwhile is announced", async ({
  expect,
  gateway,
  start,
}) => {
  const answers = [
    stream("id: last\ndata:"),
    new Response(null, { status: 400 }),
    stream(": begun"),
  ];
  gateway.answer = ({ method }) => (method === "GET" ? answers.shift() : undefined);
  const host = start(["connect", gateway.url]);
  await introduce(host);
  await ask(host, "watch", "resources/subscribe", { uri: URI });
  host.send(INITIALIZED);
  const gets = (): Asked[] => gateway.seen.filter(({ method }) => method === "GET");
  await until(() => gets().length === 4, "the fourth stream");
  expect(gets().map(({ lastEventId }) => lastEventId)).toEqual([
    undefined,
    "last",
    undefined,
    undefined,
  ]);
  expect(host.messages.slice(2)).toEqual(ALL_CHANGED);
});

test("what may have changed is announced in a session that takes the place of a forgotten one", async ({
  expect,
  gateway,
  start,
}) => {
  const streams = [stream(": begun")];
  gateway.answer = ({ method, session }) => {
    if (session === "session-1" && method === "ping") return new Response(null, { status: 404 });
    return session === "session-2" && method === "GET" ? streams.shift() : undefined;
  };
  const host = start(["connect", gateway.url]);
  await introduce(host);
  await ask(host, "watch", "resources/subscribe", { uri: URI });
  host.send(INITIALIZED);
  await ask(host, "ping", "ping");
  await until(() => host.messages.length === 3 + ALL_CHANGED.length, "what may have changed");
  expect(host.messages).toEqual(expect.arrayContaining(ALL_CHANGED));
});

test("a session that takes the place of a forgotten one is whole, though the gateway is away in between", async ({
  expect,
  gateway,
  start,
}) => {
  const refusals = [new Response("Try again later.\n", { status: 503, headers: TEXT })];
  gateway.answer = ({ method, session }) => {
    if (session === "session-1" && method === "ping") return new Response(null, { status: 404 });
    const isAgain = session === "session-2" && method === INITIALIZED.method;
    return isAgain ? refusals.shift() : undefined;
  };
  const host = start(["connect", gateway.url]);
  await introduce(host);
  await ask(host, "level", "logging/setLevel", { level: "debug" });
  await ask(host, "watch", "resources/subscribe", { uri: URI });
  host.send(INITIALIZED);
  expect(await ask(host, "ping", "ping")).toHaveProperty("result");
  const second = (): string[] =>
    gateway.seen.flatMap(({ method, session }) => (session === "session-2" ? method : []));
  await until(() => second().includes("GET"), "the stream of the second session");
  expect(second().filter((method) => method !== "GET")).toEqual([
    INITIALIZED.method,
    INITIALIZED.method,
    "logging/setLevel",
    "resources/subscribe",
    "ping",
  ]);
});

test("no request goes out in a session that takes the place of a forgotten one before it is whole", async ({
  expect,
  gateway,
  start,
}) => {
  const { promise: whole, resolve: isWhole } = Promise.withResolvers<void>();
  const isSeen = (wanted: string): boolean =>
    gateway.seen.some(({ method, session }) => method === wanted && session === "session-2");
  gateway.answer = async ({ method, session }) => {
    const isForgotten = session === "session-1";
    if (isForgotten && method === "tools/list") return new Response(null, { status: 404 });
    if (isForgotten && method === "ping") {
      await until(() => isSeen(INITIALIZED.method), "the second session");
      return new Response(null, { status: 404 });
    }
    if (session === "session-2" && method === INITIALIZED.method) await whole;
    return undefined;
  };
  const host = start(["connect", gateway.url]);
  await introduce(host);
  host.send(INITIALIZED);
  await until(() => gateway.seen.some(({ method }) => method === "GET"), "the stream");
  host.send({ jsonrpc: "2.0", id: "ping", method: "ping" });
  await until(() => gateway.seen.some(({ method }) => method === "ping"), "the ping");
  host.send({ jsonrpc: "2.0", id: "list", method: "tools/list" });
  await until(() => isSeen(INITIALIZED.method), "the second session");
  // They take as long as the ping that is refused meanwhile.
  for (const id of ["one", "other"]) await ask(host, id, "tools/list", { _meta: MODERN });
  expect(isSeen("ping")).toBe(false);
  isWhole();
  expect(await host.answer("ping")).toHaveProperty("result");
  expect(await host.answer("list")).toHaveProperty("result");
});

test("a host that begins anew while its forgotten session is replaced has its own, and the other one is deleted", async ({
  expect,
  gateway,
  start,
}) => {
  const { promise: begun, resolve: hasBegun } = Promise.withResolvers<void>();
  gateway.answer = async ({ method, session }) => {
    if (session === "session-1" && method === "ping") return new Response(null, { status: 404 });
    if (session === "session-2" && method === INITIALIZED.method) await begun;
    return undefined;
  };
  const isSeen = (wanted: string, of: string): boolean =>
    gateway.seen.some(({ method, session }) => method === wanted && session === of);
  const host = start(["connect", gateway.url]);
  await introduce(host);
  host.send(INITIALIZED);
  await until(() => isSeen("GET", "session-1"), "the stream");
  host.send({ jsonrpc: "2.0", id: "ping", method: "ping" });
  await until(() => isSeen(INITIALIZED.method, "session-2"), "the second session");
  await ask(host, "again", "initialize", INITIALIZE.params);
  hasBegun();
  expect(await host.answer("ping")).toHaveProperty("result");
  await until(() => isSeen("DELETE", "session-2"), "the end of the second session");
  expect(isSeen("ping", "session-3")).toBe(true);
  expect(isSeen("GET", "session-2")).toBe(false);
});

const CALL = { name: "work", arguments: {} };
const JSON_TYPE = { "content-type": "application/json" };

test.for([
  [
    "of wrangler's proxy",
    "Your worker restarted mid-request. Only GET or HEAD requests are retried automatically.",
    { ...TEXT, "retry-after": "0" },
  ],
  ["of Cloudflare as text", "error code: 1102\n", TEXT],
  [
    "of Cloudflare as a page",
    "<html>Worker exceeded resource limits.</html>\n",
    { "content-type": "text/html" },
  ],
  ["of Cloudflare as JSON", '{"error_code":1102,"cloudflare_error":true}', JSON_TYPE],
] as const)(
  "a 503 %s does not have a call sent again, but a list",
  async ([, body, headers], { expect, gateway, start }) => {
    const refused = new Set(["tools/call", "tools/list"]);
    gateway.answer = ({ method }) =>
      refused.delete(method) ? new Response(body, { status: 503, headers }) : undefined;
    const host = start(["connect", gateway.url]);
    await introduce(host);
    const { error } = (await ask(host, "call", "tools/call", CALL)) as { error: Json };
    expect(error["message"]).toContain("whether the call ran is unknown");
    expect(await ask(host, "list", "tools/list")).toHaveProperty("result");
    expect(gateway.seen.map(({ method }) => method)).toEqual([
      "initialize",
      "tools/call",
      "tools/list",
      "tools/list",
    ]);
  },
);

test.for([
  ["of a session", '{"jsonrpc":"2.0","error":{"code":-32000,"message":"Later"}}', JSON_TYPE],
  ["of sign-in", '{"error":"temporarily_unavailable"}', JSON_TYPE],
  ["as text", 'The upstream "docs" is switched off, so it is not served.\n', TEXT],
] as const)(
  "a refusal of the gateway's own %s has a call sent again: it did not run",
  async ([, body, headers], { expect, gateway, start }) => {
    const answers = [new Response(body, { status: 503, headers })];
    gateway.answer = ({ method }) => (method === "tools/call" ? answers.shift() : undefined);
    const host = start(["connect", gateway.url]);
    await introduce(host);
    expect(await ask(host, "call", "tools/call", CALL)).toHaveProperty("result");
    expect(gateway.seen.filter(({ method }) => method === "tools/call")).toHaveLength(2);
  },
);
