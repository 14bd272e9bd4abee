/**
 * How long the gateway waits for a modern server: only messages that reach the client extend the wait, and the time
 * that the client takes for them does not count.
 */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import type { Call } from "../../../../src/protocol/exchange.ts";
import type { JsonObject, Reply } from "../../../../src/protocol/json-rpc.ts";
import { sleep } from "../../../../src/lib/sleep.ts";
import { sendModern } from "../../../../src/upstream/modern/send.ts";
import { bytesOf, failureOf, fakeTarget } from "../fake-target.ts";

const TIMEOUT_MS = 1000;
const LOG_LEVEL = "io.modelcontextprotocol/logLevel";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A call at a server that sends this four times, each before its time is over, and then answers. */
async function callOf(message: object, meta: JsonObject = {}): Promise<[unknown, Call[]]> {
  let write: ((message: object) => void) | undefined;
  let id: unknown;
  const target = fakeTarget(
    ({ body, signal }) => {
      id = body["id"];
      const source = new ReadableStream<Uint8Array>({
        start(controller) {
          signal?.addEventListener("abort", () => controller.error(signal.reason));
          write = (said) => {
            if (signal?.aborted === true) return;
            const text = JSON.stringify({ jsonrpc: "2.0", ...said });
            controller.enqueue(bytesOf(`data: ${text}\n\n`));
          };
        },
      });
      return new Response(source, { headers: { "Content-Type": "text/event-stream" } });
    },
    { timeoutMs: TIMEOUT_MS },
  );
  const received: Call[] = [];
  const sent = sendModern(target, {
    call: { method: "tools/call", params: { name: "work", _meta: meta } },
    clientCapabilities: {},
    peer: {
      notify: async (notice) => void received.push(notice),
      ask: (): Promise<Reply> => Promise.reject(new Error("not asked")),
    },
  });
  const ended = failureOf(sent);
  for (let n = 0; n < 4; n++) {
    await vi.advanceTimersByTimeAsync(TIMEOUT_MS * 0.75);
    write?.(message);
  }
  await vi.advanceTimersByTimeAsync(1);
  write?.({ id, result: { resultType: "complete", content: [] } });
  return [await ended, received];
}

const log = { method: "notifications/message", params: { level: "info", data: "working" } };

describe("a server that goes on for longer than its time", () => {
  test.for<{ name: string; message: object; meta?: JsonObject }>([
    { name: "logs that nobody asked for", message: log },
    { name: "answers to somebody else", message: { id: "other", result: {} } },
    { name: "changes", message: { method: "notifications/tools/list_changed" } },
    { name: "questions", message: { id: 1, method: "ping" } },
    {
      name: "progress of something else",
      message: { method: "notifications/progress", params: { progressToken: -1, progress: 1 } },
      meta: { progressToken: "t" },
    },
  ])("is given up when all it sends is $name", async ({ message, meta }, { expect }) => {
    const [failure, received] = await callOf(message, meta);
    expect(failure).toMatchObject({ failure: "timeout" });
    expect(received).toEqual([]);
  });

  test("is waited for as long as its client gets messages", async ({ expect }) => {
    const [failure, received] = await callOf(log, { [LOG_LEVEL]: "info" });
    expect(failure).toBeUndefined();
    expect(received).toEqual([log, log, log, log]);
  });
});

describe("while a client is slow to read", () => {
  /** The outcome of a call at a server that logs and, unless it is silent from then on, answers. */
  function callReadBy(
    notify: () => Promise<void>,
    { signal, isSilent = false }: { signal?: AbortSignal; isSilent?: boolean } = {},
  ): Promise<unknown> {
    const target = fakeTarget(
      (seen) => {
        const answer = { id: seen.body["id"], result: { resultType: "complete", content: [] } };
        const source = new ReadableStream<Uint8Array>({
          start(controller) {
            seen.signal?.addEventListener("abort", () => controller.error(seen.signal?.reason));
            for (const said of isSilent ? [log] : [log, answer]) {
              const text = JSON.stringify({ jsonrpc: "2.0", ...said });
              controller.enqueue(bytesOf(`data: ${text}\n\n`));
            }
          },
        });
        return new Response(source, { headers: { "Content-Type": "text/event-stream" } });
      },
      { timeoutMs: TIMEOUT_MS },
    );
    const sent = sendModern(target, {
      call: { method: "tools/call", params: { name: "work", _meta: { [LOG_LEVEL]: "info" } } },
      clientCapabilities: {},
      peer: { notify, ask: (): Promise<Reply> => Promise.reject(new Error("not asked")) },
      ...(signal === undefined ? {} : { signal }),
    });
    const outcome = sent.catch((error: unknown) => error);
    return Promise.race([outcome, sleep(10 * TIMEOUT_MS, never).then(() => "still running")]);
  }
  const { signal: never } = new AbortController();
  const slowly = (): Promise<void> => sleep(5 * TIMEOUT_MS, never);

  test("the clock stands still, and the answer of the server arrives", async ({ expect }) => {
    const outcome = callReadBy(slowly);
    await vi.advanceTimersByTimeAsync(10 * TIMEOUT_MS);
    expect(await outcome).toMatchObject({ reply: { result: { content: [] } } });
  });

  test("the clock stands still, and no longer", async ({ expect }) => {
    const outcome = callReadBy(slowly, { isSilent: true });
    await vi.advanceTimersByTimeAsync(10 * TIMEOUT_MS);
    expect(await outcome).toMatchObject({ failure: "timeout" });
  });

  test("the call ends when the client has gone", async ({ expect }) => {
    const leaving = new AbortController();
    const outcome = callReadBy(() => new Promise(() => undefined), { signal: leaving.signal });
    await vi.advanceTimersByTimeAsync(5 * TIMEOUT_MS);
    const gone = new Error("gone");
    leaving.abort(gone);
    await vi.advanceTimersByTimeAsync(5 * TIMEOUT_MS);
    expect(await outcome).toBe(gone);
  });
});
