/**
 * The port that the whole relay is written against. An exchange is one request in flight towards
 * one upstream; its peer is the client side that waits for it, in either era's form.
 */

import { errorReply, type Reply } from "./json-rpc.ts";
import { type CallSpan, forkSpan } from "./call-span.ts";
import type { Params } from "./message-members.ts";
import { ErrorCode } from "./error-codes.ts";

/** A request or notification without its envelope: the id belongs to a hop. */
export interface Call {
  readonly method: string;
  readonly params?: Params;
}

export interface Peer {
  /** The client's request; absent for what the gateway does on its own. */
  readonly span?: CallSpan | undefined;
  /**
   * Passes one notification down.
   *
   * @param resumeToken resumes the exchange after this very message, should its holder lose its
   *   memory; opaque to all but the connector that made it.
   * @returns when the receiver has room for more: awaiting it is the back-pressure.
   */
  notify(notice: Call, resumeToken?: string): Promise<void>;
  /**
   * Asks the client something (elicitation, sampling, roots) and waits for its answer.
   * Never rejects: a client that cannot or will not answer gives an error reply.
   *
   * @param signal aborted when the upstream withdraws the question or the exchange ends.
   * @param delivered resolves when the upstream has the answer, and never if it cannot be delivered.
   */
  ask(
    request: Call,
    signal: AbortSignal,
    resumeToken?: string,
    delivered?: Promise<void>,
  ): Promise<Reply>;
  /** The server of the request is known. @param resumeToken leads to it if no other token follows. */
  routed?(resumeToken: string): void;
  /** The upstream answers with a stream that can be resumed from its beginning. */
  primed?(resumeToken?: string): void;
  /** The upstream closed its connection in mid-answer; the stream will be resumed. */
  released?(): void;
}

/** A question that was put to the client before a restart of the exchange's holder, and is open. */
export interface OpenQuestion {
  /** The resume token that the question was sent with. */
  readonly resumeToken: string;
  /** Goes on waiting for the answer, like `Peer.ask`. */
  readonly wait: (signal: AbortSignal, delivered: Promise<void>) => Promise<Reply>;
}

/** Passes everything on to a peer, which may be an instance of a class: a spread would lose its methods. */
export function forwardingTo(peer: Peer): Peer {
  return {
    span: peer.span,
    notify: (notice, resumeToken) => peer.notify(notice, resumeToken),
    ask: (question, withdrawn, resumeToken, delivered) =>
      peer.ask(question, withdrawn, resumeToken, delivered),
    routed: (resumeToken) => peer.routed?.(resumeToken),
    primed: (resumeToken) => peer.primed?.(resumeToken),
    released: () => peer.released?.(),
  };
}

/** The peer of one of several servers that are asked at once. */
export function forked(peer: Peer): Peer {
  return { ...forwardingTo(peer), span: forkSpan(peer.span) };
}

/** For a request whose messages have no place from which the peer's own stream could be resumed. */
export function withoutResumeTokens(peer: Peer): Peer {
  return {
    span: peer.span,
    notify: (notice) => peer.notify(notice),
    ask: (question, withdrawn) => peer.ask(question, withdrawn),
  };
}

/** A peer for requests of the gateway's own: it ignores notifications and refuses questions. */
export function nullPeer(why: string): Peer {
  const reply = errorReply(ErrorCode.InvalidRequest, why);
  return { notify: () => Promise.resolve(), ask: () => Promise.resolve(reply) };
}
