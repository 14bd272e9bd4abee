/**
 * Legacy client, legacy server: sessions map one to one, and requests of both sides are relayed
 * directly, each hop with its own ids. Satisfies the `Dispatch` port of the sessions.
 */

import type { Call, OpenQuestion, Peer } from "../../protocol/exchange.ts";
import type { Reply } from "../../protocol/json-rpc.ts";
import type { LegacyRevision } from "../../protocol/revisions.ts";
import type { Forgotten, Watched } from "../../sessions/dispatch.ts";
import { type ConnectionOptions, LegacyConnection } from "../../upstream/legacy/connection.ts";
import type { StandaloneWatchRequest } from "../../upstream/legacy/watch-standalone-stream.ts";
import { failureReply, isOtherEra } from "../../upstream/upstream-error.ts";
import { type Sent, TaskTools } from "../tasks/task-tools.ts";
import { translatedReply, translatingPeer } from "./translating.ts";

export interface LegacyRelayOptions extends ConnectionOptions {
  /** The client may use tasks at this server itself (2025-11-25, tasks). */
  readonly hasTasks: boolean;
  /** The largest number of the server's tools that are looked at. */
  readonly maxTools: number;
}

export class LegacyRelay {
  readonly #slug: string;
  readonly #revision: LegacyRevision;
  readonly #connection: LegacyConnection;
  /** Runs tools that are tasks, for a client that cannot. */
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
    const translating = translatingPeer(unsolicited, client.revision);
    this.#connection = new LegacyConnection({ ...options, unsolicited: translating });
  }

  /** @throws UpstreamError `other-era` when the server has no legacy era. */
  request(call: Call, peer: Peer, signal: AbortSignal): Promise<Reply> {
    const translating = translatingPeer(peer, this.#revision);
    return this.#replyTo(this.#send(call, translating, signal), signal, call.method);
  }

  async #send(call: Call, peer: Peer, signal: AbortSignal): Promise<Reply> {
    const connection = this.#connection;
    if (this.#tasks === undefined) return connection.request(call, peer, signal);
    const { handshake } = await connection.ready();
    const plain = { call: withoutTask(call), peer, signal };
    return this.#tasks.send(this.#sender, plain, handshake.capabilities);
  }

  resume(
    resumeToken: string | undefined,
    peer: Peer,
    signal: AbortSignal,
    asked?: readonly OpenQuestion[],
  ): Promise<Reply> {
    const translating = translatingPeer(peer, this.#revision);
    return this.#replyTo(this.#resume(resumeToken, translating, signal, asked), signal);
  }

  async #resume(
    resumeToken: string | undefined,
    peer: Peer,
    signal: AbortSignal,
    asked?: readonly OpenQuestion[],
  ): Promise<Reply> {
    const reply = await this.#connection.resume(resumeToken, peer, signal, asked);
    return this.#tasks?.finish(this.#sender, { peer, signal }, reply) ?? reply;
  }

  answer(resumeToken: string, reply: Reply): Promise<boolean> {
    return this.#connection.answer(resumeToken, reply);
  }

  async notify(call: Call): Promise<void> {
    // A notification has no answer that could report a failure; the next request reports it.
    await this.#connection.notify(call).catch(() => undefined);
  }

  watched(resumeToken: string | undefined): Promise<StandaloneWatchRequest | undefined> {
    return this.#connection.watched(resumeToken);
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
  async listen(resumeToken: string | undefined): Promise<void> {
    try {
      await this.#connection.listen(resumeToken);
      await this.#connection.standing;
    } catch (error) {
      if (isOtherEra(error)) throw error;
      // The next call tries an upstream that is down again.
    }
  }

  unlisten(): void {
    this.#connection.unlisten();
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /**
   * An upstream's failure is an error reply. Rejects for a cancelled call, and with `other-era`.
   *
   * @param method of the request; unknown after a restart.
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

/** Tasks were not advertised to this client, so its `task` member is removed. */
function withoutTask({ method, params }: Call): Call {
  if (params === undefined) return { method };
  const { task: _, ...rest } = params;
  return { method, params: rest };
}
