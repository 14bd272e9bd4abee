/** Runs one request on a wire to its end: the answer, a cancellation, a time-out, or a loss. */

import type { Call, Peer } from "../../protocol/exchange.ts";
import {
  notification,
  type Parsed,
  type Reply,
  replyOf,
  type RequestId,
  respond,
} from "../../protocol/json-rpc.ts";
import { startDeadline } from "../deadline.ts";
import type { UpstreamTarget } from "../target.ts";
import { UpstreamError } from "../upstream-error.ts";
import type { Exchanges } from "./exchanges.ts";
import type { Wire } from "./wire.ts";

export interface Run {
  readonly target: UpstreamTarget;
  readonly exchanges: Exchanges;
  readonly wire: Wire;
  readonly call: Call;
  readonly peer: Peer;
  /** Aborted when the client cancels. */
  readonly signal: AbortSignal;
}

/**
 * @throws UpstreamError when no answer can be had; the reason of `signal` when it is aborted.
 *   In both cases the server is told to stop, unless it is what failed.
 */
export async function runExchange(run: Run): Promise<Reply> {
  const { target, exchanges, wire, call, peer, signal } = run;
  const { slug, timeoutMs } = target;
  const deadline = startDeadline(
    timeoutMs,
    () => new UpstreamError(slug, "timeout", `gave no sign of life for ${timeoutMs / 1000} s`),
  );
  const exchange = exchanges.start(call, {
    notify: async (notice) => {
      await peer.notify(notice);
      deadline.rewind();
    },
    ask: async (request, withdrawn) => {
      const resume = deadline.pause();
      return peer.ask(request, withdrawn).finally(resume);
    },
  });
  const stopped = AbortSignal.any([signal, deadline.signal]);
  const abandoned = rejectOnAbort(stopped);
  const over = new AbortController();
  const wired = wire
    .request(
      exchange.message,
      {
        deliver: (parsed) => {
          const addressed = addressError(parsed, exchange.message.id);
          return exchanges.receive(addressed, exchange.peer);
        },
        isSettled: exchange.isSettled,
        opened: () => peer.opened?.(),
        released: () => peer.released?.(),
      },
      AbortSignal.any([stopped, over.signal]),
    )
    .then(() => {
      if (exchange.isSettled()) return exchange.reply;
      const sentence = "closed the stream before the answer; whether the request ran is unknown";
      throw new UpstreamError(slug, "lost", sentence);
    });
  try {
    return await Promise.race([exchange.reply, wired, abandoned]);
  } finally {
    if (stopped.aborted && call.method !== "initialize") {
      tellCancelled(wire, exchange.message.id, stopped.reason);
    }
    exchange.drop();
    deadline.clear();
    wired.catch(() => undefined); // told above, or ended by `over`
    over.abort();
  }
}

/** An error without an id (2025-11-25 on) belongs to the one request of the stream it came on. */
function addressError(parsed: Parsed, id: RequestId): Parsed {
  if (parsed.kind !== "response" || parsed.message.id !== undefined) return parsed;
  return { kind: "response", message: respond(id, replyOf(parsed.message)) };
}

/** The race between this and the server's answer is the server's to settle. */
function tellCancelled(wire: Wire, requestId: RequestId, reason: unknown): void {
  const params = { requestId, ...(reason instanceof Error ? { reason: reason.message } : {}) };
  wire.post(notification("notifications/cancelled", params)).catch(() => undefined); // it is gone
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abandon = (): void => reject(signal.reason as Error);
  if (signal.aborted) abandon();
  else signal.addEventListener("abort", abandon, { once: true });
  promise.catch(() => undefined); // the race may be over by then
  return promise;
}
