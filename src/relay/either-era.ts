/**
 * The server of a legacy session, of either era: the client's own where the server supports it, else
 * the modern one. The era shows on first use, is saved, and is determined anew when the server no
 * longer supports it. Satisfies the `Dispatch` port of the sessions.
 */

import type { Call, OpenQuestion, Peer } from "../protocol/exchange.ts";
import type { Reply } from "../protocol/json-rpc.ts";
import type { Era } from "../protocol/revisions.ts";
import type { Dispatch, Forgotten, Watched } from "../sessions/dispatch.ts";
import { failureReply, isOtherEra } from "../upstream/upstream-error.ts";

export interface EitherEraOptions {
  readonly slug: string;
  /** The era that the server was last found to support. */
  readonly era: Era;
  /** The operator has configured the era. */
  readonly isFixed: boolean;
  /**
   * Makes the dispatch to a server of one era. A request that the server refuses for its era rejects
   * with an UpstreamError `other-era`, and did not run.
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

  /** A modern server sends nothing outside a request. */
  get isSilent(): boolean {
    return this.#side.era === "modern";
  }

  /** An upstream's failure is an error reply. Rejects only with the reason of `signal`. */
  async request(call: Call, peer: Peer, signal: AbortSignal): Promise<Reply> {
    try {
      const send = ({ dispatch }: Side): Promise<Reply> => dispatch.request(call, peer, signal);
      // With a configured era nothing is sent a second time.
      if (this.#options.isFixed) return await send(this.#side);
      return (await this.#run(send)) ?? (await send(this.#side));
    } catch (error) {
      if (signal.aborted) throw error;
      // The server refuses both eras.
      return failureReply(error, this.#options.slug);
    }
  }

  resume(
    resumeToken: string | undefined,
    peer: Peer,
    signal: AbortSignal,
    asked?: readonly OpenQuestion[],
  ): Promise<Reply> {
    return this.#side.dispatch.resume(resumeToken, peer, signal, asked);
  }

  answer(resumeToken: string, reply: Reply): Promise<boolean> {
    return this.#side.dispatch.answer(resumeToken, reply);
  }

  notify(call: Call): Promise<void> {
    return this.#side.dispatch.notify(call);
  }

  async listen(resumeToken: string | undefined): Promise<void> {
    await this.#run(({ dispatch }) => dispatch.listen(resumeToken));
  }

  unlisten(): void {
    this.#side.dispatch.unlisten();
  }

  watched(resumeToken: string | undefined): Promise<object | undefined> {
    return this.#run(({ dispatch }) => dispatch.watched(resumeToken));
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

  /** @returns `undefined` when the server is of the other era, which the next action then uses. */
  async #run<T>(act: (side: Side) => Promise<T>): Promise<T | undefined> {
    const side = this.#side;
    try {
      return await act(side);
    } catch (error) {
      if (!isOtherEra(error)) throw error;
      this.#switchFrom(side);
      return undefined;
    }
  }

  #switchFrom(side: Side): void {
    // Another request may have switched before.
    if (this.#options.isFixed || this.#side !== side) return;
    side.dispatch.unlisten();
    const era = side.era === "legacy" ? "modern" : "legacy";
    this.#side = { era, dispatch: this.#options.make(era) };
  }
}
