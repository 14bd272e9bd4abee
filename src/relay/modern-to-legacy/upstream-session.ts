/**
 * One session at a legacy server for modern requests. Beside their answers it brings them log
 * messages, whose level is the session's and not the request's, and the messages of the standalone
 * GET stream that belong to a request.
 */

import { Reconciler } from "../../lib/reconciler.ts";
import { settleWithin } from "../../lib/time-out.ts";
import { RESOURCE_UPDATED } from "../../protocol/change-notices.ts";
import {
  type Call,
  forwardingTo,
  nullPeer,
  type OpenQuestion,
  type Peer,
} from "../../protocol/exchange.ts";
import type { LogLevel } from "../../protocol/log-levels.ts";
import type { JsonObject, Reply } from "../../protocol/json-rpc.ts";
import { modernClientToLegacyServer } from "../../protocol/revisions/translate-capabilities.ts";
import type { Introduced } from "../../protocol/revisions/introductions.ts";
import type { Transport } from "../../upstream/legacy/find-transport.ts";
import { LegacyConnection } from "../../upstream/legacy/connection.ts";
import { StandaloneListener } from "./standalone-listener.ts";
import { LogLevelControl } from "./log-level-control.ts";
import type { CallPlace } from "./parked-calls.ts";
import type { SavedConnection } from "../../upstream/legacy/saved-connection.ts";
import type { UsableCredential } from "../../upstream/credentials.ts";
import type { UpstreamTarget } from "../../upstream/target.ts";

const REVISION = "2025-11-25";
/** The longest time that a call waits for the subscriptions of its session. */
const SUBSCRIBE_WAIT_MS = 1000;
/** Subscriptions and their ends under way at a time. */
const REQUESTS_AT_ONCE = 4;
/** Of all calls together. */
const MAX_OPEN_ASKS = 4096;
/** Of a server's introduction. */
const MAX_SAVED_CHARS = 256 * 1024;

/** Outside a request there is no client for a message or a question. */
const NO_PEER = nullPeer("This belongs to no request that runs, or to one of several");

export interface UpstreamSessionOptions {
  readonly target: UpstreamTarget;
  /** Its capabilities are modern, and declared for the whole session. */
  readonly client: { readonly capabilities: JsonObject; readonly clientInfo: JsonObject };
  /** The time that the standalone stream stays open after the last request, in milliseconds. */
  readonly quietMs: number;
  /**
   * The URIs that clients listen for: some servers send an update only in the session whose request
   * caused it.
   */
  readonly listenedUris: () => ReadonlySet<string>;
  /** Resolves when the clients that are about to listen again have done so. */
  readonly returning?: () => Promise<void> | undefined;
  /** Receives the URI of a resource that has changed. */
  readonly onUpdated: (uri: string) => void;
  readonly saved?: SavedUpstreamSession | undefined;
  /** Called with each change of the state. */
  readonly save: (change: SavedUpstreamSession) => void;
}

/** The state of a session that outlives memory; plain data of a bounded size. */
export interface SavedUpstreamSession {
  readonly connection?: SavedConnection;
  /** The server's introduction. */
  readonly introduced?: Introduced;
  /** A tool was called. */
  readonly isCalled?: boolean;
}

/** One request and the peer for its messages. */
export interface SessionRequest {
  readonly call: Call;
  readonly logLevel?: LogLevel;
  readonly peer: Peer;
  readonly signal: AbortSignal;
}

export class UpstreamSession {
  readonly #connection: LegacyConnection;
  #sessionId: string | undefined;
  #introduced: Introduced | undefined;
  readonly #canBeAsked: boolean;
  readonly #level: LogLevelControl;
  readonly #listener: StandaloneListener;
  #standaloneToken: string | undefined;
  #runs = 0;
  readonly #listenedUris: () => ReadonlySet<string>;
  readonly #returning: () => Promise<void> | undefined;
  readonly #onUpdated: (uri: string) => void;
  readonly #save: (change: SavedUpstreamSession) => void;
  readonly #subscriptions: Reconciler<string>;
  /** A tool was called: updates that it causes may come in this session alone. */
  #isCalled: boolean;

  constructor(options: UpstreamSessionOptions) {
    const { target, client, quietMs, listenedUris, onUpdated, saved, save } = options;
    const { capabilities, clientInfo } = client;
    this.#canBeAsked = Object.keys(capabilities).length > 0;
    this.#level = new LogLevelControl(saved?.connection?.logLevel, (call, signal) =>
      this.#connection.request(call, this.#withUpdates(NO_PEER), signal),
    );
    this.#listener = new StandaloneListener({
      quietMs,
      listen: (resumeToken) => {
        this.#standaloneToken = resumeToken;
        return this.#connection.listen(resumeToken);
      },
      unlisten: () => this.#connection.unlisten(),
    });
    this.#sessionId = saved?.connection?.sessionId;
    this.#introduced = saved?.introduced;
    this.#listenedUris = listenedUris;
    this.#returning = options.returning ?? ((): undefined => undefined);
    this.#onUpdated = onUpdated;
    this.#save = save;
    this.#isCalled = saved?.isCalled ?? false;
    this.#subscriptions = new Reconciler({
      isWanted: (uri) => listenedUris().has(uri),
      unsure: this.#isCalled ? listenedUris() : [],
      add: (uri) => this.#isGranted({ method: "resources/subscribe", params: { uri } }),
      remove: (uri) => this.#isGranted({ method: "resources/unsubscribe", params: { uri } }),
      atOnce: REQUESTS_AT_ONCE,
      givesUp: true,
    });
    this.#connection = new LegacyConnection({
      target,
      saved: saved?.connection,
      isAttributed: () => true,
      unsolicited: this.#withUpdates(this.#notingPlace(NO_PEER)),
      subscriptions: () => this.#subscriptions.held().filter((uri) => listenedUris().has(uri)),
      save: (connection) => {
        this.#sessionId = connection.sessionId;
        save({ connection });
      },
      onReopened: () => {
        this.#subscriptions.forgetRefusals();
        void this.#meet();
      },
      client: {
        revision: REVISION,
        clientInfo,
        capabilities: modernClientToLegacyServer(capabilities),
      },
      maxOpenAsks: MAX_OPEN_ASKS,
      onRefused: () => this.#listener.muted(),
    });
  }

  /** The `Mcp-Session-Id`, if the server gave one. */
  get sessionId(): string | undefined {
    return this.#sessionId;
  }

  /** The resume token of the last message on the standalone stream, if the server can resume that. */
  get standaloneToken(): string | undefined {
    return this.#standaloneToken;
  }

  /** The server's introduction, once there was one. */
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

  /** @throws UpstreamError when no answer is available; the reason of the signal. */
  async request({ call, logLevel, peer, signal }: SessionRequest): Promise<Reply> {
    return this.#running(logLevel, async () => {
      const { handshake } = await this.#connection.ready();
      if (this.#canBeAsked || logLevel !== undefined) await this.#listen();
      await this.#level.agree(handshake.capabilities);
      if (call.method === "tools/call") await this.#prepare();
      signal.throwIfAborted();
      return this.#connection.request(call, this.#withUpdates(peer), signal);
    });
  }

  /** Opens the standalone stream. Over HTTP+SSE the one stream is always open. */
  async #listen(resumeToken?: string): Promise<void> {
    const { transport } = await this.#connection.ready();
    if (transport !== "sse") await this.#listener.listen(resumeToken);
  }

  /** Subscribes before a tool call, whose updates may come in this session alone, while it runs. */
  async #prepare(): Promise<void> {
    if (!this.#isCalled) this.#save({ isCalled: true });
    this.#isCalled = true;
    const returning = this.#returning();
    if (returning === undefined && this.#listenedUris().size === 0) return;
    const prepared = (async (): Promise<void> => {
      await returning;
      await this.followListeners();
    })();
    await settleWithin(prepared, SUBSCRIBE_WAIT_MS);
  }

  /**
   * True while clients listen for updates that may come here while no request runs. A server without
   * a standalone stream sends none.
   */
  get hasListeners(): boolean {
    return this.#isCalled && !this.#listener.isMute && this.#listenedUris().size > 0;
  }

  /** Follows a change of the URIs that clients listen for. Never rejects. */
  async followListeners(): Promise<void> {
    if (!this.#isCalled) return;
    if (this.#listenedUris().size > 0) {
      try {
        await this.#connection.ready();
        if (this.hasListeners) await this.#listen();
      } catch {
        return; // the next call reports the failure
      }
    } else if (this.#runs === 0) this.#listener.quieten();
    await this.#subscriptions.check([...this.#subscriptions.held(), ...this.#listenedUris()]);
  }

  async #isGranted(call: Call): Promise<boolean> {
    const { signal } = new AbortController();
    const peer = this.#withUpdates(NO_PEER);
    const reply = await this.#connection.request(call, peer, signal).catch(() => undefined);
    return reply !== undefined && "result" in reply;
  }

  /** A peer that passes each resource update to the clients that listen, whatever stream it came on. */
  #withUpdates(peer: Peer): Peer {
    return {
      ...forwardingTo(peer),
      notify: (notice, resumeToken) => {
        const uri = notice.method === RESOURCE_UPDATED ? notice.params?.uri : undefined;
        if (typeof uri === "string") this.#onUpdated(uri);
        return peer.notify(notice, resumeToken);
      },
    };
  }

  /** A peer that notes the place in the standalone stream after each of its messages. */
  #notingPlace(peer: Peer): Peer {
    const note = (resumeToken: string | undefined): void => {
      this.#standaloneToken = resumeToken ?? this.#standaloneToken;
    };
    return {
      notify: (notice, resumeToken) => {
        note(resumeToken);
        return peer.notify(notice);
      },
      ask: (question, withdrawn, resumeToken) => {
        note(resumeToken);
        return peer.ask(question, withdrawn);
      },
      primed: note,
    };
  }

  /** Runs `run` with at least this log level in the session; it is set first, if the server logs. */
  async withLogLevel<T>(logLevel: LogLevel | undefined, run: () => Promise<T>): Promise<T> {
    return this.#running(logLevel, async () => {
      // When the level cannot be set, the server keeps its old one.
      if (logLevel !== undefined) await this.#raiseLogLevel().catch(() => undefined);
      return run();
    });
  }

  async #raiseLogLevel(): Promise<void> {
    const { handshake } = await this.#connection.ready();
    await this.#level.agree(handshake.capabilities);
  }

  /** Resumes a request from before a restart, and answers its questions. @throws as `request` does. */
  async resume(
    { resumeToken, standaloneToken }: CallPlace,
    peer: Peer,
    signal: AbortSignal,
    asked: readonly OpenQuestion[],
  ): Promise<Reply> {
    return this.#running(undefined, async () => {
      // The server has asked about this request, and may go on on the stream that was lost.
      await this.#listen(standaloneToken);
      return this.#connection.resume(resumeToken, this.#withUpdates(peer), signal, asked);
    });
  }

  /** True unless the token is of another session than the server has now. */
  isOfSession(resumeToken: string | undefined): boolean {
    return this.#connection.isOfSession(resumeToken);
  }

  /** Answers a question from before a restart. An answer that cannot be delivered is dropped. */
  async answer(resumeToken: string, reply: Reply): Promise<void> {
    await this.#connection.answer(resumeToken, reply);
  }

  /** Cancels a request from before a restart. Never rejects. */
  async abandon(resumeToken: string, reason: string): Promise<void> {
    await this.#connection.abandon(resumeToken, reason).catch(() => undefined);
  }

  async close(last?: UsableCredential): Promise<void> {
    this.#listener.stop();
    await this.#connection.close(last);
  }

  /** Keeps the introduction of a session that has just been opened. */
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
      if (this.#runs === 0 && !this.hasListeners) this.#listener.quieten();
    }
  }
}
