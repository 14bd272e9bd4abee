/** The GET stream of a legacy server, by a fake clock: when it is opened again, and which events are reported of it. */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import { StreamableHttpWire } from "../../../../src/upstream/legacy/streamable-http-wire.ts";
import type { StandaloneStreamListener } from "../../../../src/upstream/legacy/wire.ts";
import { type Answer, bodyOf, bytesOf, fakeTarget, html, json } from "../fake-target.ts";
import { EVENTS, refusal } from "./legacy-servers.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const NOTICE = `data: ${JSON.stringify({ jsonrpc: "2.0", method: "notifications/n" })}\n\n`;

/** A stream of this text, which ends after so long. */
function stream(text: string, afterMs = 0): Answer {
  return () => {
    if (afterMs === 0) return new Response(bodyOf([bytesOf(text)]), { headers: EVENTS });
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(bytesOf(text));
        setTimeout(() => controller.close(), afterMs);
      },
    });
    return new Response(body, { headers: EVENTS });
  };
}

const SESSION = { sessionId: "session", revision: "2025-11-25" } as const;

interface Listened {
  /** Seconds before each opening but the first. */
  readonly pauses: readonly number[];
  /** The events that were reported of the stream. */
  readonly said: readonly string[];
}

/** Listens until there were so many GETs, or there is nothing more to come. */
async function listen(
  answers: Answer | readonly Answer[],
  gets: number,
  hasSession = true,
): Promise<Listened> {
  const [times, said]: [number[], string[]] = [[], []];
  const target = fakeTarget((seen) => {
    const answer = typeof answers === "function" ? answers : answers[times.length];
    times.push(Date.now());
    return answer === undefined ? new Promise<never>(() => undefined) : answer(seen);
  });
  const listener: StandaloneStreamListener = {
    deliver: () => Promise.resolve(),
    primed: () => undefined,
    onLost: () => void said.push("lost"),
    opened: (isContinued) => void said.push(isContinued ? "continued" : "opened"),
    broken: () => void said.push("broken"),
    refused: () => void said.push("refused"),
  };
  const wire = new StreamableHttpWire(target, hasSession ? SESSION : undefined);
  wire.listen(listener);
  do await vi.advanceTimersToNextTimerAsync();
  while (times.length < gets && vi.getTimerCount() > 0);
  wire.unlisten();
  await vi.advanceTimersByTimeAsync(0);
  const pauses = times.slice(1).map((at, n) => Math.round((at - (times[n] ?? 0)) / 100) / 10);
  return { pauses, said };
}

describe("a GET stream that ends", () => {
  test.for([
    { name: "at once and empty", answer: stream(""), pauses: [2, 4, 8, 16, 30, 30] },
    { name: "in garbage", answer: stream("data: nonsense\n\n"), pauses: [2, 4, 8, 16, 30, 30] },
    {
      name: "empty, and asks for more at once",
      answer: stream("retry: 0\n\n"),
      pauses: [0.1, 0.1, 0.1, 0.1, 0.1, 30, 30],
    },
    { name: "after a message", answer: stream(NOTICE), pauses: [1, 1, 1, 1] },
    {
      name: "after a message, and asks for more at once",
      answer: stream(`retry: 0\n${NOTICE}`),
      pauses: [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1],
    },
    { name: "after a while", answer: stream("", 20_000), pauses: [21, 21, 21] },
    {
      name: "with 503",
      answer: refusal(503, -32603),
      pauses: [2, 4, 8, 16, 30],
    },
    { name: "with 429", answer: refusal(429, -32000), pauses: [2, 4, 8] },
  ])("$name is opened again after a pause", async ({ answer, pauses }, { expect }) => {
    expect((await listen(answer, pauses.length + 1)).pauses).toEqual(pauses);
  });

  test("is reported as broken, and resumed only after its last event", async ({ expect }) => {
    const { said } = await listen(
      [stream(NOTICE), stream(`id: 1\n${NOTICE}`), stream(""), refusal(400, -32600), stream("")],
      6,
    );
    expect(said).toEqual([
      ...["opened", "broken", "opened", "broken", "continued", "broken", "opened", "broken"],
    ]);
  });

  // There, 404 names no session, so it may name the event.
  test("is opened anew where a server without sessions does not know its last event", async ({
    expect,
  }) => {
    const answers = [stream(`id: 1\n${NOTICE}`), () => html(404), stream(NOTICE)];
    expect((await listen(answers, 4, false)).said).toEqual([
      "opened",
      "broken",
      "opened",
      "broken",
    ]);
    expect((await listen(() => html(404), 2, false)).said).toEqual(["refused"]);
  });

  test.for([
    { name: "405", answer: refusal(405, -32000), said: ["refused"] },
    { name: "401", answer: () => html(401), said: ["refused"] },
    { name: "404, the session's", answer: refusal(404, -32001), said: ["lost"] },
    { name: "a page", answer: () => html(200), said: ["refused"] },
    { name: "JSON", answer: () => json({ status: "ok" }), said: ["refused"] },
  ])("with $name is not opened again", async ({ answer, said }, { expect }) => {
    expect(await listen(answer, 2)).toEqual({ pauses: [], said });
    expect(vi.getTimerCount()).toBe(0);
  });
});
