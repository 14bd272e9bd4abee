/** `edgeway connect` between a host and a real gateway: what is the command's own, beside what it relays. */

import { mkdtemp, rm } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, vi } from "vitest";

import { machineNode, type RawHost, type Start, startUntil } from "../support/cli.ts";
import type { Client, Json } from "../support/clients-face.ts";
import { endpointFor, test as base } from "../support/clients.ts";
import { freePort } from "../support/free-port.ts";
import { startKillableGateway } from "../support/killable-gateway.ts";
import { NODE } from "../support/process.ts";
import { INITIALIZE } from "../support/raw-session.ts";
import { startGateway } from "../support/servers.ts";
import { sharedServers } from "../support/shared-servers.ts";
import { until } from "../support/until.ts";
import { textOf } from "./outcome.ts";

const LONG_MS = 60_000;
const UPDATED = "notifications/resources/updated";
const MODERN = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

// oxlint-disable-next-line no-empty-pattern -- vitest reads what a fixture needs off the pattern
const test = base.extend("start", ({}, { onCleanup }): Start => startUntil(onCleanup));

function call(id: unknown, name: string, args: Json = {}, meta?: Json): Json {
  const params = { name, arguments: args, ...(meta && { _meta: meta }) };
  return { jsonrpc: "2.0", id, method: "tools/call", params };
}

/** Opens a session, as a host of this revision. */
async function introduce(host: RawHost, protocolVersion = "2025-11-25"): Promise<void> {
  const params = { ...INITIALIZE.params, protocolVersion };
  host.send({ ...INITIALIZE, id: "first", params });
  await host.answer("first");
  host.send({ jsonrpc: "2.0", method: "notifications/initialized" });
}

async function cancelledCount(client: Client): Promise<number> {
  return Number(textOf(await client.callTool("test_cancelled_count")));
}

describe.each([
  ["of the machine", machineNode()],
  ["of the project", NODE],
])("with the Node %s,", (_, node) => {
  test("a host of either era gets its answers, with the digits of its ids", async ({
    expect,
    start,
  }) => {
    const host = start(["connect", endpointFor("v2-modern", "fixture")], { node });
    await introduce(host);
    const huge = "12345678901234567890";
    host.write(`{"jsonrpc":"2.0","id":${huge},"method":"tools/list"}\n`);
    host.send(call("legacy", "test_simple_text"));
    host.send(call("modern", "test_simple_text", {}, MODERN));
    expect(await host.answer("legacy")).toHaveProperty("result.content");
    expect(await host.answer("modern")).toMatchObject({ result: { resultType: "complete" } });
    await until(() => host.lines.some((line) => line.includes(`"id":${huge}`)), "the large id");
    host.end();
    expect(await host.exitCode).toBe(0);
    expect(host.messages.filter((message) => message["jsonrpc"] !== "2.0")).toEqual([]);
  });
});

test("a batch of 2025-03-26 is answered request by request", async ({ expect, start }) => {
  const host = start(["connect", endpointFor("v1-http", "fixture")]);
  await introduce(host, "2025-03-26");
  host.send([call(1, "test_simple_text"), { jsonrpc: "2.0", id: 2, method: "ping" }]);
  // The gateway may answer with a batch, or each request for itself.
  const answerTo = (id: number): Json | undefined =>
    host.messages.flat().find((message) => message["id"] === id);
  await until(() => [1, 2].every(answerTo), "an answer to each");
  expect(answerTo(1)).toHaveProperty("result.content");
  expect(answerTo(2)).toHaveProperty("result");
});

test("arguments that a schema mirrors have their headers, listed or not", async ({
  expect,
  start,
}) => {
  const args = { region: "Grüße", priority: 7 };
  const host = start(["connect", endpointFor("v2-modern", "fixture")]);
  host.send(call("unlisted", "test_x_mcp_header", args, MODERN));
  expect(JSON.stringify(await host.answer("unlisted"))).toContain("region=Grüße priority=7");
  host.send({ jsonrpc: "2.0", id: "list", method: "tools/list", params: { _meta: MODERN } });
  await host.answer("list");
  host.send(call("listed", "test_x_mcp_header", args, MODERN));
  expect(JSON.stringify(await host.answer("listed"))).toContain("region=Grüße priority=7");
});

describe.each(["v1-http", "v2-modern"] as const)("a host of the era of %s", (kind) => {
  const meta = kind === "v2-modern" ? MODERN : undefined;

  test("S7: that closes stdin in mid-call: the server is told, and the command ends well", async ({
    expect,
    connect,
    start,
  }) => {
    const url = endpointFor(kind, "fixture");
    const other = await connect(kind, url);
    const before = await cancelledCount(other);
    const host = start(["connect", url]);
    if (meta === undefined) await introduce(host);
    host.send(call("long", "test_hold", { name: `stdin ${kind}` }, withToken(meta)));
    await host.next(({ method }) => method === "notifications/progress", "the call runs");
    const name = crypto.randomUUID();
    host.send(call("wait", "test_wait", { ms: LONG_MS, name }, meta));
    await other.callTool("test_wait_begun", { name });
    host.end();
    expect(await host.exitCode).toBe(0);
    await vi.waitFor(async () => expect(await cancelledCount(other)).toBe(before + 1), {
      timeout: 30_000,
    });
    expect(host.messages.filter(({ id }) => id === "long" || id === "wait")).toEqual([]);
  });

  test("S5: while the gateway is away: what it sends waits until the deadline, and the next one works", async ({
    expect,
    onTestFinished,
    start,
  }) => {
    const port = await freePort();
    const host = start(["connect", `http://localhost:${port}/mcp`, "--deadline", "0.5"]);
    const ask = (id: string): void => {
      if (meta === undefined) host.send({ ...INITIALIZE, id });
      else host.send({ jsonrpc: "2.0", id, method: "tools/list", params: { _meta: meta } });
    };
    ask("too early");
    const { error } = (await host.answer("too early")) as { error: Json };
    expect(error["message"]).toContain(`http://localhost:${port}/mcp was not reached in time`);
    const gateway = await startGateway({ port });
    onTestFinished(() => gateway.stop());
    ask("in time");
    expect(await host.answer("in time")).toHaveProperty("result");
  });
});

describe("a host that has stopped reading", () => {
  // oxlint-disable-next-line no-empty-pattern -- the same
  const slowTest = test.extend("big", async ({}, { onCleanup }): Promise<BigServer> => {
    const big = await startBigServer();
    onCleanup(() => big.close());
    return big;
  });

  slowTest.for(["the end of stdin", "SIGTERM"] as const)(
    "S7: lets the command end at %s",
    async (how, { big, expect, start }) => {
      const host = start(["connect", big.url]);
      host.stopReading();
      host.send(call("big", "any", {}, MODERN));
      await until(() => host.unread() > 0, "the beginning of the answer");
      if (how === "SIGTERM") host.kill(how);
      else host.end();
      expect(await host.exitCode).toBe(0);
    },
  );

  slowTest("is waited for by a dozen answers without a warning", async ({ big, expect, start }) => {
    const host = start(["connect", big.url]);
    host.stopReading();
    for (let id = 1; id <= 12; id++) host.send(call(id, "any", {}, MODERN));
    await until(() => big.answered === 12, "that all are answered");
    host.end();
    expect(await host.exitCode).toBe(0);
    expect(host.stderr()).toBe("");
  });
});

interface BigServer {
  readonly url: string;
  /** How many answers have left it. */
  readonly answered: number;
  close(): void;
}

/** Answers each request with more than a pipe takes. */
async function startBigServer(): Promise<BigServer> {
  let answered = 0;
  const server = createHttpServer((request, response) => {
    void text(request).then((body) => {
      const { id } = JSON.parse(body) as Json;
      const result = { text: "x".repeat(1024 * 1024) };
      response.on("finish", () => void (answered += 1));
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    get answered() {
      return answered;
    },
    close: () => void server.close(),
  };
}

function withToken(meta: Json = {}): Json {
  return { ...meta, progressToken: "held" };
}

test("what is sent to a gateway that restarts is answered when it is back", async ({
  expect,
  onTestFinished,
  start,
}) => {
  const servers = { fixture: { url: sharedServers().fixture } };
  const gateway = await startKillableGateway({ servers });
  onTestFinished(() => gateway.remove());
  const host = start(["connect", `${gateway.url}/mcp/fixture`]);
  await introduce(host);
  await gateway.kill();
  host.send(call("legacy", "test_simple_text"));
  host.send(call("modern", "test_simple_text", {}, MODERN));
  await until(() => host.stderr().includes("cannot be reached"), "it has tried");
  await gateway.start();
  expect(await host.answer("legacy")).toHaveProperty("result.content");
  expect(await host.answer("modern")).toHaveProperty("result.content");
});

test("a session that the gateway has forgotten is opened anew, with what the host had set up in it", async ({
  expect,
  connect,
  onTestFinished,
  start,
}) => {
  const servers = { fixture: { url: sharedServers().fixture } };
  const gateway = await startKillableGateway({ servers });
  const elsewhere = await mkdtemp(join(tmpdir(), "edgeway-elsewhere-"));
  onTestFinished(async () => {
    await gateway.remove();
    await rm(elsewhere, { recursive: true, force: true });
  });
  const uri = "test://watched-resource";
  const host = start(["connect", `${gateway.url}/mcp/fixture`]);
  await introduce(host);
  host.send({ jsonrpc: "2.0", id: "watch", method: "resources/subscribe", params: { uri } });
  await host.answer("watch");
  await gateway.kill();
  await gateway.start(elsewhere);

  host.send(call("again", "test_simple_text"));
  expect(await host.answer("again")).toHaveProperty("result.content");
  const changer = await connect("v2-modern", sharedServers().fixture);
  await until(async () => {
    await changer.callTool("test_touch_watched");
    // The first one says that it may have changed meanwhile.
    return host.messages.filter(({ method }) => method === UPDATED).length > 1;
  }, "an update in the new session");
  expect(host.messages.filter(({ id }) => id === "edgeway")).toEqual([]);
});

test("a request that is cancelled while it waits is never sent, and never answered", async ({
  expect,
  connect,
  onTestFinished,
  start,
}) => {
  const port = await freePort();
  const host = start(["connect", `http://localhost:${port}/mcp/fixture`]);
  host.send(call("gone", "test_hold", { name: "never" }, withToken(MODERN)));
  await until(() => host.stderr().includes("cannot be reached"), "it has tried");
  const params = { requestId: "gone" };
  host.send({ jsonrpc: "2.0", method: "notifications/cancelled", params });
  const { fixture } = sharedServers();
  const gateway = await startGateway({ port, servers: { fixture: { url: fixture } } });
  onTestFinished(() => gateway.stop());
  const client = await connect("v2-modern", `${gateway.url}/mcp/fixture`);
  const before = await cancelledCount(client);
  host.send(call("next", "test_simple_text", {}, MODERN));
  expect(await host.answer("next")).toHaveProperty("result.content");
  host.end();
  expect(await host.exitCode).toBe(0);
  expect(await cancelledCount(client)).toBe(before);
  expect(host.messages.map(({ id }) => id)).toEqual(["next"]);
});

test("a refusal says what to do: the address, or the variable", async ({ expect, start }) => {
  const gateway = await startGateway({ auth: "oauth" });
  try {
    const env = { EDGEWAY_KEY: "edgeway_sk_wrong" };
    const host = start(["connect", `${gateway.url}/mcp`], { env });
    host.send(INITIALIZE);
    const { error } = (await host.answer(INITIALIZE.id)) as { error: Json };
    expect(error["message"]).toContain(`refused the API key in EDGEWAY_KEY`);
    expect(error["message"]).toContain(`${gateway.url}/account`);
    expect(host.stderr() + host.lines.join()).not.toContain("edgeway_sk_wrong");
  } finally {
    await gateway.stop();
  }
});

test("the command ends well with its host, though the gateway says nothing at all", async ({
  expect,
  onTestFinished,
  start,
}) => {
  const open = new Set<Socket>();
  const silent = createServer((socket) => void open.add(socket));
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    silent.close();
  });
  const { port } = silent.address() as AddressInfo;
  const host = start(["connect", `http://127.0.0.1:${port}/mcp`]);
  host.send(INITIALIZE);
  host.send(call("modern", "test_simple_text", {}, MODERN));
  await until(() => open.size === 2, "both requests");
  host.end();
  expect(await host.exitCode).toBe(0);
  expect(host.lines).toEqual([]);
});

test.for(['"@"', " '@' ", '\t"@"\r\n'])(
  "S9: an address that a host passes on as %j is found in the environment",
  async (written, { expect, start }) => {
    const url = endpointFor("v2-modern", "fixture");
    const host = start(["connect"], { env: { EDGEWAY_URL: written.replace("@", url) } });
    host.send(call("mangled", "test_simple_text", {}, MODERN));
    expect(await host.answer("mangled")).toHaveProperty("result.content");
  },
);

test("a line that is no message is dropped, and does not end the command", async ({
  expect,
  start,
}) => {
  const host = start(["connect", endpointFor("v2-modern", "fixture")]);
  host.write('hello\n\n{"jsonrpc":"2.0","id":null,"method":"ping"}\n');
  host.send(call("next", "test_simple_text", {}, MODERN));
  expect(await host.answer("next")).toHaveProperty("result.content");
  expect(host.messages).toHaveLength(1);
  expect(host.stderr().match(/no message of JSON-RPC/g)).toHaveLength(2);
});

test.for([
  [["connect", "not an address"], "is no address"],
  [["publish", "files", "--", "true"], "set EDGEWAY_URL"],
] as const)("%j ends with code 2, and says why", async ([args, sentence], { expect, start }) => {
  const host = start(args);
  expect(await host.exitCode).toBe(2);
  expect(host.stderr()).toContain(sentence);
  expect(host.lines).toEqual([]);
});

test.for([
  [["connect", "http://localhost:1/mcp"]],
  [["status", "http://localhost:1/mcp"]],
  [["publish", "files", "--to", "http://localhost:1/mcp", "--", "true"]],
])(
  "%j with a line break in its key ends with code 2, and shows none of it",
  async ([args = []], { expect, start }) => {
    const host = start(args, { env: { EDGEWAY_KEY: "edgeway_sk_first\nedgeway_sk_second" } });
    host.send(INITIALIZE);
    expect(await host.exitCode).toBe(2);
    expect(host.stderr()).toMatch(/^edgeway: EDGEWAY_KEY has a character that no key has[^\n]*\n$/);
    expect(host.lines).toEqual([]);
  },
);
