/** Runs one request on a wire to its end: the answer, a cancellation, a time-out, or a loss. */

import type { Call, OpenQuestion, Peer } from "../../protocol/exchange.ts";
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
import type { Addressed, Exchanges } from "./exchanges.ts";
import { type Recipient, withResumeTokens } from "./recipient.ts";
import { writeResumeToken } from "./resume-token.ts";
import type { Receiver, Wire } from "./wire.ts";

/** Nobody is told of it: the answer is there. One for all, since to make an error takes a while. */
const OVER = new Error("The call is over");

export interface Run {
  readonly target: UpstreamTarget;
  readonly exchanges: Exchanges;
  readonly wire: Wire;
  readonly peer: Peer;
  /** Aborted when the client cancels. */
  readonly signal: AbortSignal;
}

/**
 * Sends one request and sees it to its end.
 *
 * @throws UpstreamError when no answer can be had; the reason of `signal` when it is aborted.
 *   In both cases the server is told to stop, unless it is what failed.
 */
export function runExchange(run: Run & { readonly call: Call }): Promise<Reply> {
  const { message, ticket } = run.exchanges.address(run.call);
  const isOpening = run.call.method === "initialize";
  return seeThrough({ ...run, isOpening, wasSent: false }, ticket, (receiver, signal) =>
    run.wire.request(message, receiver, signal),
  );
}

/** Takes up a request that was sent in an earlier life; never is it sent again. */
export function resumeExchange(
  run: Run & Pick<Seen, "asked">,
  ticket: Addressed & { readonly lastEventId: string },
): Promise<Reply> {
  return seeThrough({ ...run, isOpening: false, wasSent: true }, ticket, (receiver, signal) =>
    run.wire.resume(ticket.lastEventId, receiver, signal),
  );
}

interface Seen extends Run {
  readonly isOpening: boolean;
  /** In an earlier life. */
  readonly wasSent: boolean;
  /** Its questions of an earlier life. */
  readonly asked?: readonly OpenQuestion[];
}

async function seeThrough(
  run: Seen,
  ticket: Addressed,
  start: (receiver: Receiver, signal: AbortSignal) => Promise<void>,
): Promise<Reply> {
  const { target, exchanges, wire, peer, signal, isOpening, wasSent, asked = [] } = run;
  const { slug, timeoutMs } = target;
  /** Ends what goes on at the wire: aborted when the call is over, whatever ends it. */
  const ending = new AbortController();
  const { signal: ended } = ending;
  const deadline = startDeadline(
    timeoutMs,
    () => new UpstreamError(slug, "timeout", `gave no sign of life for ${timeoutMs / 1000} s`),
    ending,
  );
  const cancel = (): void => ending.abort(signal.reason);
  if (signal.aborted) cancel();
  else signal.addEventListener("abort", cancel, { once: true });
  /** The time that a client takes to answer is not the server's. */
  const unhurried = async (reply: Promise<Reply>): Promise<Reply> => {
    const resume = deadline.pause();
    try {
      return await reply;
    } finally {
      resume();
    }
  };
  const told = withResumeTokens(peer, ticket);
  const recipient: Recipient = {
    notify: async (notice, origin) => {
      deadline.rewind();
      await told.notify(notice, origin);
      deadline.rewind(); // however long the client took
    },
    ask: (...question) => unhurried(told.ask(...question)),
  };
  let isSent = wasSent;
  const exchange = exchanges.start(ticket, recipient);
  for (const { ticket: of, wait } of asked) {
    exchanges.resumeAsk({ ticket: of, wait: (...until) => unhurried(wait(...until)) }, recipient);
  }
  const abandoned = rejectOnAbort(ended);
  const receiver: Receiver = {
    deliver: (parsed, lastEventId) =>
      exchanges.receive(addressError(parsed, exchange.id), recipient, lastEventId),
    isSettled: exchange.isSettled,
    sent: () => (isSent = true),
    primed: (lastEventId) =>
      peer.primed?.(
        writeResumeToken(lastEventId === undefined ? ticket : { ...ticket, lastEventId }),
      ),
    released: () => peer.released?.(),
  };
  const wired = start(receiver, ended).then(() => {
    if (exchange.isSettled()) return exchange.reply;
    const sentence = "closed the stream before the answer; whether the request ran is unknown";
    throw new UpstreamError(slug, "lost", sentence);
  });
  try {
    return await Promise.race([exchange.reply, wired, abandoned]);
  } finally {
    // MUST reference a request that was issued, and never `initialize` (2025-11-25, cancellation).
    if (ended.aborted && isSent && !isOpening) tellCancelled(wire, exchange.id, ended.reason);
    signal.removeEventListener("abort", cancel);
    exchange.drop();
    deadline.clear();
    wired.catch(() => undefined); // told above, or ended here
    ending.abort(OVER);
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
