/** How the sessions of one principal at one legacy server are lent to its requests. */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import type { Lane } from "../../src/bridge/modern-to-legacy/lane.ts";
import { Lanes } from "../../src/bridge/modern-to-legacy/lanes.ts";
import { type Answer, failureOf, fakeTarget } from "./fake-target.ts";
import { handshake, refusal, result, sseServer } from "./legacy-servers.ts";

const MAX_LANES = 8;
const TIMEOUT_MS = 60_000;
const { signal: never } = new AbortController();

function lanesAt(answer: Answer): Lanes {
  return new Lanes({
    target: fakeTarget(answer, { timeoutMs: TIMEOUT_MS }),
    client: { capabilities: {}, clientInfo: { name: "c", version: "1" } },
    quietMs: 1000,
    save: () => undefined,
    attended: () => new Set<string>(),
    hear: () => undefined,
  });
}

interface Loan {
  /** Once it is lent. */
  readonly lane: Promise<Lane>;
  /** Settles when it is given back, or is not to be had. */
  readonly over: Promise<unknown>;
  readonly giveBack: () => void;
}

function borrow(lanes: Lanes, signal = never): Loan {
  const lent = Promise.withResolvers<Lane>();
  const back = Promise.withResolvers<void>();
  const over = lanes.with(signal, (lane) => {
    lent.resolve(lane);
    return back.promise;
  });
  over.catch(lent.reject);
  lent.promise.catch(() => undefined);
  return { lane: lent.promise, over, giveBack: back.resolve };
}

const HTTP: Answer = result(handshake);
const SSE: Answer = sseServer(refusal(405, -32_000));

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("over Streamable HTTP", () => {
  test("all requests share one session", async ({ expect }) => {
    const lanes = lanesAt(HTTP);
    const loans = Array.from({ length: 100 }, () => borrow(lanes));
    const lent = await Promise.all(loans.map(({ lane }) => lane));
    expect(new Set(lent)).toEqual(new Set([lanes.main]));
  });
});

async function busy(): Promise<{ lanes: Lanes; loans: Loan[]; lent: Lane[] }> {
  const lanes = lanesAt(SSE);
  const loans: Loan[] = [];
  for (let n = 0; n < MAX_LANES; n++) loans.push(borrow(lanes));
  return { lanes, loans, lent: await Promise.all(loans.map(({ lane }) => lane)) };
}

describe("over HTTP+SSE", () => {
  test("each request has one to itself, and the next takes what is free", async ({ expect }) => {
    const { lanes, loans, lent } = await busy();
    expect(new Set(lent).size).toBe(MAX_LANES);
    expect(lent).toContain(lanes.main);
    loans[5]?.giveBack();
    await loans[5]?.over;
    expect(await borrow(lanes).lane).toBe(lent[5]);
  });

  test("who waits is served in turn, but for those who have left", async ({ expect }) => {
    const { lanes, loans, lent } = await busy();
    const leaving = new AbortController();
    const left = borrow(lanes, leaving.signal);
    const [second, third] = [borrow(lanes), borrow(lanes)];
    await vi.advanceTimersByTimeAsync(1);
    leaving.abort(new Error("gone"));
    expect(await failureOf(left.over)).toEqual(new Error("gone"));
    loans[2]?.giveBack();
    expect(await second.lane).toBe(lent[2]);
    loans[7]?.giveBack();
    expect(await third.lane).toBe(lent[7]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("nobody waits for longer than a call may take", async ({ expect }) => {
    const { lanes, loans } = await busy();
    const late = borrow(lanes);
    const failure = failureOf(late.over);
    await vi.advanceTimersByTimeAsync(TIMEOUT_MS);
    expect(await failure).toMatchObject({ failure: "overloaded" });
    // What comes free then is not lent to whoever has given up.
    loans[0]?.giveBack();
    await borrow(lanes).lane;
  });

  test("who has left already is lent none", async ({ expect }) => {
    const lanes = lanesAt(SSE);
    const gone = borrow(lanes, AbortSignal.abort(new Error("gone")));
    expect(await failureOf(gone.over)).toEqual(new Error("gone"));
    expect(await borrow(lanes).lane).toBe(lanes.main);
  });
});
