/** How the sessions of one principal at one legacy server are lent to its requests. */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import type { UpstreamSession } from "../../../../src/relay/modern-to-legacy/upstream-session.ts";
import { UpstreamSessions } from "../../../../src/relay/modern-to-legacy/upstream-sessions.ts";
import { type Answer, failureOf, fakeTarget } from "../../upstream/fake-target.ts";
import { handshake, refusal, result, sseServer } from "../../upstream/legacy/legacy-servers.ts";

const MAX_UPSTREAM_SESSIONS = 8;
const TIMEOUT_MS = 60_000;
const { signal: never } = new AbortController();

function lanesAt(answer: Answer): UpstreamSessions {
  return new UpstreamSessions({
    target: fakeTarget(answer, { timeoutMs: TIMEOUT_MS }),
    client: { capabilities: {}, clientInfo: { name: "c", version: "1" } },
    quietMs: 1000,
    save: () => undefined,
    listenedUris: () => new Set<string>(),
    onUpdated: () => undefined,
  });
}

interface Loan {
  /** Once it is lent. */
  readonly upstreamSession: Promise<UpstreamSession>;
  /** Settles when it is given back, or is not available. */
  readonly over: Promise<unknown>;
  readonly giveBack: () => void;
}

function borrow(upstreamSessions: UpstreamSessions, signal = never): Loan {
  const lent = Promise.withResolvers<UpstreamSession>();
  const back = Promise.withResolvers<void>();
  const over = upstreamSessions.with(signal, (upstreamSession) => {
    lent.resolve(upstreamSession);
    return back.promise;
  });
  over.catch(lent.reject);
  lent.promise.catch(() => undefined);
  return { upstreamSession: lent.promise, over, giveBack: back.resolve };
}

const HTTP: Answer = result(handshake);
const SSE: Answer = sseServer(refusal(405, -32_000));

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("over Streamable HTTP", () => {
  test("all requests share one session", async ({ expect }) => {
    const upstreamSessions = lanesAt(HTTP);
    const loans = Array.from({ length: 100 }, () => borrow(upstreamSessions));
    const lent = await Promise.all(loans.map(({ upstreamSession }) => upstreamSession));
    expect(new Set(lent)).toEqual(new Set([upstreamSessions.main]));
  });
});

async function busy(): Promise<{
  upstreamSessions: UpstreamSessions;
  loans: Loan[];
  lent: UpstreamSession[];
}> {
  const upstreamSessions = lanesAt(SSE);
  const loans: Loan[] = [];
  for (let n = 0; n < MAX_UPSTREAM_SESSIONS; n++) loans.push(borrow(upstreamSessions));
  return {
    upstreamSessions,
    loans,
    lent: await Promise.all(loans.map(({ upstreamSession }) => upstreamSession)),
  };
}

describe("over HTTP+SSE", () => {
  test("each request has a session to itself, and the next takes a free one", async ({
    expect,
  }) => {
    const { upstreamSessions, loans, lent } = await busy();
    expect(new Set(lent).size).toBe(MAX_UPSTREAM_SESSIONS);
    expect(lent).toContain(upstreamSessions.main);
    loans[5]?.giveBack();
    await loans[5]?.over;
    expect(await borrow(upstreamSessions).upstreamSession).toBe(lent[5]);
  });

  test("waiting requests are served in order, except those that have left", async ({ expect }) => {
    const { upstreamSessions, loans, lent } = await busy();
    const leaving = new AbortController();
    const left = borrow(upstreamSessions, leaving.signal);
    const [second, third] = [borrow(upstreamSessions), borrow(upstreamSessions)];
    await vi.advanceTimersByTimeAsync(1);
    leaving.abort(new Error("gone"));
    expect(await failureOf(left.over)).toEqual(new Error("gone"));
    loans[2]?.giveBack();
    expect(await second.upstreamSession).toBe(lent[2]);
    loans[7]?.giveBack();
    expect(await third.upstreamSession).toBe(lent[7]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("no request waits for longer than a call may take", async ({ expect }) => {
    const { upstreamSessions, loans } = await busy();
    const late = borrow(upstreamSessions);
    const failure = failureOf(late.over);
    await vi.advanceTimersByTimeAsync(TIMEOUT_MS);
    expect(await failure).toMatchObject({ failure: "overloaded" });
    // A session that comes free then is not lent to a request that has given up.
    loans[0]?.giveBack();
    await borrow(upstreamSessions).upstreamSession;
  });

  test("a request that has already left gets no session", async ({ expect }) => {
    const upstreamSessions = lanesAt(SSE);
    const gone = borrow(upstreamSessions, AbortSignal.abort(new Error("gone")));
    expect(await failureOf(gone.over)).toEqual(new Error("gone"));
    expect(await borrow(upstreamSessions).upstreamSession).toBe(upstreamSessions.main);
  });
});
