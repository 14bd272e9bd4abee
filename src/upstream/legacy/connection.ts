/**
 * One legacy session at one upstream, for one client: opened by a handshake on first use, kept,
 * and repaired when the upstream forgets it. The transport is a wire underneath.
 *
 * A call is sent a second time in one case only: the upstream refused the session id, so the call
 * provably did not run.
 */

import { type Backoff, pauseMs } from "../../lib/backoff.ts";
import { mapLimited } from "../../lib/map-limited.ts";
import { Recent } from "../../lib/recent.ts";
import { retry } from "../../lib/retry.ts";
import { sleep } from "../../lib/sleep.ts";
import {
  type Call,
  type OpenQuestion,
  type Peer,
  withoutResumeTokens,
} from "../../protocol/exchange.ts";
import {
  type JsonRpcResponse,
  notification,
  type Parsed,
  type Reply,
  respond,
} from "../../protocol/json-rpc.ts";
import type { UpstreamTarget } from "../target.ts";
import { isModernOnly, modernOnly } from "../modern/discover.ts";
import { refusalOf } from "../server-message.ts";
import { UpstreamError, type UpstreamFailure } from "../upstream-error.ts";
import { connect, type Connected, restoreWire } from "./find-transport.ts";
import { Exchanges } from "./exchanges.ts";
import type { Handshake, LegacyClient } from "./handshake.ts";
import { resumeExchange, runExchange } from "./run-exchange.ts";
import { type SavedConnection, saveConnection } from "./saved-connection.ts";
import {
  readResumeToken,
  type Recipient,
  withResumeTokens,
  writeResumeToken,
} from "./resume-token.ts";
import { agreedHandshake, forgetHandshake, noteHandshake } from "./sessionless.ts";
import type { StandaloneWatchRequest, WatchedMessage } from "./watch-standalone-stream.ts";
import type { StandaloneStreamListener, Wire } from "./wire.ts";

export interface ConnectionOptions {
  readonly target: UpstreamTarget;
  readonly client: LegacyClient;
  /** Receives the messages that belong to no request. */
  readonly unsolicited: Peer;
  /** Called with the new state whenever it changes. */
  readonly save: (state: SavedConnection) => void;
  /** Called when a new session has replaced a forgotten one. */
  readonly onReopened?: () => void;
  readonly saved?: SavedConnection | undefined;
  /**
   * The log level that the client has set for every server. It is sent to this one, if it logs,
   * whenever a session is opened. Without it, the level that the client set at this one is sent again.
   */
  readonly logLevel?: () => string | undefined;
  /**
   * The resources that every session is subscribed to when it is opened, kept by the caller. Without
   * it, the connection keeps the client's own subscriptions and makes them again.
   */
  readonly subscriptions?: () => readonly string[];
  /**
   * Attributes a message that belongs to no request to the only running request, if there is exactly
   * one: for a client that receives no other messages.
   */
  readonly isAttributed?: boolean;
  /** The largest number of the server's requests that may be open at once. */
  readonly maxOpenAsks?: number;
  /** Called when the server turns out not to offer the standalone GET stream. */
  readonly onRefused?: () => void;
}

const MAX_QUIET_REPAIRS = 8;
const REPAIR_BACKOFF: Backoff = { firstMs: 500 };
const BROKEN: ReadonlySet<UpstreamFailure> = new Set(["unreachable", "lost"]);
const ANSWER_RETRIES = { attempts: 4, backoff: { firstMs: 100 }, isTransient: isBroken };
const MAX_RECEIVED = 64;
const MAX_KEY_CHARS = 512;
const RESTORED_AT_ONCE = 4;
/** The session id is stored, and sent with every request. */
const MAX_SESSION_ID_CHARS = 4096;

export class LegacyConnection {
  readonly #options: ConnectionOptions;
  readonly #recipient: Recipient;
  readonly #exchanges: Exchanges;
  readonly #received = new Recent(MAX_RECEIVED);
  #connected: Connected | undefined;
  #repairing: Promise<Connected> | undefined;
  /** The standalone stream has a listener, here or where the client's stream is. */
  #hasListener = false;
  #standing: Promise<void> | undefined;
  #isClosed = false;
  #logLevel: string | undefined;
  /** The client's own subscriptions, unless the caller keeps them. */
  readonly #subscriptions: Set<string>;

  constructor(options: ConnectionOptions) {
    const { target, unsolicited, subscriptions, saved } = options;
    this.#options = options;
    this.#recipient = withResumeTokens(unsolicited);
    this.#subscriptions = new Set(subscriptions === undefined ? saved?.subscriptions : []);
    this.#exchanges = new Exchanges(
      async (response) => {
        const wire = this.#connected?.wire;
        return wire === undefined || sendAnswer(wire, response);
      },
      (question) => refusalOf(target, question),
      options.maxOpenAsks,
    );
    if (saved === undefined) return;
    const { transport, handshake } = saved;
    const wire = restoreWire(target, transport, this.#deliver, saved);
    this.#connected = { wire, transport, handshake };
    this.#logLevel = saved.logLevel;
  }

  /** Takes the messages that belong to no request, and all messages of the stream of HTTP+SSE. */
  readonly #deliver = async (parsed: Parsed, lastEventId?: string): Promise<void> => {
    if (lastEventId !== undefined) {
      // When a watch is handed over, the old one ends after the point where the new one begins.
      const key = `${lastEventId}\n${JSON.stringify(parsed.message).slice(0, MAX_KEY_CHARS)}`;
      if (!this.#received.add(key)) return;
    }
    const sole = this.#options.isAttributed === true ? this.#exchanges.sole : undefined;
    // An event id of this stream is no position in the stream of a request.
    if (sole === undefined) await this.#exchanges.receive(parsed, this.#recipient, lastEventId);
    else await this.#exchanges.receive(parsed, sole);
  };

  /** Shakes hands and no more, for a caller that only needs the server's introduction. */
  async open(): Promise<Handshake> {
    return (await this.#open()).handshake;
  }

  /** Opens the session, if there is none. The handshake of a restored session is not complete. */
  async ready(): Promise<Pick<Connected, "handshake" | "transport">> {
    return this.#ready();
  }

  async #open(): Promise<Connected> {
    const connected = await this.#connect();
    if (this.#isClosed) {
      // The connection was closed while the session was being opened.
      await connected.wire.close();
      throw this.#failed("lost", "was left when the session ended");
    }
    if ((connected.wire.sessionId?.length ?? 0) > MAX_SESSION_ID_CHARS) {
      await connected.wire.close();
      throw this.#failed(
        "malformed",
        `gave its session an id of over ${MAX_SESSION_ID_CHARS} characters`,
      );
    }
    this.#connected = connected;
    this.#received.clear(); // another session may give the same ids again
    this.#persist();
    return connected;
  }

  async #connect(): Promise<Connected> {
    const { target, client } = this.#options;
    if (target.era === "modern") throw modernOnly(target);
    try {
      return await connect(target, client, this.#exchanges, this.#deliver);
    } catch (error) {
      throw (await isModernOnly(error, target)) ? modernOnly(target) : error;
    }
  }

  /**
   * Relays one request.
   *
   * @param signal aborted when the client cancels: the upstream is sent `notifications/cancelled`,
   *   and the promise rejects with the abort reason.
   * @throws UpstreamError when no answer is available.
   */
  async request(call: Call, peer: Peer, signal: AbortSignal): Promise<Reply> {
    const reply = await this.#withRepair((connected) => this.#run(connected, call, peer, signal));
    if ("result" in reply) this.#remember(call);
    return reply;
  }

  /**
   * Resumes a request that was sent before a restart, where its stream broke.
   *
   * @param resumeToken of the last message that was received.
   * @param asked the open questions of the request: while one is open, its deadline is paused.
   * @throws UpstreamError `lost` when the server gave no event id to resume by.
   */
  async resume(
    resumeToken: string | undefined,
    peer: Peer,
    signal: AbortSignal,
    asked: readonly OpenQuestion[] = [],
  ): Promise<Reply> {
    const { request, progressToken, lastEventId } = readResumeToken(resumeToken ?? "");
    const wire = this.#connected?.wire;
    if (wire === undefined || request === undefined || lastEventId === undefined) {
      throw this.#failed(
        "lost",
        "was being waited for when the gateway restarted; the result is unknown",
      );
    }
    const addressed = { request, lastEventId };
    return resumeExchange(
      { target: this.#options.target, exchanges: this.#exchanges, wire, peer, signal, asked },
      progressToken === undefined ? addressed : { ...addressed, progressToken },
    );
  }

  /**
   * Answers a question that was asked before a restart. Never rejects.
   *
   * @returns true when the server has received or refused the answer.
   */
  async answer(resumeToken: string, reply: Reply): Promise<boolean> {
    const { ask } = readResumeToken(resumeToken);
    const wire = this.#connected?.wire;
    return ask === undefined || wire === undefined || sendAnswer(wire, respond(ask, reply));
  }

  /** Cancels a request that was sent before a restart. */
  async abandon(resumeToken: string, reason: string): Promise<void> {
    const { request: requestId } = readResumeToken(resumeToken);
    const params = { requestId, reason };
    if (requestId === undefined) return;
    await this.#connected?.wire.post(notification("notifications/cancelled", params));
  }

  /**
   * Relays one notification; a forgotten session is opened again for it. Never rejects: a notification has
   * no answer that could report a failure, and the next request reports it.
   */
  async notify(call: Call): Promise<void> {
    const message = notification(call.method, call.params);
    await this.#withRepair(({ wire }) => wire.post(message)).catch(() => undefined);
  }

  /** Runs `run`, and once more on a new session where the server refused it as of a forgotten one. */
  async #withRepair<T>(run: (connected: Connected) => Promise<T>): Promise<T> {
    const connected = await this.#ready();
    try {
      return await run(connected);
    } catch (error) {
      if (!(error instanceof UpstreamError) || error.failure !== "session-lost") throw error;
      return run(await this.#repair(connected));
    }
  }

  /** Opens the session when this is its first use, or an earlier repair has failed. */
  #ready(): Promise<Connected> {
    if (this.#repairing !== undefined) return this.#repairing;
    return this.#connected === undefined ? this.#repair() : Promise.resolve(this.#connected);
  }

  /**
   * Describes the standalone stream for another object that is to watch it instead. Until
   * `handedOver` this connection listens.
   *
   * @param resumeToken of the last message that belonged to no request, if there was one.
   * @returns `undefined` for HTTP+SSE, whose one stream carries everything.
   */
  async watched(resumeToken: string | undefined): Promise<StandaloneWatchRequest | undefined> {
    const { wire, transport, handshake } = await this.#ready();
    if (transport === "sse") return undefined;
    const { lastEventId } = readResumeToken(resumeToken ?? "");
    return {
      revision: handshake.revision,
      ...(wire.sessionId === undefined ? {} : { sessionId: wire.sessionId }),
      ...(wire.accountId === undefined ? {} : { accountId: wire.accountId }),
      ...(lastEventId === undefined ? {} : { lastEventId }),
    };
  }

  /** Another object watches instead. */
  handedOver(): void {
    this.#connected?.wire.unlisten();
  }

  /** Takes a message that a watch received, or the place from which the stream can be resumed. */
  async receive({ parsed, lastEventId, isRepeated, known }: WatchedMessage): Promise<void> {
    if (parsed === undefined) {
      if (lastEventId !== undefined) this.#primed(lastEventId);
      return;
    }
    const isKnown =
      isRepeated === true &&
      lastEventId !== undefined &&
      readResumeToken(known ?? "").lastEventId === lastEventId;
    if (!isKnown) await this.#deliver(parsed, lastEventId);
  }

  /** The standalone stream can be resumed after this event. */
  #primed(lastEventId: string): void {
    this.#options.unsolicited.primed?.(writeResumeToken({ lastEventId }));
  }

  /** A watch found that the server has forgotten its session. */
  async forgotten(sessionId: string | undefined): Promise<void> {
    const connected = this.#connected;
    this.#hasListener = true; // the watch, which may have begun before a restart
    if (connected !== undefined && connected.wire.sessionId === sessionId)
      await this.#repairWhileListening(connected);
  }

  /** Opens the standalone stream, and the session if there is none. */
  async listen(resumeToken: string | undefined): Promise<void> {
    this.#hasListener = true;
    const connected = await this.#ready();
    if (this.#hasListener && !this.#isClosed)
      this.#listenOn(connected, readResumeToken(resumeToken ?? "").lastEventId);
  }

  /** Resolves when the previous listener can stop: the server has answered the GET request. */
  get standing(): Promise<void> | undefined {
    return this.#standing;
  }

  #listenOn(connected: Connected, lastEventId?: string): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#standing = promise;
    const listener: StandaloneStreamListener = {
      deliver: this.#deliver,
      primed: (id) => this.#primed(id),
      onLost: () => void this.#repairWhileListening(connected),
      refused: () => this.#options.onRefused?.(),
      standing: resolve,
    };
    connected.wire.listen(listener, lastEventId);
  }

  unlisten(): void {
    this.#hasListener = false;
    this.#connected?.wire.unlisten();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#hasListener = false;
    this.#exchanges.withdrawAllAsks();
    const connected = this.#connected;
    this.#connected = undefined;
    await connected?.wire.close();
  }

  #run({ wire }: Connected, call: Call, peer: Peer, signal: AbortSignal): Promise<Reply> {
    const { target } = this.#options;
    return runExchange({ target, exchanges: this.#exchanges, wire, call, peer, signal });
  }

  /** Opens a new session in place of a forgotten one; many calls may find it forgotten at once. */
  #repair(forgotten?: Connected): Promise<Connected> {
    if (this.#repairing !== undefined) return this.#repairing;
    // Another call found it forgotten earlier, and the repair is done.
    if (this.#connected !== undefined && this.#connected !== forgotten) {
      return Promise.resolve(this.#connected);
    }
    this.#exchanges.withdrawAllAsks();
    forgotten?.wire.drop();
    this.#connected = undefined;
    this.#repairing = this.#reopen(forgotten !== undefined)
      .catch((error: unknown) => {
        void this.#connected?.wire.close(); // a half-restored session is not usable
        this.#connected = undefined;
        throw error;
      })
      .finally(() => {
        this.#repairing = undefined;
      });
    return this.#repairing;
  }

  /** Repairs the session without a call, since without one nothing else would notice its loss. */
  async #repairWhileListening(forgotten: Connected): Promise<void> {
    for (let attempt = 0; attempt < MAX_QUIET_REPAIRS; attempt++) {
      await sleep(pauseMs(REPAIR_BACKOFF, attempt));
      const isRepaired = this.#connected !== undefined && this.#connected !== forgotten;
      if (!this.#hasListener || this.#isClosed || isRepaired) return;
      try {
        await this.#repair(forgotten);
        return;
      } catch {
        // The upstream may be on its way up. The next request reports the failure to the client.
      }
    }
  }

  /** Brings a new session to the state of the old one. @param isForgotten the server must be asked. */
  async #reopen(isForgotten: boolean): Promise<Connected> {
    const { credentials } = this.#options.target;
    const accountId = credentials && (await credentials.account());
    const agreed = isForgotten ? undefined : this.#openAsAgreed(accountId);
    const connected = agreed ?? (await this.#openAnew(accountId));
    const { logging } = connected.handshake.capabilities;
    const wanted = logging === undefined ? undefined : this.#options.logLevel?.();
    const level = wanted ?? this.#logLevel;
    if (level !== undefined) {
      await this.#restore(connected, { method: "logging/setLevel", params: { level } });
    }
    const uris = this.#options.subscriptions?.() ?? [...this.#subscriptions];
    await mapLimited(uris, RESTORED_AT_ONCE, (uri) =>
      this.#restore(connected, { method: "resources/subscribe", params: { uri } }),
    );
    // Before the failed call runs again, because it may cause messages on the standalone stream.
    if (this.#hasListener) this.#listenOn(connected);
    this.#options.onReopened?.();
    return connected;
  }

  /** Opens a session at a server without sessions that has met an equal client: nothing is sent. */
  #openAsAgreed(accountId: string | undefined): Connected | undefined {
    const { target, client } = this.#options;
    const handshake = agreedHandshake(target, client, accountId);
    if (handshake === undefined) return undefined;
    const transport = "streamable-http";
    const saved = { sessionId: undefined, accountId, handshake };
    this.#connected = {
      wire: restoreWire(target, transport, this.#deliver, saved),
      transport,
      handshake,
    };
    this.#persist();
    return this.#connected;
  }

  async #openAnew(accountId: string | undefined): Promise<Connected> {
    const { target, client } = this.#options;
    forgetHandshake(target, client, accountId);
    const connected = await this.#open();
    await connected.wire.post(notification("notifications/initialized"));
    noteHandshake(target, client, connected);
    return connected;
  }

  async #restore(connected: Connected, call: Call): Promise<void> {
    // An event id of this call's stream is no position in the standalone stream.
    const peer = withoutResumeTokens(this.#options.unsolicited);
    await this.#run(connected, call, peer, new AbortController().signal);
  }

  /** Keeps the state that a call has set in the session, so that a repair can set it again. */
  #remember({ method, params }: Call): void {
    const level = params?.level;
    const uri = params?.uri;
    if (method === "logging/setLevel" && typeof level === "string") this.#logLevel = level;
    else if (this.#options.subscriptions !== undefined) return;
    else if (method === "resources/subscribe" && typeof uri === "string") {
      this.#subscriptions.add(uri);
    } else if (method === "resources/unsubscribe" && typeof uri === "string") {
      this.#subscriptions.delete(uri);
    } else return;
    this.#persist();
  }

  #persist(): void {
    if (this.#connected === undefined) return;
    this.#options.save(saveConnection(this.#connected, this.#logLevel, this.#subscriptions));
  }

  #failed(failure: UpstreamFailure, sentence: string): UpstreamError {
    return new UpstreamError(this.#options.target.slug, failure, sentence);
  }
}

/**
 * Sends a server the answer to one of its requests. A person may have given the answer and will not
 * give it again, so it is sent once more when the connection breaks. The server matches answers by
 * their id and ignores one that it already has. Never rejects.
 *
 * @returns `true` when the server has the answer or has refused it, which no later attempt would
 *   change. On `false` the server's own time-out ends its request.
 */
async function sendAnswer(wire: Wire, answer: JsonRpcResponse): Promise<boolean> {
  try {
    await retry(() => wire.post(answer), ANSWER_RETRIES);
    return true;
  } catch (error) {
    return !isBroken(error);
  }
}

/** The server may or may not have received the message. */
function isBroken(error: unknown): boolean {
  return error instanceof UpstreamError && BROKEN.has(error.failure);
}
