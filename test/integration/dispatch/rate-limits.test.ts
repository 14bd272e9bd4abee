/** How often one may call: at the front doors, before anything of a request is read. */

// Has an isolate of its own: all of it shares one number of requests per minute.
import { beforeAll, describe, test } from "vitest";

import { until } from "../bounded.ts";
import { modernCall, post, send, Session } from "../client.ts";
import { responseIn } from "../event-reader.ts";
import { setLimits } from "../own-limits.ts";
import { Upstream } from "../upstream.ts";

/** So that a token comes back every second. */
const PER_MINUTE = 60;

beforeAll(() => {
  setLimits({ requestsPerMinute: PER_MINUTE });
});

/** Calls until it is too often. @returns the refusal, and how many were not refused before. */
async function tooOften(
  call: () => Promise<Response>,
): Promise<{ readonly refusal: Response; readonly passed: number }> {
  for (let passed = 0; passed < 3 * PER_MINUTE; passed++) {
    const response = await call();
    if (response.status === 429) return { refusal: response, passed };
    await response.body?.cancel();
  }
  throw new Error("never too often");
}

async function comesBack(upstream: Upstream): Promise<void> {
  await until(async () => {
    const response = await modernCall(upstream);
    const { result } = response.status === 200 ? await responseIn(response) : {};
    if (response.status !== 200) await response.body?.cancel();
    return result;
  }, "the gateway to take requests again");
}

describe("a client that calls too often", () => {
  test("gets 429 from every transport of every endpoint, and nothing reaches a server", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({ server: "dual" });
    const session = await Session.open(upstream.mcp);
    const { headers } = session;
    const { refusal } = await tooOften(() => send(upstream.mcp, { method: "PUT" }));
    expect(refusal.headers.get("retry-after")).toBe("1");
    expect(await refusal.json()).toEqual({
      jsonrpc: "2.0",
      error: {
        ...{ code: -32000, message: "More than 60 requests in a minute; come back in 1 s" },
        data: { retryAfter: 1 },
      },
    });
    const call = { id: 1, method: "tools/call", params: { name: "work" } };
    let passed = 0;
    for (const act of [
      () => session.callTool(),
      () => session.post([call]),
      () => modernCall(upstream),
      () => send(upstream.sse, { method: "PUT" }),
      () => send(`${upstream.sse}/message?sessionId=x`, { method: "POST" }),
      () => send(upstream.mcp, { headers }),
      () => send(upstream.mcp, { method: "DELETE", headers }),
    ]) {
      const refused = await tooOften(act);
      expect(refused.refusal.headers.get("retry-after")).toBe("1");
      await refused.refusal.body?.cancel();
      passed += refused.passed;
    }
    // Some may have passed: a second is not long.
    expect((await upstream.sent("tools/call")).length).toBeLessThanOrEqual(passed);
    await comesBack(upstream);
  });

  test("is refused before its body is read", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "modern" });
    // Whoever reads it says 413.
    const { refusal } = await tooOften(() => post(upstream.mcp, "x".repeat(70_000)));
    expect(refusal.status).toBe(429);
    await refusal.body?.cancel();
  });

  test("can still load what is not an MCP request", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "modern" });
    const { refusal } = await tooOften(() => send(upstream.mcp));
    await refusal.body?.cancel();
    for (const [path, status, method] of [
      ["/health", 200, "GET"],
      ["/mcp/nobody", 404, "POST"],
      [upstream.mcp, 204, "OPTIONS"],
    ] as const) {
      const response = await send(path, { method });
      await response.body?.cancel();
      expect([path, response.status]).toEqual([path, status]);
    }
  });
});
