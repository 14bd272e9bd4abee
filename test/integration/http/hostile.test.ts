/**
 * Requests that nobody in their right mind would send, generated from a seed: each is answered in
 * time, with a status that is documented, and without a word of the gateway's inside.
 */

import * as fc from "fast-check";
import { beforeAll, test, vi } from "vitest";

import { within } from "../bounded.ts";
import { modernCall, send, Session } from "../client.ts";
import { responseIn } from "../event-reader.ts";
import { type Hostile, hostile } from "./hostile-requests.ts";
import { takeOnly } from "../only-server.ts";
import { SseSession } from "../sse-client.ts";
import type { Upstream } from "../upstream.ts";

/** Printed when a run fails, with the request that it shrank to. */
const SEED = 20_261_121;
const RUNS = 500;
const STATUSES: ReadonlySet<number> = new Set([
  200, 202, 204, 400, 403, 404, 405, 406, 413, 415, 429,
]);
const INSIDE =
  /node_modules|\/src\/|durable-objects|\.ts\b|\.mjs\b|^\s+at |TypeError|SyntaxError|RangeError|"id":null/m;

vi.setConfig({ testTimeout: 120_000 });

let upstream: Upstream;
let session: Session;
let sse: SseSession;

beforeAll(async () => {
  upstream = await takeOnly({ server: "dual" });
  session = await Session.open("/mcp", { revision: "2025-03-26" });
  sse = await SseSession.open("/sse");
});

/** `undefined` for what cannot be said in HTTP at all: it never leaves a client. */
function requestOf({ method, path, headers, body }: Hostile): Request | undefined {
  const live = new URL(sse.endpoint, "http://x").searchParams.get("sessionId") ?? "";
  const url = `http://localhost:8787${path.replace("LIVE", live).replace("SLUG", upstream.slug)}`;
  const given = Object.entries(headers).map(([name, value]) => [
    name,
    value === "LIVE" ? session.id : value,
  ]);
  try {
    const withBody = method === "GET" || method === "HEAD" ? {} : { body };
    return new Request(url, { method, headers: given as [string, string][], ...withBody });
  } catch {
    return undefined;
  }
}

test(`${RUNS} hostile requests are answered in time, in order, and tell nothing`, async ({
  expect,
}) => {
  let answered = 0;
  const property = fc.asyncProperty(hostile, async (input) => {
    const request = requestOf(input);
    if (request === undefined) return;
    const isDeletingLive =
      request.method === "DELETE" && request.headers.get("mcp-session-id") === session.id;
    if (isDeletingLive) return;
    const response = await send(request.url, request);
    answered += 1;
    // What a proxy brings from another machine is not served: nobody signs in here.
    const isFromElsewhere = response.status === 503 && request.headers.has("x-forwarded-host");
    if (!isFromElsewhere) expect(STATUSES).toContain(response.status);
    if (response.headers.get("content-type") === "text/event-stream") {
      await response.body?.cancel();
      return;
    }
    expect(await within(response.text(), "the body")).not.toMatch(INSIDE);
  });
  await fc.assert(property, {
    seed: SEED,
    numRuns: RUNS,
    interruptAfterTimeLimit: 90_000,
    markInterruptAsFailure: true,
  });
  expect(answered).toBeGreaterThan(RUNS / 2);
});

test("afterwards old sessions, new sessions and modern requests work", async ({ expect }) => {
  expect(await responseIn(await session.callTool())).toHaveProperty("result");
  expect(await sse.request("ping", {}, "last")).toHaveProperty("jsonrpc");
  const fresh = await Session.open("/mcp");
  expect(await responseIn(await fresh.callTool())).toHaveProperty("result");
  expect(await responseIn(await modernCall({ mcp: "/mcp" }))).toHaveProperty("result");
  await sse.stream.cancel();
});
