/**
 * The port that the whole relay is written against. An exchange is one request in flight towards
 * one upstream; its peer is whoever waits for it downstream, in either era's form.
 */

import type { Params, Reply } from "./json-rpc.ts";

/** A request or notification without its envelope: the id belongs to a hop. */
export interface Call {
  readonly method: string;
  readonly params?: Params;
}

export interface Peer {
  /**
   * Passes one notification down.
   *
   * @param ticket takes the exchange up again after this very message, should its holder lose its
   *   memory; opaque to all but the connector that made it.
   * @returns when the receiver has room for more: awaiting it is the back-pressure.
   */
  notify(notice: Call, ticket?: string): Promise<void>;
  /**
   * Asks the client something (elicitation, sampling, roots) and waits for its answer.
   * Never rejects: a client that cannot or will not answer gives an error reply.
   *
   * @param signal aborted when the upstream withdraws the question or the exchange ends.
   * @param brought resolves when the upstream has the answer; never, when it cannot be brought.
   */
  ask(request: Call, signal: AbortSignal, ticket?: string, brought?: Promise<void>): Promise<Reply>;
  /** It is known who answers. @param ticket leads there, should nothing else come of it. */
  routed?(ticket: string): void;
  /** The upstream answers with a stream that can be taken up from its beginning. */
  primed?(ticket?: string): void;
  /** The upstream let go of its connection in mid-answer; the stream goes on elsewhere. */
  released?(): void;
}

/** A question that an earlier life of an exchange's holder has put to the client, and is open. */
export interface OpenQuestion {
  /** The ticket that it went out with. */
  readonly ticket: string;
  /** Waits on for the answer: like `Peer.ask`. */
  readonly wait: (signal: AbortSignal, brought: Promise<void>) => Promise<Reply>;
}
