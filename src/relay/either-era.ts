/**
 * A server, as a legacy session has it, whichever era it speaks: the client's own where it can, else
 * the newer one. Which it is shows when it is needed first, is remembered, and is found out anew when
 * the server does not speak that era any more. Satisfies the `Dispatch` port of the sessions.
 */

import type { Call, OpenQuestion, Peer } from "../protocol/exchange.ts";
import type { Reply } from "../protocol/json-rpc.ts";
import type { Era } from "../protocol/revisions.ts";
import type { Dispatch, Forgotten, Watched } from "../sessions/dispatch.ts";
import { failureReply, isOtherEra } from "../upstream/upstream-error.ts";

export interface EitherEraOptions {
  readonly slug: string;
  /** What the server was last found to speak. */
  readonly era: Era;
  /** The operator has said which era it is to be spoken to in. */
  readonly isFixed: boolean;
  /**
   * Makes the way to a server of one era. What it cannot do for the sake of the era rejects with an
   * UpstreamError `other-era`, and has not reached the server.
   */
  readonly make: (era: Era) => Dispatch;
}

interface Side {
  readonly era: Era;
  readonly dispatch: Dispatch;
}

export class EitherEra implements Dispatch {
  readonly #options: EitherEraOptions;
  #side: Side;

  constructor(options: EitherEraOptions) {
    this.#options = options;
    const { era, make } = options;
    this.#side = { era, dispatch: make(era) };
  }

  /** A modern server says nothing unasked. */
  get isSilent(): boolean {
    return this.#side.era === "modern";
  }

  /** An upstream's failure is an error reply. Rejects only with the reason of `signal`. */
  async request(call: Call, peer: Peer, signal: AbortSignal): Promise<Reply> {
    try {
      const send = ({ dispatch }: Side): Promise<Reply> => dispatch.request(call, peer, signal);
      // Where there is one era alone, nothing is sent a second time.
      if (this.#options.isFixed) return await send(this.#side);
      return (await this.#run(send)) ?? (await send(this.#side));
    } catch (error) {
      if (signal.aborted) throw error;
      // It refuses both eras.
      return failureReply(error, this.#options.slug);
    }
  }

  resume(
    ticket: string | undefined,
    peer: Peer,
    signal: AbortSignal,
    asked?: readonly OpenQuestion[],
  ): Promise<Reply> {
    return this.#side.dispatch.resume(ticket, peer, signal, asked);
  }

  answer(ticket: string, reply: Reply): Promise<boolean> {
    return this.#side.dispatch.answer(ticket, reply);
  }

  notify(call: Call): Promise<void> {
    return this.#side.dispatch.notify(call);
  }

  async listen(ticket: string | undefined): Promise<void> {
    await this.#run(({ dispatch }) => dispatch.listen(ticket));
  }

  unlisten(): void {
    this.#side.dispatch.unlisten();
  }

  watched(ticket: string | undefined): Promise<object | undefined> {
    return this.#run(({ dispatch }) => dispatch.watched(ticket));
  }

  handedOver(slug: string): void {
    this.#side.dispatch.handedOver(slug);
  }

  receive(watched: Watched): Promise<void> {
    return this.#side.dispatch.receive(watched);
  }

  forgotten(lost: Forgotten): Promise<void> {
    return this.#side.dispatch.forgotten(lost);
  }

  close(): Promise<void> {
    return this.#side.dispatch.close();
  }

  /** @returns `undefined` when the server speaks the other era: then what is done next is in that. */
  async #run<T>(act: (side: Side) => Promise<T>): Promise<T | undefined> {
    const side = this.#side;
    try {
      return await act(side);
    } catch (error) {
      if (!isOtherEra(error)) throw error;
      this.#turnFrom(side);
      return undefined;
    }
  }

  #turnFrom(side: Side): void {
    // Another request may have found it out before.
    if (this.#options.isFixed || this.#side !== side) return;
    // There is nothing to be heard from it any more.
    side.dispatch.unlisten();
    const era = side.era === "legacy" ? "modern" : "legacy";
    this.#side = { era, dispatch: this.#options.make(era) };
  }
}
