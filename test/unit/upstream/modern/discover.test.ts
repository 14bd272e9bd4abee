/** Probing an upstream with `server/discover` (protocol reference 2.6): which answers are evidence. */

import { afterEach, describe, test, vi } from "vitest";

import { discover, forgetVerdict } from "../../../../src/upstream/modern/discover.ts";
import { type Answer, failureOf, fakeTarget, html, json, type Seen } from "../fake-target.ts";

const discovered = { supportedVersions: ["2026-07-28", "2025-11-25"], capabilities: { tools: {} } };
const modern = { era: "modern" };
const legacy = { era: "legacy" };

const errorOf = (code: number, data?: unknown): { code: number; message: string; data?: unknown } =>
  data === undefined ? { code, message: "m" } : { code, message: "m", data };
const result =
  (result: unknown, status = 200): Answer =>
  ({ body }) =>
    json({ jsonrpc: "2.0", id: body["id"], result }, { status });
const refusal =
  (status: number, code: number, data?: unknown): Answer =>
  ({ body }) =>
    json({ jsonrpc: "2.0", id: body["id"], error: errorOf(code, data) }, { status });
const unsupported = (supported: unknown, status = 400): Answer =>
  refusal(status, -32022, { supported, requested: "2026-07-28" });

/** Gives the answers one after the other; the last one for ever. */
function inTurn(seen: Seen[], ...answers: readonly Answer[]): Answer {
  return (request) => {
    const answer = answers[Math.min(seen.length, answers.length - 1)];
    seen.push(request);
    if (answer === undefined) throw new Error("no answer");
    return answer(request);
  };
}

describe("discover() takes for evidence", () => {
  const rows: { name: string; answers: Answer[]; verdict: object; probes?: number }[] = [
    { name: "a discovery", answers: [result(discovered)], verdict: modern },
    {
      name: "a discovery in an event stream",
      answers: [
        ({ body }) => {
          const data = JSON.stringify({ jsonrpc: "2.0", id: body["id"], result: discovered });
          return new Response(`data: ${data}\n\n`, {
            headers: { "Content-Type": "text/event-stream" },
          });
        },
      ],
      verdict: modern,
    },
    {
      name: "-32022 that lists our revision, and then a discovery",
      answers: [unsupported(["2026-07-28"]), result(discovered)],
      verdict: modern,
      probes: 2,
    },
    {
      name: "the same with status 200",
      answers: [unsupported(["2026-07-28", "2025-11-25"], 200), result(discovered)],
      verdict: modern,
      probes: 2,
    },
    {
      name: "-32022 with unknown revisions",
      answers: [unsupported(["2027-01-01"])],
      verdict: { era: "unknown-modern", supported: ["2027-01-01"] },
    },
    {
      name: "-32022 with legacy revisions",
      answers: [unsupported(["2025-11-25"])],
      verdict: legacy,
    },
    { name: "-32020 twice", answers: [refusal(400, -32020)], verdict: legacy, probes: 2 },
    { name: "-32021 twice", answers: [refusal(400, -32021)], verdict: legacy, probes: 2 },
    {
      name: "-32020 and then a discovery",
      answers: [refusal(400, -32020), result(discovered)],
      verdict: modern,
      probes: 2,
    },
    {
      name: "-32021 and then a discovery",
      answers: [refusal(400, -32021), result(discovered)],
      verdict: modern,
      probes: 2,
    },
    {
      name: "-32000 with status 400, for want of a session",
      answers: [refusal(400, -32000)],
      verdict: legacy,
    },
    { name: "-32601 with status 404", answers: [refusal(404, -32601)], verdict: legacy },
    { name: "-32601 with status 200", answers: [refusal(200, -32601)], verdict: legacy },
    { name: "-32000 with status 405", answers: [refusal(405, -32000)], verdict: legacy },
    {
      name: "an error with id null",
      answers: [() => json({ jsonrpc: "2.0", id: null, error: errorOf(-32000) }, { status: 400 })],
      verdict: legacy,
    },
    ...[400, 404, 405].map((status) => ({
      name: `HTML with status ${status}`,
      answers: [() => html(status)],
      verdict: legacy,
    })),
    {
      name: "nothing with status 404",
      answers: [() => new Response(null, { status: 404 })],
      verdict: legacy,
    },
    { name: "another result with status 200", answers: [result({ ok: true })], verdict: legacy },
    { name: "HTML with status 200", answers: [() => html(200)], verdict: legacy },
    {
      name: "garbage with status 200",
      answers: [() => new Response("{", { headers: { "Content-Type": "application/json" } })],
      verdict: legacy,
    },
    {
      name: "other JSON with status 200",
      answers: [() => json({ status: "ok" })],
      verdict: legacy,
    },
  ];
  test.for(rows)("$name", async ({ answers, verdict, probes = 1 }, { expect }) => {
    const seen: Seen[] = [];
    const target = fakeTarget(inTurn(seen, ...answers));
    expect(await discover(target)).toEqual(verdict);
    expect(seen).toHaveLength(probes);
    // What it proves is remembered.
    expect(await discover(target)).toEqual(verdict);
    expect(seen).toHaveLength(probes);
  });
});

describe("discover() takes for no evidence, and throws,", () => {
  const rows: { name: string; answer: Answer; failure: string }[] = [
    ...[401, 403].map((status) => ({
      name: `${status}`,
      answer: () => html(status),
      failure: "unauthorized",
    })),
    ...[401, 403].map((status) => ({
      name: `${status} with a JSON-RPC error`,
      answer: refusal(status, -32001),
      failure: "unauthorized",
    })),
    { name: "429", answer: () => html(429), failure: "overloaded" },
    { name: "429 with a JSON-RPC error", answer: refusal(429, -32000), failure: "overloaded" },
    ...[408, 500, 502, 503, 504].map((status) => ({
      name: `${status}`,
      answer: () => html(status),
      failure: "unreachable",
    })),
    ...[408, 500, 503].map((status) => ({
      name: `${status} with a JSON-RPC error`,
      answer: refusal(status, -32603),
      failure: "unreachable",
    })),
    {
      name: "a failure of the network",
      answer: () => Promise.reject(new TypeError("SECRET-HOST refused")),
      failure: "unreachable",
    },
    {
      name: "a stream that ends early",
      answer: () =>
        new Response(": hello\n\n", { headers: { "Content-Type": "text/event-stream" } }),
      failure: "lost",
    },
  ];
  test.for(rows)("$name", async ({ answer, failure }, { expect }) => {
    const seen: Seen[] = [];
    const target = fakeTarget(inTurn(seen, answer, result(discovered)));
    const error = await failureOf(discover(target));
    expect(error).toMatchObject({ name: "UpstreamError", failure });
    expect((error as Error).message).toMatch(/^Upstream "fake" (?!.*SECRET)/);
    // Nothing was learned, so the next one asks again.
    expect(await discover(target)).toEqual(modern);
  });
});

describe("discover()", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  test("sends one well-formed modern request, with the operator's headers", async ({ expect }) => {
    const seen: Seen[] = [];
    // The gateway's own win, however an operator has spelled them: equal names would be joined.
    const headers = {
      Authorization: "Bearer k",
      "content-type": "text/plain",
      accept: "text/html",
    };
    await discover(fakeTarget(inTurn(seen, result(discovered)), { headers }));
    const [probe] = seen;
    expect(probe?.body).toEqual({
      jsonrpc: "2.0",
      id: expect.anything(),
      method: "server/discover",
      params: {
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": {},
          "io.modelcontextprotocol/clientInfo": {
            name: "edgeway",
            version: expect.any(String) as string,
          },
        },
      },
    });
    expect(Object.fromEntries(probe?.headers ?? [])).toEqual({
      accept: "application/json, text/event-stream",
      authorization: "Bearer k",
      "content-type": "application/json",
      "mcp-method": "server/discover",
      "mcp-protocol-version": "2026-07-28",
    });
  });

  test("does not ask an upstream that is configured as legacy", async ({ expect }) => {
    const seen: Seen[] = [];
    const target = fakeTarget(inTurn(seen, result(discovered)), { era: "legacy" });
    expect(await discover(target)).toEqual(legacy);
    expect(seen).toEqual([]);
  });

  test("asks again after its verdict was forgotten", async ({ expect }) => {
    const seen: Seen[] = [];
    const target = fakeTarget(inTurn(seen, refusal(404, -32601), result(discovered)));
    expect(await discover(target)).toEqual(legacy);
    forgetVerdict(target);
    expect(await discover(target)).toEqual(modern);
  });

  test("lets a verdict expire after an hour", async ({ expect }) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const seen: Seen[] = [];
    const target = fakeTarget(inTurn(seen, refusal(404, -32601), result(discovered)));
    expect(await discover(target)).toEqual(legacy);
    vi.setSystemTime(Date.now() + 3_599_000);
    expect(await discover(target)).toEqual(legacy);
    vi.setSystemTime(Date.now() + 2000);
    expect(await discover(target)).toEqual(modern);
  });

  test("gives up on an upstream that never answers, with an error", async ({ expect }) => {
    vi.useFakeTimers();
    const target = fakeTarget(
      ({ signal }) =>
        new Promise((_, reject) => {
          signal?.addEventListener("abort", () => reject(new Error("aborted")));
        }),
      { timeoutMs: 5000 },
    );
    const failure = failureOf(discover(target));
    await vi.advanceTimersByTimeAsync(5000);
    expect(await failure).toMatchObject({
      failure: "timeout",
      message: 'Upstream "fake" gave no sign of life for 5 s',
    });
  });
});
