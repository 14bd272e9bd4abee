/**
 * One session at a legacy server, and what modern requests want of it beside their answers: log
 * messages of a level that is the session's and not theirs, and what the server says outside the
 * stream of any request, though it belongs to one.
 */

import { settleWithin } from "../../lib/time-out.ts";
import { RESOURCE_UPDATED } from "../../protocol/change-notices.ts";
import type { Call, Peer } from "../../protocol/exchange.ts";
import type { LogLevel } from "../../protocol/log-levels.ts";
import type { Reply } from "../../protocol/json-rpc.ts";
import { nullPeer } from "../../protocol/null-peer.ts";
import { modernClientToLegacyServer } from "../../protocol/revisions/translate-capabilities.ts";
import type { Introduced } from "../../protocol/revisions/introductions.ts";
import type { Transport } from "../../upstream/legacy/connect.ts";
import { LegacyConnection } from "../../upstream/legacy/connection.ts";
import { StandaloneListener } from "./standalone-listener.ts";
import { LogLevelControl } from "./log-level-control.ts";
import type {
  UpstreamSessionOptions,
  SessionRequest,
  SavedUpstreamSession,
} from "./upstream-session-options.ts";
import { UpstreamSubscriptions } from "./upstream-subscriptions.ts";

const REVISION = "2025-11-25";
/** What a call waits at most for its session to be subscribed. */
const ATTEND_WAIT_MS = 1000;
/** In all calls together. */
const MAX_OPEN_ASKS = 4096;
/** Of what a server says of itself. */
const MAX_SAVED_CHARS = 256 * 1024;

/** Outside a request there is nobody who could be asked, or told. */
const NOBODY = nullPeer("This belongs to no request that runs, or to one of several");

export class UpstreamSession {
  readonly #connection: LegacyConnection;
  #sessionId: string | undefined;
  #introduced: Introduced | undefined;
  readonly #canBeAsked: boolean;
  readonly #level: LogLevelControl;
  readonly #ear: StandaloneListener;
  #runs = 0;
  readonly #attended: () => ReadonlySet<string>;
  readonly #returning: () => Promise<void> | undefined;
  readonly #hear: (uri: string) => void;
  readonly #save: (change: SavedUpstreamSession) => void;
  readonly #subscriptions: UpstreamSubscriptions;
  /** A tool was called: what it does may be told here and nowhere else. */
  #isCalled: boolean;

  constructor(options: UpstreamSessionOptions) {
    const { target, client, quietMs, attended, hear, saved, save } = options;
    const { capabilities, clientInfo } = client;
    this.#canBeAsked = Object.keys(capabilities).length > 0;
    this.#level = new LogLevelControl(saved?.connection?.logLevel, (call, signal) =>
      this.#connection.request(call, this.#overhearing(NOBODY), signal),
    );
    this.#ear = new StandaloneListener({
      quietMs,
      listen: () => this.#connection.listen(undefined),
      unlisten: () => this.#connection.unlisten(),
    });
    this.#sessionId = saved?.connection?.sessionId;
    this.#introduced = saved?.introduced;
    this.#attended = attended;
    this.#returning = options.returning ?? ((): undefined => undefined);
    this.#hear = hear;
    this.#save = save;
    this.#isCalled = saved?.isCalled ?? false;
    this.#subscriptions = new UpstreamSubscriptions({
      wanted: attended,
      granted: this.#isCalled ? attended() : [],
      request: (call) => this.#isGranted(call),
    });
    this.#connection = new LegacyConnection({
      ...{ target, saved: saved?.connection, isAttributed: true },
      unsolicited: this.#overhearing(NOBODY),
      subscriptions: () => this.#subscriptions.uris,
      save: (connection) => {
        this.#sessionId = connection.sessionId;
        save({ connection });
      },
      onReopened: () => {
        this.#subscriptions.renew();
        void this.#meet();
      },
      client: {
        ...{ revision: REVISION, clientInfo },
        capabilities: modernClientToLegacyServer(capabilities),
      },
      maxOpenAsks: MAX_OPEN_ASKS,
      onRefused: () => this.#ear.muted(),
    });
  }

  /** The server's name for the session, if it gave it one. */
  get sessionId(): string | undefined {
    return this.#sessionId;
  }

  /** How the server introduced itself, unless it never did. */
  get introduced(): Introduced | undefined {
    return this.#introduced;
  }

  /** Opens the session, if there is none. @throws UpstreamError when that cannot be done. */
  async ready(): Promise<Transport> {
    return (await this.#connection.ready()).transport;
  }

  /** @throws UpstreamError when the server cannot be reached, and never was. */
  async meet(): Promise<Introduced> {
    return this.#introduced ?? (await this.#connection.ready()).handshake;
  }

  /** @throws UpstreamError when no answer can be had; the reason of the signal. */
  async request({ call, logLevel, peer, signal }: SessionRequest): Promise<Reply> {
    return this.#running(logLevel, async () => {
      const { handshake, transport } = await this.#connection.ready();
      const isHearing = this.#canBeAsked || logLevel !== undefined;
      // Over HTTP+SSE everything is heard as it is.
      if (isHearing && transport !== "sse") await this.#ear.listen();
      await this.#level.agree(handshake.capabilities);
      if (call.method === "tools/call") await this.#prepare();
      signal.throwIfAborted();
      return this.#connection.request(call, this.#overhearing(peer), signal);
    });
  }

  /** A tool is about to be called: what that does may be told here alone, and while it runs. */
  async #prepare(): Promise<void> {
    if (!this.#isCalled) this.#save({ isCalled: true });
    this.#isCalled = true;
    const returning = this.#returning();
    if (returning === undefined && this.#attended().size === 0) return;
    const prepared = (async (): Promise<void> => {
      await returning;
      await this.attend();
    })();
    await settleWithin(prepared, ATTEND_WAIT_MS);
  }

  /**
   * Clients listen, and what they listen for may be told here while nothing runs: not by a server
   * that has no stream for it.
   */
  get isAttending(): boolean {
    return this.#isCalled && !this.#ear.isMute && this.#attended().size > 0;
  }

  /** What clients listen for may be another than before. Never rejects. */
  async attend(): Promise<void> {
    if (!this.#isCalled) return;
    if (this.#attended().size > 0) {
      try {
        const { transport } = await this.#connection.ready();
        if (this.isAttending && transport !== "sse") await this.#ear.listen();
      } catch {
        return; // the next call tells of the failure
      }
    } else if (this.#runs === 0) this.#ear.quieten();
    await this.#subscriptions.follow();
  }

  async #isGranted(call: Call): Promise<boolean> {
    const { signal } = new AbortController();
    const peer = this.#overhearing(NOBODY);
    const reply = await this.#connection.request(call, peer, signal).catch(() => undefined);
    return reply !== undefined && "result" in reply;
  }

  /** Wherever an update is said, it belongs to who listens for it. */
  #overhearing(peer: Peer): Peer {
    return {
      notify: (notice, ticket) => {
        const uri = notice.method === RESOURCE_UPDATED ? notice.params?.["uri"] : undefined;
        if (typeof uri === "string") this.#hear(uri);
        return peer.notify(notice, ticket);
      },
      ask: (question, withdrawn, ticket) => peer.ask(question, withdrawn, ticket),
      routed: (ticket) => peer.routed?.(ticket),
      primed: (ticket) => peer.primed?.(ticket),
      released: () => peer.released?.(),
    };
  }

  /** Log messages of a level are wanted while this runs: the server is told first, if it has any. */
  async hearing<T>(logLevel: LogLevel | undefined, run: () => Promise<T>): Promise<T> {
    return this.#running(logLevel, async () => {
      if (logLevel !== undefined) await this.#speakUp().catch(() => undefined); // or it stays silent
      return run();
    });
  }

  async #speakUp(): Promise<void> {
    const { handshake } = await this.#connection.ready();
    await this.#level.agree(handshake.capabilities);
  }

  /** Takes up a request of an earlier life. @throws as `request` does. */
  async resume(ticket: string | undefined, peer: Peer, signal: AbortSignal): Promise<Reply> {
    return this.#running(undefined, () =>
      this.#connection.resume(ticket, this.#overhearing(peer), signal),
    );
  }

  /** Answers a question of an earlier life. An answer that cannot be delivered is the server's loss. */
  async answer(ticket: string, reply: Reply): Promise<void> {
    await this.#connection.answer(ticket, reply);
  }

  /** Tells the server that nobody waits for a request of an earlier life, if that can be told. */
  async abandon(ticket: string, reason: string): Promise<void> {
    await this.#connection.abandon(ticket, reason).catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#ear.stop();
    await this.#connection.close();
  }

  /** There is a session that was not there before. */
  async #meet(): Promise<void> {
    const { handshake } = await this.#connection.ready();
    const { capabilities, serverInfo, instructions } = handshake;
    this.#introduced = {
      capabilities,
      serverInfo,
      ...(instructions === undefined ? {} : { instructions }),
    };
    const isLarge = JSON.stringify(this.#introduced).length > MAX_SAVED_CHARS;
    this.#save({ introduced: isLarge ? { capabilities: {}, serverInfo: {} } : this.#introduced });
  }

  async #running<T>(logLevel: LogLevel | undefined, run: () => Promise<T>): Promise<T> {
    const key = {};
    if (logLevel !== undefined) this.#level.want(key, logLevel);
    this.#runs += 1;
    try {
      return await run();
    } finally {
      this.#level.leave(key);
      this.#runs -= 1;
      if (this.#runs === 0 && !this.isAttending) this.#ear.quieten();
    }
  }
}
