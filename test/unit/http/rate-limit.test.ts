/** How often a person may call: each for itself, and in bounded memory. */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import { limitRate } from "../../../src/http/rate-limit.ts";
import { linesOf } from "../dispatch/guard/guarded-fixture.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

interface Scene {
  readonly later: (ms: number) => void;
  /** @returns the seconds until the next try, or 0 for a request that may pass. */
  readonly call: (person: string, method?: string, principal?: string) => number;
}

const SINKS = { waitUntil: (): void => undefined };

let scenes = 0;

function sceneOf(requestsPerMinute: number): Scene {
  // What is counted is kept for as long as the isolate lives.
  const salt = ++scenes;
  return {
    later: (ms) => void vi.setSystemTime(Date.now() + ms),
    call: (person, method = "POST", principal = person) => {
      const request = new Request("http://localhost/mcp", { method });
      const limits = { requestsPerMinute };
      const caller = { person: `${salt}.${person}`, principal, application: undefined };
      const refusal = limitRate(request, caller, limits, SINKS);
      return refusal === undefined ? 0 : Number(refusal.headers.get("retry-after"));
    },
  };
}

describe("a person", () => {
  test("may call a number of times in a minute, and then gets the time of the next try", ({
    expect,
  }) => {
    const { call, later } = sceneOf(3);
    expect([call("a"), call("a"), call("a"), call("a"), call("a")]).toEqual([0, 0, 0, 20, 20]);
    later(19_001);
    expect(call("a")).toBe(1);
    later(999);
    expect([call("a"), call("a")]).toEqual([0, 20]);
  });

  test("is counted over all methods, and separately", ({ expect }) => {
    const { call } = sceneOf(3);
    expect([call("a", "GET"), call("a", "DELETE"), call("a"), call("a", "GET")]).toEqual([
      ...[0, 0, 0, 20],
    ]);
    expect(call("b")).toBe(0);
  });

  test("is counted over all of their applications", ({ expect }) => {
    const { call } = sceneOf(2);
    expect(["one", "two", "three"].map((app) => call("a", "POST", `a.${app}`))).toEqual([0, 0, 30]);
    expect(call("b", "POST", "b.one")).toBe(0);
  });

  test("has to wait a second at least", ({ expect }) => {
    const { call } = sceneOf(600);
    for (let n = 0; n < 600; n++) call("a");
    expect(call("a")).toBe(1);
  });

  test("gets an error that programs can read, and that quotes nothing of the request", async ({
    expect,
  }) => {
    const request = new Request("http://localhost/mcp", { method: "POST", body: "SECRET" });
    const limits = { requestsPerMinute: 1 };
    const told = { person: "told", principal: "told.app", application: "app" };
    limitRate(request, told, limits, SINKS);
    const refusal = limitRate(request, told, limits, SINKS);
    expect(refusal?.status).toBe(429);
    expect(refusal?.headers.get("content-type")).toBe("application/json");
    expect(await refusal?.json()).toEqual({
      jsonrpc: "2.0",
      error: {
        ...{ code: -32000, message: "More than 1 requests in a minute; come back in 60 s" },
        data: { retryAfter: 60 },
      },
    });
    expect(request.bodyUsed).toBe(false);
  });

  test("is logged once each time that the limit is reached", async ({ expect }) => {
    const scene = sceneOf(1);
    const lines = await linesOf(async () => {
      for (let n = 0; n < 5; n++) scene.call("a", "GET");
      scene.later(60_000);
      for (let n = 0; n < 5; n++) scene.call("a");
    });
    expect(lines.map(({ outcome, method, server }) => [outcome, method, server])).toEqual([
      ["refused:rate", "GET", "*"],
      ["refused:rate", "POST", "*"],
    ]);
  });
});

describe("very many people", () => {
  test("are forgotten, except those who called last", ({ expect }) => {
    const { call } = sceneOf(1);
    call("old");
    call("used");
    for (let n = 0; n < 10_000; n++) {
      if (n === 5000) expect(call("used")).toBe(60);
      call(`k${n}`);
    }
    expect([call("used"), call("old")]).toEqual([60, 0]);
  });
});
