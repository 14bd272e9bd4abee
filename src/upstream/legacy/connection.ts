/**
 * One client's connection to one legacy server: its calls, what they leave behind in a restart, and the
 * standalone stream, which is listened to here or watched by another object.
 */

import { type Backoff, pauseMs } from "../../lib/backoff.ts";
import { sleep } from "../../lib/sleep.ts";
import { type Call, nullPeer, type OpenQuestion, type Peer } from "../../protocol/exchange.ts";
import { idKey, notification, type Parsed, type Reply, respond } from "../../protocol/json-rpc.ts";
import { namingTask } from "../../protocol/revisions/reserved-meta.ts";
import type { EndedAccount, UsableCredential } from "../credentials.ts";
import { UpstreamError } from "../upstream-error.ts";
import type { Connected } from "./find-transport.ts";
import { LegacySession, type SessionOptions } from "./legacy-session.ts";
import { isOfSession, readResumeToken, writeResumeToken } from "./resume-token.ts";
import { resumeExchange } from "./run-exchange.ts";
import type { StandaloneWatchRequest, WatchedMessage } from "./watch-standalone-stream.ts";
import type { MessageSession, StandaloneStreamListener } from "./wire.ts";

export interface ConnectionOptions extends SessionOptions {
  /** Called when a new session has replaced a forgotten one. */
  readonly onReopened?: () => void;
  /** Called when the standalone stream does not go on where it broke: messages on it may have been missed. */
  readonly onMissed?: () => void;
  /** Called when the server turns out not to offer the standalone GET stream. */
  readonly onRefused?: () => void;
}

const NO_PEER = nullPeer("Nobody waits for this request any more");
const MAX_QUIET_REPAIRS = 8;
const REPAIR_BACKOFF: Backoff = { firstMs: 500, maxMs: 64_000 };
/** A server that ended each session sooner would be asked for one every half a second. */
const STEADY_MS = 10_000;

export class LegacyConnection {
  readonly #options: ConnectionOptions;
  readonly #session: LegacySession;
  /** The standalone stream has a listener, here or where the client's stream is. */
  #hasListener = false;
  #standing: Promise<void> | undefined;
  /** That listener is here, and the stream is open. */
  #isReceiving = false;
  /** When the session was opened here, in milliseconds since 1970. */
  #openedAt = 0;
  /** Sessions that were lost since one was steady. */
  #losses = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#session = new LegacySession(options, (connected) => {
      this.#openedAt = Date.now();
      // Before the failed call runs again, because it may cause messages on the standalone stream.
      if (this.#hasListener) this.#listenOn(connected);
      // Over HTTP+SSE, the stream is the session.
      if (connected.transport === "sse") options.onMissed?.();
      options.onReopened?.();
    });
  }

  /** Shakes hands and no more, for a caller that only needs the server's introduction. */
  open(): Promise<Pick<Connected, "handshake" | "transport">> {
    return this.#session.shakeHands();
  }

  /** Opens the session, if there is none. The handshake of a restored session is not complete. */
  ready(): Promise<Pick<Connected, "handshake" | "transport">> {
    return this.#session.ready();
  }

  /**
   * Relays one request.
   *
   * @param signal aborted when the client cancels: the upstream is sent `notifications/cancelled`,
   *   and the promise rejects with the abort reason.
   * @throws UpstreamError when no answer is available.
   */
  request(call: Call, peer: Peer, signal: AbortSignal): Promise<Reply> {
    return this.#session.request(call, peer, signal);
  }

  /**
   * Resumes a request that was sent before a restart, where its stream broke.
   *
   * @param resumeToken of the last message that was received.
   * @param asked the open questions of the request: while one is open, its deadline is paused.
   * @throws UpstreamError `lost` when the server gave no event id to resume by, or has lost the session of the request.
   */
  async resume(
    resumeToken: string | undefined,
    peer: Peer,
    signal: AbortSignal,
    asked: readonly OpenQuestion[] = [],
  ): Promise<Reply> {
    const point = readResumeToken(resumeToken ?? "");
    const { request, progressToken, lastEventId, task } = point;
    const { target } = this.#options;
    const { connected, exchanges } = this.#session;
    const isHere = connected !== undefined && isOfSession(point, connected.wire);
    if (!isHere || request === undefined || lastEventId === undefined) {
      const sentence = "was being waited for when the gateway restarted; the result is unknown";
      throw new UpstreamError(target.slug, "lost", sentence);
    }
    const { wire } = connected;
    return resumeExchange(
      { target, exchanges, wire, peer, signal, asked },
      {
        ...{ request, lastEventId },
        ...(progressToken === undefined ? {} : { progressToken }),
        ...(task === undefined ? {} : { task }),
      },
    );
  }

  /**
   * Answers a question that was asked before a restart. Never rejects. In another session of the server the same
   * id is that of another question, which nobody has answered.
   *
   * @returns true when the server has received or refused the answer, or has lost the session of its question.
   */
  async answer(resumeToken: string, reply: Reply): Promise<boolean> {
    const { ask, task } = readResumeToken(resumeToken);
    if (ask === undefined || !this.isOfSession(resumeToken)) return true;
    return this.#session.answer(respond(ask, task === undefined ? reply : namingTask(task, reply)));
  }

  /** True unless the token is of another session than the server has now. */
  isOfSession(resumeToken: string | undefined): boolean {
    return isOfSession(readResumeToken(resumeToken ?? ""), this.#session.connected?.wire);
  }

  /** Cancels a request that was sent before a restart, and the task whose result it waits for. */
  async abandon(resumeToken: string, reason: string): Promise<void> {
    const { request: requestId, task: taskId } = readResumeToken(resumeToken);
    const params = { requestId, reason };
    const { connected } = this.#session;
    if (requestId === undefined || connected === undefined) return;
    if (!this.isOfSession(resumeToken)) return;
    await connected.wire.post(notification("notifications/cancelled", params));
    if (taskId === undefined) return;
    // A task does not end with the request that waits for it.
    const call = { method: "tasks/cancel", params: { taskId } };
    await this.#session.request(call, NO_PEER, new AbortController().signal);
  }

  /**
   * Relays one notification; a forgotten session is opened again for it. Never rejects: a notification has
   * no answer that could report a failure, and the next request reports it.
   */
  async notify(call: Call): Promise<void> {
    await this.#session.post(notification(call.method, call.params)).catch(() => undefined);
  }

  /**
   * Describes the standalone stream for another object that is to watch it instead. Until
   * `handedOver` this connection listens.
   *
   * @param resumeToken of the last message that belonged to no request, if there was one.
   * @returns `undefined` for HTTP+SSE, whose one stream carries everything.
   */
  async watched(resumeToken: string | undefined): Promise<StandaloneWatchRequest | undefined> {
    const { wire, transport, handshake } = await this.#session.ready();
    if (transport === "sse") return undefined;
    const lastEventId = placeIn(wire, resumeToken);
    return {
      revision: handshake.revision,
      ...(wire.sessionId === undefined ? {} : { sessionId: wire.sessionId }),
      ...(wire.accountId === undefined ? {} : { accountId: wire.accountId }),
      ...(lastEventId === undefined ? {} : { lastEventId }),
    };
  }

  /** Another object watches instead. */
  handedOver(): void {
    if (!this.#isReceiving) this.#options.onMissed?.();
    this.#isReceiving = false;
    this.#session.connected?.wire.unlisten();
  }

  /** Takes a message that a watch received, or the place from which the stream can be resumed. */
  async receive(watched: WatchedMessage): Promise<void> {
    const { parsed, lastEventId, isRepeated, known = [], hasMissed, sessionId } = watched;
    const wire = this.#session.connected?.wire;
    // A Worker of an earlier version does not say which session it watches.
    const session = sessionId === undefined || sessionId === wire?.sessionId ? wire : undefined;
    if (hasMissed === true) this.#options.onMissed?.();
    if (parsed === undefined) {
      if (lastEventId !== undefined && session !== undefined) this.#primed(session, lastEventId);
      return;
    }
    const isKnown =
      isRepeated === true &&
      session !== undefined &&
      known.some((token) => isTokenOf(token, session, parsed, lastEventId));
    if (!isKnown) await this.#session.deliver(session, parsed, lastEventId);
  }

  /** The standalone stream can be resumed after this event. */
  #primed({ sessionMark: session }: MessageSession, lastEventId: string): void {
    this.#options.unsolicited.primed?.(writeResumeToken({ lastEventId, session }));
  }

  /** A watch found that the server has forgotten its session. */
  async forgotten(sessionId: string | undefined): Promise<void> {
    const { connected } = this.#session;
    this.#hasListener = true; // the watch, which may have begun before a restart
    if (connected !== undefined && connected.wire.sessionId === sessionId)
      await this.#repairWhileListening(connected);
  }

  /**
   * Opens the standalone stream, and the session if there is none.
   *
   * @param isWatched another object watches the stream until this one is open, so nothing is missed in between.
   */
  async listen(resumeToken: string | undefined, isWatched = false): Promise<void> {
    this.#hasListener = true;
    const connected = await this.#session.ready();
    if (this.#hasListener && this.#session.connected === connected)
      this.#listenOn(connected, placeIn(connected.wire, resumeToken), isWatched);
  }

  /** Resolves when the previous listener can stop: the server has answered the GET request. */
  get standing(): Promise<void> | undefined {
    return this.#standing;
  }

  #listenOn(connected: Connected, lastEventId?: string, isWatched = false): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#standing = promise;
    let isWatchedStill = isWatched;
    const listener: StandaloneStreamListener = {
      deliver: (...message) => this.#session.deliver(connected.wire, ...message),
      primed: (id) => this.#primed(connected.wire, id),
      onLost: () => void this.#repairWhileListening(connected),
      refused: () => this.#options.onRefused?.(),
      opened: (isContinued) => {
        this.#isReceiving = true;
        if (!isContinued && !isWatchedStill) this.#options.onMissed?.();
      },
      broken: () => {
        this.#isReceiving = false;
      },
      standing: () => {
        isWatchedStill = false;
        resolve();
      },
    };
    connected.wire.listen(listener, lastEventId);
  }

  unlisten(): void {
    this.#hasListener = false;
    this.#isReceiving = false;
    this.#session.connected?.wire.unlisten();
  }

  /** Ends a session that was opened with this account; calls in it are lost where the server ends them. */
  accountEnded(ended: EndedAccount): Promise<void> {
    return this.#session.accountEnded(ended);
  }

  /** @param last the credential of the session, when its account has ended. */
  async close(last?: UsableCredential): Promise<void> {
    this.#hasListener = false;
    await this.#session.close(last);
  }

  /** Repairs the session without a call, since without one nothing else would notice its loss. */
  async #repairWhileListening(forgotten: Connected): Promise<void> {
    if (Date.now() - this.#openedAt > STEADY_MS) this.#losses = 0;
    const before = this.#losses++;
    for (let attempt = 0; attempt < MAX_QUIET_REPAIRS; attempt++) {
      await sleep(pauseMs(REPAIR_BACKOFF, before + attempt));
      const { connected, isClosed } = this.#session;
      const isRepaired = connected !== undefined && connected !== forgotten;
      if (!this.#hasListener || isClosed || isRepaired) return;
      try {
        await this.#session.repair(forgotten);
        return;
      } catch {
        // The upstream may be on its way up. The next request reports the failure to the client.
      }
    }
  }
}

/**
 * True when the token was written with this message. A question is known by its id as well, since a server uses none
 * twice in a session (MUST NOT).
 */
function isTokenOf(
  token: string,
  session: MessageSession,
  { kind, message }: Parsed,
  lastEventId: string | undefined,
): boolean {
  const point = readResumeToken(token);
  if (!isOfSession(point, session)) return false;
  if (lastEventId !== undefined && point.lastEventId === lastEventId) return true;
  return kind === "request" && point.ask !== undefined && idKey(point.ask) === idKey(message.id);
}

/** @returns the event after which the standalone stream is resumed; one of another session is no place in this one. */
function placeIn(session: MessageSession, resumeToken: string | undefined): string | undefined {
  const point = readResumeToken(resumeToken ?? "");
  return isOfSession(point, session) ? point.lastEventId : undefined;
}
