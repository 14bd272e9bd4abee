/**
 * Legacy client, legacy server: sessions map one to one, and requests of both sides are relayed
 * directly, each hop with its own ids. Satisfies the `Dispatch` port of the sessions.
 */

import type { Call, Peer } from "../protocol/exchange.ts";
import type { Reply } from "../protocol/json-rpc.ts";
import type { Forgotten, Watched } from "../sessions/dispatch.ts";
import { type ConnectionOptions, LegacyConnection } from "../upstream/legacy/connection.ts";
import type { WatchOrder } from "../upstream/legacy/watch.ts";
import { failureReply } from "../upstream/upstream-error.ts";

export class LegacyRelay {
  readonly #slug: string;
  readonly #connection: LegacyConnection;

  constructor(options: ConnectionOptions) {
    this.#slug = options.target.slug;
    this.#connection = new LegacyConnection(options);
  }

  request(call: Call, peer: Peer, signal: AbortSignal): Promise<Reply> {
    return this.#replyTo(this.#connection.request(call, peer, signal), signal);
  }

  resume(ticket: string | undefined, peer: Peer, signal: AbortSignal): Promise<Reply> {
    return this.#replyTo(this.#connection.resume(ticket, peer, signal), signal);
  }

  async answer(ticket: string, reply: Reply): Promise<void> {
    // An answer that cannot be delivered is the server's loss; its own timeout tells it.
    await this.#connection.answer(ticket, reply).catch(() => undefined);
  }

  async notify(call: Call): Promise<void> {
    // A notification has no answer that could tell of a failure; the next request will.
    await this.#connection.notify(call).catch(() => undefined);
  }

  watched(ticket: string | undefined): Promise<WatchOrder | undefined> {
    return this.#connection.watched(ticket);
  }

  async receive({ parsed, lastEventId, isRepeated, known }: Watched): Promise<void> {
    if (parsed === undefined) {
      if (lastEventId !== undefined) this.#connection.primed(lastEventId);
      return;
    }
    if (isRepeated === true && this.#connection.isKnown(lastEventId, known)) return;
    await this.#connection.receive(parsed, lastEventId);
  }

  forgotten({ sessionId }: Forgotten): Promise<void> {
    return this.#connection.forgotten(sessionId);
  }

  async listen(ticket: string | undefined): Promise<void> {
    // An upstream that is down is tried again by the next call.
    await this.#connection.listen(ticket).catch(() => undefined);
  }

  unlisten(): void {
    this.#connection.unlisten();
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /** An upstream's failure is an answer; only a cancelled call has none. */
  async #replyTo(reply: Promise<Reply>, signal: AbortSignal): Promise<Reply> {
    try {
      return await reply;
    } catch (error) {
      if (signal.aborted) throw error;
      return failureReply(error, this.#slug);
    }
  }
}
