/** Finding a legacy server's transport by shaking hands (2025-11-25, backwards compatibility). */

import { describe, test } from "vitest";

import { type Answer, failureOf, fakeTarget, html } from "../fake-target.ts";
import {
  EVENTS,
  handshake,
  recorded,
  refusal,
  result,
  shakeHands,
  sseServer,
} from "./legacy-servers.ts";
import { until } from "../../../support/until.ts";

describe("connect() over Streamable HTTP", () => {
  test("shakes hands in one POST, and keeps the session", async ({ expect }) => {
    const server = recorded(result(handshake, { "Mcp-Session-Id": "s-1" }));
    const { wire, transport, handshake: agreed } = await shakeHands(fakeTarget(server.answer));
    expect(transport).toBe("streamable-http");
    expect(wire.sessionId).toBe("s-1");
    expect(agreed).toEqual({
      revision: "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: "s", version: "2" },
    });
    expect(server.asked()).toEqual(["POST /mcp"]);
    expect(server.seen[0]?.body).toMatchObject({
      method: "initialize",
      params: {
        protocolVersion: "2025-06-18",
        capabilities: { roots: {} },
        clientInfo: { name: "c", version: "1" },
      },
    });
    expect(server.seen[0]?.body).not.toHaveProperty(["params", "capabilities", "tasks"]);
    expect(server.seen[0]?.headers.has("mcp-protocol-version")).toBe(false);
  });

  test("reads the answer from an event stream too", async ({ expect }) => {
    const target = fakeTarget(({ body }) => {
      const message = { jsonrpc: "2.0", id: body["id"], result: handshake };
      return new Response(`data: ${JSON.stringify(message)}\n\n`, { headers: EVENTS });
    });
    expect(await shakeHands(target)).toMatchObject({ transport: "streamable-http" });
  });

  test("answers a ping that comes before the answer, and refuses other questions", async ({
    expect,
  }) => {
    const server = recorded(({ body }) => {
      if (body["method"] !== "initialize") return new Response(null, { status: 202 });
      const messages = [
        { jsonrpc: "2.0", id: "p", method: "ping" },
        { jsonrpc: "2.0", id: "q", method: "roots/list" },
        { jsonrpc: "2.0", id: body["id"], result: handshake },
      ];
      const text = messages.map((message) => `data: ${JSON.stringify(message)}\n\n`).join("");
      return new Response(text, { headers: { ...EVENTS, "Mcp-Session-Id": "s-1" } });
    });
    await shakeHands(fakeTarget(server.answer));
    await until(() => server.seen.length === 3, "three requests");
    const [, ...answers] = server.seen;
    expect(answers.map(({ body }) => body)).toEqual([
      { jsonrpc: "2.0", id: "p", result: {} },
      { jsonrpc: "2.0", id: "q", error: { code: -32600, message: "Not initialized yet" } },
    ]);
    expect(answers.map(({ headers }) => headers.get("mcp-session-id"))).toEqual(["s-1", "s-1"]);
  });

  test("sends the agreed revision and session from then on", async ({ expect }) => {
    const older = { ...handshake, protocolVersion: "2025-03-26" };
    const server = recorded(result(older, { "Mcp-Session-Id": "s-1" }));
    const { wire } = await shakeHands(fakeTarget(server.answer));
    await wire.post({ jsonrpc: "2.0", method: "notifications/initialized" });
    expect(server.seen[1]?.headers.get("mcp-session-id")).toBe("s-1");
    expect(server.seen[1]?.headers.get("mcp-protocol-version")).toBe("2025-03-26");
  });

  const useless: { name: string; result: object }[] = [
    { name: "the modern revision", result: { ...handshake, protocolVersion: "2026-07-28" } },
    { name: "an unknown revision", result: { ...handshake, protocolVersion: "1.0" } },
    { name: "no server info", result: { protocolVersion: "2025-06-18", capabilities: {} } },
    { name: "nothing", result: {} },
  ];
  test.for(useless)("takes no handshake with $name", async ({ result: answer }, { expect }) => {
    const server = recorded(result(answer));
    const failure = await failureOf(shakeHands(fakeTarget(server.answer)));
    expect(failure).toMatchObject({ name: "UpstreamError", failure: "malformed" });
    expect(server.asked()).not.toContain("GET /mcp");
  });
});

describe("connect() falls back to HTTP+SSE", () => {
  const rows: { name: string; refuse: Answer }[] = [
    ...[400, 404, 405].map((status) => ({ name: `at ${status}`, refuse: () => html(status) })),
    ...[400, 404, 405].map((status) => ({
      name: `at ${status} with a JSON-RPC error`,
      refuse: refusal(status, -32000),
    })),
    {
      name: "at -32022 that lists a legacy revision",
      refuse: refusal(400, -32022, { supported: ["2025-06-18"] }),
    },
  ];
  test.for(rows)("$name, and remembers", async ({ refuse }, { expect }) => {
    const server = recorded(sseServer(refuse));
    const target = fakeTarget(server.answer);
    const first = await shakeHands(target);
    expect(first).toMatchObject({ transport: "sse", handshake: { revision: "2025-06-18" } });
    expect(server.asked()).toEqual(["POST /mcp", "GET /mcp", "POST /messages"]);
    expect(server.seen[1]?.headers.get("accept")).toBe("text/event-stream");
    await first.wire.close();
    const second = await shakeHands(target);
    expect(server.asked().slice(3)).toEqual(["GET /mcp", "POST /messages"]);
    await second.wire.close();
  });
});

describe("connect() does not fall back", () => {
  const rows: { name: string; answer: Answer; failure: string }[] = [
    { name: "401", answer: () => html(401), failure: "unauthorized" },
    { name: "403", answer: () => html(403), failure: "unauthorized" },
    { name: "401 with a JSON-RPC error", answer: refusal(401, -32001), failure: "unauthorized" },
    { name: "403 with a JSON-RPC error", answer: refusal(403, -32000), failure: "unauthorized" },
    { name: "429", answer: () => html(429), failure: "overloaded" },
    { name: "429 with a JSON-RPC error", answer: refusal(429, -32000), failure: "overloaded" },
    { name: "500", answer: () => html(500), failure: "unreachable" },
    { name: "503", answer: () => html(503), failure: "unreachable" },
    { name: "500 with a JSON-RPC error", answer: refusal(500, -32603), failure: "unreachable" },
    { name: "a redirect", answer: () => html(307), failure: "malformed" },
    {
      name: "a failure of the network",
      answer: () => Promise.reject(new TypeError("SECRET-HOST")),
      failure: "unreachable",
    },
    {
      name: "-32022, modern only",
      answer: refusal(400, -32022, { supported: ["2026-07-28"] }),
      failure: "other-era",
    },
    { name: "-32022 without a list", answer: refusal(400, -32022), failure: "other-era" },
    { name: "-32020", answer: refusal(400, -32020), failure: "other-era" },
    {
      name: "-32601 that lists the modern revision",
      answer: refusal(404, -32601, { supported: ["2026-07-28"] }),
      failure: "other-era",
    },
  ];
  test.for(rows)("at $name", async ({ answer, failure }, { expect }) => {
    const server = recorded(answer);
    const error = await failureOf(shakeHands(fakeTarget(server.answer)));
    expect(server.asked()).toEqual(["POST /mcp"]);
    expect(error).toMatchObject({ name: "UpstreamError", failure });
    expect((error as Error).message).toMatch(/^Upstream "fake" (?!.*SECRET)/);
  });

  test("from a transport that is configured", async ({ expect }) => {
    const server = recorded(sseServer(() => html(404)));
    const target = fakeTarget(server.answer, { transport: "streamable-http" });
    expect(await failureOf(shakeHands(target))).toMatchObject({
      failure: "malformed",
      status: 404,
    });
    expect(server.asked()).toEqual(["POST /mcp"]);
  });

  test("or forget the first refusal when both transports fail", async ({ expect }) => {
    const server = recorded(({ method }) => html(method === "POST" ? 404 : 500));
    const target = fakeTarget(server.answer);
    expect(await failureOf(shakeHands(target))).toMatchObject({
      failure: "malformed",
      status: 404,
    });
    expect(server.asked()).toEqual(["POST /mcp", "GET /mcp"]);
  });
});
