/** Runs one request on a wire to its end: the answer, a cancellation, a time-out, or a loss. */

import { Stopwatch } from "../../lib/stopwatch.ts";
import { unlessAborted } from "../../lib/unless-aborted.ts";
import { inClientSpan } from "../../observability/spans.ts";
import { noteUpstream } from "../../protocol/call-span.ts";
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
import { traced } from "../traced.ts";
import { UpstreamError } from "../upstream-error.ts";
import type { Addressed, Exchanges } from "./exchanges.ts";
import { type Recipient, withResumeTokens } from "./resume-token.ts";
import type { Receiver, Wire } from "./wire.ts";

/**
 * Never reported, because the answer is there, so it need not be an `Error`: those are slow to create. The
 * first one of an isolate makes V8 parse the whole bundle again, for the position in its stack.
 */
const OVER = "The call is over";

export interface Run {
  readonly target: UpstreamTarget;
  readonly exchanges: Exchanges;
  readonly wire: Wire;
  readonly peer: Peer;
  /** Aborted when the client cancels. */
  readonly signal: AbortSignal;
}

/**
 * Sends one request and follows it to its end.
 *
 * @throws UpstreamError when no answer is available; the reason of `signal` when it is aborted.
 *   On a time-out and on an abort the server is sent `notifications/cancelled`.
 */
export function runExchange(run: Run & { readonly call: Call }): Promise<Reply> {
  const { target, call, peer } = run;
  return inClientSpan(peer.span, target, call, (spanId) => runInSpan(run, spanId), itself);
}

function itself(reply: Reply): Reply {
  return reply;
}

function runInSpan(run: Run & { readonly call: Call }, spanId: string | undefined): Promise<Reply> {
  const { call, headers } = traced(run.call, run.peer.span, spanId);
  const { message, resumePoint } = run.exchanges.address(call);
  const isOpening = run.call.method === "initialize";
  return followToEnd({ ...run, isOpening, wasSent: false }, resumePoint, (receiver, signal) =>
    run.wire.request(message, receiver, signal, headers),
  );
}

/** Resumes a request that was sent before a restart; it is never sent again. */
export function resumeExchange(
  run: Run & Pick<FollowedRun, "asked">,
  resumePoint: Addressed & { readonly lastEventId: string },
): Promise<Reply> {
  return followToEnd({ ...run, isOpening: false, wasSent: true }, resumePoint, (receiver, signal) =>
    run.wire.resume(resumePoint.lastEventId, receiver, signal),
  );
}

interface FollowedRun extends Run {
  readonly isOpening: boolean;
  /** The request was sent before a restart. */
  readonly wasSent: boolean;
  /** The server's questions that were open before a restart. */
  readonly asked?: readonly OpenQuestion[];
}

async function followToEnd(
  run: FollowedRun,
  resumePoint: Addressed,
  start: (receiver: Receiver, signal: AbortSignal) => Promise<void>,
): Promise<Reply> {
  const { target, exchanges, wire, peer, signal, isOpening, wasSent, asked = [] } = run;
  const { slug } = target;
  /** Ends the work of the wire: aborted when the call is over, whatever ends it. */
  const ending = new AbortController();
  const { signal: ended } = ending;
  const deadline = startDeadline(target, ending);
  const cancel = (): void => ending.abort(signal.reason);
  if (signal.aborted) cancel();
  else signal.addEventListener("abort", cancel, { once: true });
  const stopwatch = new Stopwatch();
  /** The time that a client takes to answer does not count as the server's. */
  const withoutDeadline = async (reply: Promise<Reply>): Promise<Reply> => {
    const resume = deadline.pause();
    const goOn = stopwatch.pause();
    try {
      return await reply;
    } finally {
      resume();
      goOn();
    }
  };
  const session = wire.sessionMark;
  const tokenPeer = withResumeTokens(peer, { ...resumePoint, session });
  const recipient: Recipient = {
    notify: async (notice, origin) => {
      const goOn = deadline.pause(); // however long the client takes to read
      try {
        await tokenPeer.notify(notice, origin);
      } finally {
        goOn();
      }
    },
    ask: (...question) => withoutDeadline(tokenPeer.ask(...question)),
  };
  let isSent = wasSent;
  const exchange = exchanges.start(resumePoint, recipient);
  for (const { resumeToken, wait } of asked) {
    const question = {
      resumeToken,
      wait: async (...until: Parameters<typeof wait>): Promise<Reply> => {
        const reply = await withoutDeadline(wait(...until));
        // The server goes on with the answer, and may ask next on the standalone stream, which `request` waits for.
        await wire.opening;
        return reply;
      },
    };
    exchanges.resumeAsk(question, recipient, wire);
  }
  const receiver: Receiver = {
    deliver: (parsed, lastEventId) =>
      exchanges.receive(addressError(parsed, exchange.id), recipient, wire, lastEventId),
    isSettled: exchange.isSettled,
    sent: () => (isSent = true),
    primed: (lastEventId) =>
      tokenPeer.primed({ ...(lastEventId === undefined ? {} : { lastEventId }), session }),
    released: () => peer.released?.(),
  };
  const wired = start(receiver, ended).then(() => {
    if (exchange.isSettled()) return exchange.reply;
    const sentence = "closed the stream before the answer; whether the request ran is unknown";
    throw new UpstreamError(slug, "lost", sentence);
  });
  try {
    return await unlessAborted(Promise.race([exchange.reply, wired]), ended);
  } finally {
    // MUST reference a request that was issued, and never `initialize` (2025-11-25, cancellation).
    if (ended.aborted && isSent && !isOpening) sendCancelled(wire, exchange.id, ended.reason);
    signal.removeEventListener("abort", cancel);
    exchange.drop();
    deadline.clear();
    noteUpstream(peer.span, "legacy", stopwatch.ms);
    wired.catch(() => undefined); // reported above, or ended here
    ending.abort(OVER);
  }
}

/** An error without an id (2025-11-25 on) belongs to the one request of the stream it came on. */
function addressError(parsed: Parsed, id: RequestId): Parsed {
  if (parsed.kind !== "response" || parsed.message.id !== undefined) return parsed;
  return { kind: "response", message: respond(id, replyOf(parsed.message)) };
}

/** The cancellation may cross the answer on its way; the server settles that race. */
function sendCancelled(wire: Wire, requestId: RequestId, reason: unknown): void {
  const params = { requestId, ...(reason instanceof Error ? { reason: reason.message } : {}) };
  wire.post(notification("notifications/cancelled", params)).catch(() => undefined); // the server is gone
}
