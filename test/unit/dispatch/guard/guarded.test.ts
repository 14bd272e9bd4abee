/** The guard between a request and its server: caps, the breaker, and the size of results. */

import { describe, test } from "vitest";

import { errorReply, type JsonObject, type Reply } from "../../../../src/protocol/json-rpc.ts";
import { ownError } from "../../../../src/protocol/own-error.ts";
import {
  DEAD,
  guardScene,
  type GuardScene,
  MODERN_TOOL,
  OK,
  pending,
  READ,
  TOOL,
} from "./guarded-fixture.ts";

async function failed(scene: GuardScene, times: number): Promise<void> {
  for (let n = 0; n < times; n++) await scene.call(DEAD);
}

/** The gateway's error data for a server that has failed. */
const failing = (data: JsonObject): Reply => ownError(-32603, "failed", data);

const crowded = (seconds: number): string =>
  `Upstream "s" has more requests than it may be given; come back in ${seconds} s`;

/** A result of exactly so many bytes. */
const resultOf = (bytes: number): { readonly result: { readonly a: string } } => ({
  result: { a: "x".repeat(bytes - '{"a":""}'.length) },
});
const sentence = (bytes: number): string =>
  `The answer of upstream "s" has ${bytes} bytes; LIMITS.resultBytes allows 1024. Ask for less of it`;

test("U43 a person without a usable account does not have a server paused for others", async ({
  expect,
}) => {
  const scene = guardScene({ failuresBeforePause: 2, pauseSeconds: 5 });
  const refused = failing({ upstream: "s", reason: "account" });
  for (let n = 0; n < 3; n++) await scene.call(refused);
  expect(await scene.call(OK)).toEqual(OK);
  // Nor does it end a pause: the request did not reach the server.
  await failed(scene, 2);
  scene.now += 5000;
  await scene.call(refused);
  await failed(scene, 1);
  expect(await scene.call(OK)).toHaveProperty("error");
});

describe("a server that does not answer", () => {
  test("gets no requests for a while, and callers get an error at once", async ({ expect }) => {
    const scene = guardScene({ failuresBeforePause: 3, pauseSeconds: 5 });
    await failed(scene, 3);
    scene.now += 1500;
    for (const call of [TOOL, READ, MODERN_TOOL]) {
      expect(await scene.call(OK, call)).toEqual(
        ownError(-32603, 'Upstream "s" is not answering; it is tried again in 4 s', {
          ...{ upstream: "s", reason: "unreachable", retryAfter: 4 },
        }),
      );
    }
    expect(scene.asked).toBe(3);
  });

  test("gets one request when the pause is over, and all requests once that one was answered", async ({
    expect,
  }) => {
    const scene = guardScene({ failuresBeforePause: 1, pauseSeconds: 5 });
    await failed(scene, 1);
    scene.now += 5000;
    const probe = pending();
    const probing = scene.call(probe.run);
    expect(await scene.call(OK)).toHaveProperty("error");
    probe.end(OK);
    expect(await probing).toEqual(OK);
    expect(await scene.call(OK)).toEqual(OK);
    expect(scene.asked).toBe(3);
  });

  test("gets another probe at once when the probe was cancelled", async ({ expect }) => {
    const scene = guardScene({ failuresBeforePause: 1 });
    await failed(scene, 1);
    scene.now += 5000;
    const cancelled = new Error("cancelled");
    await expect(scene.call(() => Promise.reject(cancelled))).rejects.toBe(cancelled);
    expect(await scene.call(OK)).toEqual(OK);
  });

  test("is reported to its feed when it fails and when it is back", async ({ expect }) => {
    const scene = guardScene({ failuresBeforePause: 2 });
    await failed(scene, 4);
    const message = 'Upstream "s" is not answering';
    const trouble = { reason: "unreachable", message, since: 1_000_000 };
    expect(scene.reports).toEqual([trouble]);
    scene.now += 5000;
    await scene.call(OK);
    await scene.call(OK);
    expect(scene.reports).toEqual([trouble, undefined]);
    expect(scene.waiting).toHaveLength(2);
  });

  test("is served as usual when its feed cannot be reached", async ({ expect }) => {
    const scene = guardScene({ failuresBeforePause: 1 });
    scene.isFeedGone = true;
    expect(await scene.call(DEAD)).toEqual(DEAD);
    await expect(Promise.all(scene.waiting)).resolves.toBeDefined();
  });

  test("holds up no other", async ({ expect }) => {
    await failed(guardScene({ failuresBeforePause: 1 }), 2);
    expect(await guardScene({ failuresBeforePause: 1 }).call(OK)).toEqual(OK);
  });

  test.for([
    { name: "no connection", data: { reason: "unreachable" }, isSilence: true },
    // What one client's calls bring about must not keep others from it.
    { name: "502", data: { reason: "unreachable", status: 502 }, isSilence: false },
    { name: "too late", data: { reason: "timeout" }, isSilence: false },
    { name: "500", data: { reason: "unreachable", status: 500 }, isSilence: false },
    { name: "nonsense", data: { reason: "malformed" }, isSilence: false },
    { name: "asks to slow down", data: { reason: "overloaded", status: 429 }, isSilence: false },
    { name: "broke off", data: { reason: "lost" }, isSilence: false },
    { name: "a mistake of ours", data: { upstream: "s" }, isSilence: false },
  ])("is recognised by its failures: $name", async ({ data, isSilence }, { expect }) => {
    const scene = guardScene({ failuresBeforePause: 1 });
    const reply = failing(data);
    expect(await scene.call(reply)).toEqual(reply);
    expect("error" in (await scene.call(OK))).toBe(isSilence);
  });

  test.for(["unreachable", "timeout"])(
    "is not one that sends the error itself: %s",
    async (reason, { expect }) => {
      const scene = guardScene({ failuresBeforePause: 1 });
      const reply = errorReply(-32603, "failed", { upstream: "s", reason });
      for (const name of ["ann", "bob"]) expect(await scene.call(reply, TOOL, name)).toBe(reply);
      expect(await scene.call(OK)).toEqual(OK);
      expect(scene.reports).toEqual([]);
    },
  );
});

describe("a failure that may be the call's own fault", () => {
  const FAULTS = [
    { name: "502", data: { reason: "unreachable", status: 502 } },
    { name: "504", data: { reason: "unreachable", status: 504 } },
    { name: "too late", data: { reason: "timeout" } },
  ];
  test.for(FAULTS)("pauses a server when two have met it: $name", async ({ data }, { expect }) => {
    const scene = guardScene({ failuresBeforePause: 3 });
    const fault = failing(data);
    for (let n = 0; n < 10; n++) await scene.call(fault);
    expect(scene.reports).toEqual([]);
    expect(await scene.call(fault, TOOL, "bob")).toEqual(fault);
    expect(scene.reports).toHaveLength(1);
    expect(await scene.call(OK)).toHaveProperty("error.data.retryAfter");
  });

  test("of one person's applications is that of one", async ({ expect }) => {
    const scene = guardScene({ failuresBeforePause: 3 });
    const fault = failing({ reason: "timeout" });
    for (let n = 0; n < 10; n++) await scene.call(fault, TOOL, `ann.app-${n}`);
    expect(scene.reports).toEqual([]);
    await scene.call(fault, TOOL, "bob.app-0");
    expect(scene.reports).toHaveLength(1);
  });

  test("of one does not make the pause longer for others", async ({ expect }) => {
    const scene = guardScene({ failuresBeforePause: 1, pauseSeconds: 5 });
    await failed(scene, 1);
    scene.now += 5000;
    const fault = failing({ reason: "timeout" });
    for (let n = 0; n < 3; n++) expect(await scene.call(fault)).toEqual(fault);
    expect(await scene.call(fault, TOOL, "bob")).toEqual(fault);
    expect(await scene.call(OK)).toHaveProperty("error.data.retryAfter", 10);
  });

  test("is forgotten with any answer", async ({ expect }) => {
    const scene = guardScene({ failuresBeforePause: 2 });
    const fault = failing({ reason: "timeout" });
    await scene.call(fault);
    await scene.call(OK);
    for (let n = 0; n < 3; n++) await scene.call(fault, TOOL, "bob");
    expect(await scene.call(OK)).toEqual(OK);
  });
});

describe("more than a server may be given", () => {
  test("is refused by the number of running calls, until one has ended", async ({ expect }) => {
    const scene = guardScene({ requestsInFlightPerServer: 2 });
    const held = [pending(), pending()];
    const running = held.map(({ run }) => scene.call(run));
    expect(await scene.call(OK, READ)).toEqual({
      ...ownError(-32000, crowded(1), { upstream: "s", reason: "overloaded", retryAfter: 1 }),
      // The HTTP status for a modern client.
      refusedWith: 429,
    });
    held[0]?.end(OK);
    await running[0];
    expect(await scene.call(OK, READ)).toEqual(OK);
    held[1]?.end(DEAD);
    await Promise.all(running);
    expect(scene.asked).toBe(3);
  });

  test("makes room when a call was cancelled", async ({ expect }) => {
    const scene = guardScene({ requestsInFlightPerServer: 1 });
    await expect(scene.call(() => Promise.reject(new Error("cancelled")))).rejects.toThrow();
    expect(await scene.call(OK)).toEqual(OK);
  });

  test("makes room when a running call was dropped without a message", async ({ expect }) => {
    const scene = guardScene({ requestsInFlightPerServer: 1 });
    const { timeoutMs } = scene.server.target;
    const lost = pending();
    const late = scene.call(lost.run);
    scene.now += 4 * timeoutMs - 1;
    expect(await scene.call(OK, READ)).toHaveProperty("error");
    scene.now += 1;
    const held = pending();
    const running = scene.call(held.run);
    // Should it end after all, it gives back no place but its own.
    lost.end(OK);
    await late;
    expect(await scene.call(OK, READ)).toHaveProperty("error");
    held.end(OK);
    await running;
  });

  test("is refused by the number of calls in a minute", async ({ expect }) => {
    const scene = guardScene({ requestsPerMinutePerServer: 4 });
    for (let n = 0; n < 4; n++) await scene.call(OK);
    expect(await scene.call(OK)).toEqual({
      result: { content: [{ type: "text", text: crowded(15) }], isError: true },
    });
    scene.now += 15_000;
    expect(await scene.call(OK)).toEqual(OK);
  });

  test("is a whole result of a tool for either era", async ({ expect }) => {
    const scene = guardScene({ requestsPerMinutePerServer: 1 });
    await scene.call(OK);
    const result = { content: [{ type: "text", text: crowded(60) }], isError: true };
    expect(await scene.call(OK, TOOL)).toEqual({ result });
    expect(await scene.call(OK, MODERN_TOOL)).toEqual({
      result: { ...result, resultType: "complete" },
    });
  });

  test("does not count as a failure or an answer of the server", async ({ expect }) => {
    const scene = guardScene({ requestsInFlightPerServer: 1, failuresBeforePause: 1 });
    const held = pending();
    const running = scene.call(held.run);
    for (let n = 0; n < 5; n++) await scene.call(OK);
    held.end(OK);
    await running;
    expect(await scene.call(OK)).toEqual(OK);
    expect(scene.reports).toEqual([]);
  });
});

describe("an answer", () => {
  const LIMIT = 1024;
  test("passes whole up to the limit", async ({ expect }) => {
    const scene = guardScene({ resultBytes: LIMIT });
    const reply = resultOf(LIMIT);
    expect(await scene.call(reply)).toBe(reply);
  });

  test("over the limit is not truncated but replaced, by one that clients can read", async ({
    expect,
  }) => {
    const scene = guardScene({ resultBytes: LIMIT });
    const text = sentence(LIMIT + 1);
    const result = { content: [{ type: "text", text }], isError: true };
    expect(await scene.call(resultOf(LIMIT + 1))).toEqual({ result });
    expect(await scene.call(resultOf(LIMIT + 1), MODERN_TOOL)).toEqual({
      result: { ...result, resultType: "complete" },
    });
    expect(await scene.call(resultOf(LIMIT + 1), READ)).toEqual(
      ownError(-32603, text, { upstream: "s", reason: "too-large" }),
    );
  });

  test("that is an error is measured too", async ({ expect }) => {
    const scene = guardScene({ resultBytes: LIMIT });
    const huge = errorReply(-32000, "x".repeat(2 * LIMIT));
    expect(JSON.stringify(await scene.call(huge, READ)).length).toBeLessThan(LIMIT);
  });

  test("is measured in bytes, not characters", async ({ expect }) => {
    const scene = guardScene({ resultBytes: LIMIT });
    const wide = { result: { a: "é".repeat(LIMIT / 2) } };
    expect(await scene.call(wide, READ)).toHaveProperty("error");
  });
});
