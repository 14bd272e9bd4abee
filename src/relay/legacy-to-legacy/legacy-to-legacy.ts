/**
 * Legacy client, legacy server: sessions map one to one, and requests of both sides are relayed
 * directly, each hop with its own ids. Satisfies the `Dispatch` port of the sessions.
 */

import type { Call, OpenQuestion, Peer } from "../../protocol/exchange.ts";
import type { Reply } from "../../protocol/json-rpc.ts";
import type { LegacyRevision } from "../../protocol/revisions.ts";
import type { Forgotten, Watched } from "../../sessions/dispatch.ts";
import { LegacyConnection } from "../../upstream/legacy/connection.ts";
import type { ConnectionOptions } from "../../upstream/legacy/connection-options.ts";
import type { StandaloneWatchRequest } from "../../upstream/legacy/watch-standalone-stream.ts";
import { failureReply, isOtherEra } from "../../upstream/upstream-error.ts";
import { type Sent, TaskTools } from "../tasks/task-tools.ts";
import { translatedReply, translatingPeer } from "./translating.ts";

export interface LegacyRelayOptions extends ConnectionOptions {
  /** Whether the client may use tasks at this server by itself (2025-11-25, tasks). */
  readonly hasTasks: boolean;
  /** How many of the server's tools are looked at. */
  readonly maxTools: number;
}

export class LegacyRelay {
  readonly #slug: string;
  readonly #revision: LegacyRevision;
  readonly #connection: LegacyConnection;
  /** Runs what the client cannot run, if it cannot. */
  readonly #tasks: TaskTools | undefined;
  readonly #sender = {
    request: ({ call, peer, signal }: Sent): Promise<Reply> =>
      this.#connection.request(call, peer, signal),
  };

  constructor(options: LegacyRelayOptions) {
    const { target, client, unsolicited, hasTasks, maxTools } = options;
    this.#slug = target.slug;
    this.#revision = client.revision;
    this.#tasks = hasTasks ? undefined : new TaskTools(target.slug, () => Date.now(), maxTools);
    const told = translatingPeer(unsolicited, client.revision);
    this.#connection = new LegacyConnection({ ...options, unsolicited: told });
  }

  /** @throws UpstreamError `other-era` when the server has no legacy era. */
  request(call: Call, peer: Peer, signal: AbortSignal): Promise<Reply> {
    const told = translatingPeer(peer, this.#revision);
    return this.#replyTo(this.#send(call, told, signal), signal, call.method);
  }

  async #send(call: Call, peer: Peer, signal: AbortSignal): Promise<Reply> {
    const connection = this.#connection;
    if (this.#tasks === undefined) return connection.request(call, peer, signal);
    const { handshake } = await connection.ready();
    const plain = { call: withoutTask(call), peer, signal };
    return this.#tasks.send(this.#sender, plain, handshake.capabilities);
  }

  resume(
    ticket: string | undefined,
    peer: Peer,
    signal: AbortSignal,
    asked?: readonly OpenQuestion[],
  ): Promise<Reply> {
    const told = translatingPeer(peer, this.#revision);
    return this.#replyTo(this.#resume(ticket, told, signal, asked), signal);
  }

  async #resume(
    ticket: string | undefined,
    peer: Peer,
    signal: AbortSignal,
    asked?: readonly OpenQuestion[],
  ): Promise<Reply> {
    const reply = await this.#connection.resume(ticket, peer, signal, asked);
    return this.#tasks?.finish(this.#sender, { peer, signal }, reply) ?? reply;
  }

  answer(ticket: string, reply: Reply): Promise<boolean> {
    return this.#connection.answer(ticket, reply);
  }

  async notify(call: Call): Promise<void> {
    // A notification has no answer that could tell of a failure; the next request will.
    await this.#connection.notify(call).catch(() => undefined);
  }

  watched(ticket: string | undefined): Promise<StandaloneWatchRequest | undefined> {
    return this.#connection.watched(ticket);
  }

  handedOver(): void {
    this.#connection.handedOver();
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

  /** @throws UpstreamError `other-era` when the server has no legacy era. */
  async listen(ticket: string | undefined): Promise<void> {
    try {
      await this.#connection.listen(ticket);
      await this.#connection.standing;
    } catch (error) {
      if (isOtherEra(error)) throw error;
      // An upstream that is down is tried again by the next call.
    }
  }

  unlisten(): void {
    this.#connection.unlisten();
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /**
   * An upstream's failure is an answer; only a cancelled call has none.
   *
   * @param method of the request; after a restart it is not known.
   */
  async #replyTo(reply: Promise<Reply>, signal: AbortSignal, method?: string): Promise<Reply> {
    try {
      const reader = { revision: this.#revision, hasTasks: this.#tasks === undefined };
      return translatedReply(await reply, reader, method);
    } catch (error) {
      if (signal.aborted || isOtherEra(error)) throw error;
      return failureReply(error, this.#slug);
    }
  }
}

/** What was not advertised is not heeded. */
function withoutTask({ method, params }: Call): Call {
  if (params === undefined) return { method };
  const { task: _, ...rest } = params;
  return { method, params: rest };
}
