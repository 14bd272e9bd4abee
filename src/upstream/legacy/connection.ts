/**
 * One legacy session at one upstream, for one client: opened by a handshake on first use, kept,
 * and repaired when the upstream forgets it. The transport is a wire underneath.
 *
 * A call is sent a second time in one case only: the upstream refused the session id at the
 * door, so the call provably did not run.
 */

import { Recent } from "../../lib/recent.ts";
import type { Call, OpenQuestion, Peer } from "../../protocol/exchange.ts";
import { notification, type Parsed, type Reply, respond } from "../../protocol/json-rpc.ts";
import type { UpstreamTarget } from "../target.ts";
import { isModernOnly, modernOnly } from "../modern/modern-only.ts";
import { refusalOf } from "../server-message.ts";
import { UpstreamError } from "../upstream-error.ts";
import { bringAnswer } from "./bring-answer.ts";
import { connect, type Connected, restoreWire } from "./connect.ts";
import type { ConnectionOptions } from "./connection-options.ts";
import { Exchanges } from "./exchanges.ts";
import type { Handshake, LegacyClient } from "./handshake.ts";
import { type Recipient, withResumeTokens } from "./recipient.ts";
import { resumeExchange, runExchange } from "./run-exchange.ts";
import { type SavedConnection, saveConnection } from "./saved-connection.ts";
import { readResumeToken, writeResumeToken } from "./resume-token.ts";
import type { StandaloneWatchRequest } from "./watch-standalone-stream.ts";
import type { StandaloneStreamListener } from "./wire.ts";

const MAX_QUIET_REPAIRS = 8;
const FIRST_PAUSE_MS = 500;
const MAX_HEARD = 64;
const MAX_KEY_CHARS = 512;
const RESTORED_AT_ONCE = 4;
/** It is kept, and sent with every request. */
const MAX_SESSION_ID_CHARS = 4096;

export class LegacyConnection {
  readonly #target: UpstreamTarget;
  readonly #client: LegacyClient;
  readonly #unsolicited: Peer;
  readonly #recipient: Recipient;
  readonly #save: (state: SavedConnection) => void;
  readonly #onReopened: (() => void) | undefined;
  readonly #wantedLogLevel: (() => string | undefined) | undefined;
  readonly #onRefused: (() => void) | undefined;
  readonly #isAttributed: boolean;
  readonly #exchanges: Exchanges;
  readonly #heard = new Recent(MAX_HEARD);
  #connected: Connected | undefined;
  #repairing: Promise<Connected> | undefined;
  /** Somebody wants to hear what belongs to no request, here or where the client's stream is. */
  #isWanted = false;
  #standing: Promise<void> | undefined;
  #isClosed = false;
  #logLevel: string | undefined;
  readonly #subscriptions: Set<string>;
  readonly #wantedSubscriptions: (() => readonly string[]) | undefined;

  constructor(options: ConnectionOptions) {
    const { target, client, unsolicited, save, onReopened, saved } = options;
    this.#target = target;
    this.#client = client;
    this.#unsolicited = unsolicited;
    this.#recipient = withResumeTokens(unsolicited);
    this.#save = save;
    this.#onReopened = onReopened;
    this.#wantedLogLevel = options.logLevel;
    this.#onRefused = options.onRefused;
    this.#isAttributed = options.isAttributed ?? false;
    this.#wantedSubscriptions = options.subscriptions;
    this.#subscriptions = new Set(options.subscriptions === undefined ? saved?.subscriptions : []);
    this.#exchanges = new Exchanges(
      async (response) => {
        const wire = this.#connected?.wire;
        return wire === undefined || bringAnswer(wire, response);
      },
      (question) => refusalOf(target, question),
      options.maxOpenAsks,
    );
    if (saved === undefined) return;
    this.#connected = {
      wire: restoreWire(target, saved.transport, this.#deliver, saved),
      transport: saved.transport,
      handshake: saved.handshake,
    };
    this.#logLevel = saved.logLevel;
  }

  /** Takes what belongs to no request, or comes on the one stream of HTTP+SSE. */
  readonly #deliver = async (parsed: Parsed, lastEventId?: string): Promise<void> => {
    if (lastEventId !== undefined) {
      // Where a watch is handed over, one ends after the place that the next begins at.
      const key = `${lastEventId}\n${JSON.stringify(parsed.message).slice(0, MAX_KEY_CHARS)}`;
      if (!this.#heard.add(key)) return;
    }
    const sole = this.#isAttributed ? this.#exchanges.sole : undefined;
    // The place in this stream says nothing of the place in that of a request.
    if (sole === undefined) await this.#exchanges.receive(parsed, this.#recipient, lastEventId);
    else await this.#exchanges.receive(parsed, sole);
  };

  /** Shakes hands and no more: for who only wants to know what the server says of itself. */
  async open(): Promise<Handshake> {
    return (await this.#open()).handshake;
  }

  /** Opens the session, if there is none. Of one of an earlier life, not all is known any more. */
  async ready(): Promise<Pick<Connected, "handshake" | "transport">> {
    return this.#ready();
  }

  async #open(): Promise<Connected> {
    const connected = await this.#connect();
    if (this.#isClosed) {
      // Closed while it was being opened: nobody is left to use it.
      await connected.wire.close();
      throw new UpstreamError(this.#target.slug, "lost", "was left when the session ended");
    }
    if ((connected.wire.sessionId?.length ?? 0) > MAX_SESSION_ID_CHARS) {
      await connected.wire.close();
      const sentence = `gave its session an id of over ${MAX_SESSION_ID_CHARS} characters`;
      throw new UpstreamError(this.#target.slug, "malformed", sentence);
    }
    this.#connected = connected;
    this.#heard.clear(); // another session may give the same ids again
    this.#persist();
    return connected;
  }

  async #connect(): Promise<Connected> {
    if (this.#target.era === "modern") throw modernOnly(this.#target);
    try {
      return await connect(this.#target, this.#client, this.#exchanges, this.#deliver);
    } catch (error) {
      throw (await isModernOnly(error, this.#target)) ? modernOnly(this.#target) : error;
    }
  }

  /**
   * Relays one request.
   *
   * @param signal aborted when the client cancels: the upstream is told, and the promise rejects
   *   with the abort reason.
   * @throws UpstreamError when no answer can be had.
   */
  async request(call: Call, peer: Peer, signal: AbortSignal): Promise<Reply> {
    const reply = await this.#withRepair((connected) => this.#run(connected, call, peer, signal));
    if ("result" in reply) this.#remember(call);
    return reply;
  }

  /**
   * Takes up a request of an earlier life of this object, where its stream broke.
   *
   * @param ticket of the last message that is known to have come.
   * @param asked its questions that are open: meanwhile its clock stands still.
   * @throws UpstreamError `lost` when the server gave nothing to take it up by.
   */
  async resume(
    ticket: string | undefined,
    peer: Peer,
    signal: AbortSignal,
    asked: readonly OpenQuestion[] = [],
  ): Promise<Reply> {
    const { request, progressToken, lastEventId } = readResumeToken(ticket ?? "");
    const wire = this.#connected?.wire;
    if (wire === undefined || request === undefined || lastEventId === undefined) {
      const sentence = "was being waited for when the gateway restarted; the result is unknown";
      throw new UpstreamError(this.#target.slug, "lost", sentence);
    }
    const addressed = { request, lastEventId };
    return resumeExchange(
      { target: this.#target, exchanges: this.#exchanges, wire, peer, signal, asked },
      progressToken === undefined ? addressed : { ...addressed, progressToken },
    );
  }

  /**
   * Answers a question that was asked in an earlier life of this object. Never rejects.
   *
   * @returns whether the server has the answer, or does not want it.
   */
  async answer(ticket: string, reply: Reply): Promise<boolean> {
    const { ask } = readResumeToken(ticket);
    const wire = this.#connected?.wire;
    return ask === undefined || wire === undefined || bringAnswer(wire, respond(ask, reply));
  }

  /** Gives up a request of an earlier life of this object. */
  async abandon(ticket: string, reason: string): Promise<void> {
    const { request: requestId } = readResumeToken(ticket);
    const params = { requestId, reason };
    if (requestId === undefined) return;
    await this.#connected?.wire.post(notification("notifications/cancelled", params));
  }

  /** Relays one notification; a session that was forgotten is opened again for it. */
  async notify(call: Call): Promise<void> {
    const message = notification(call.method, call.params);
    await this.#withRepair(({ wire }) => wire.post(message));
  }

  /** Runs what was refused because the session was forgotten once more, on a new session. */
  async #withRepair<T>(run: (connected: Connected) => Promise<T>): Promise<T> {
    const connected = await this.#ready();
    try {
      return await run(connected);
    } catch (error) {
      if (!(error instanceof UpstreamError) || error.failure !== "session-lost") throw error;
      return run(await this.#repair(connected));
    }
  }

  /** The session; opened now when this is its first use, or an earlier repair has failed. */
  #ready(): Promise<Connected> {
    if (this.#repairing !== undefined) return this.#repairing;
    return this.#connected === undefined ? this.#repair() : Promise.resolve(this.#connected);
  }

  /**
   * Says what to watch for somebody else, who does it instead. Until then this listens.
   *
   * @param ticket of the last message that belonged to no request, if there was one.
   * @returns what to watch; `undefined` where the transport brings everything on its own stream.
   */
  async watched(ticket: string | undefined): Promise<StandaloneWatchRequest | undefined> {
    const { wire, transport, handshake } = await this.#ready();
    if (transport === "sse") return undefined;
    const { lastEventId } = readResumeToken(ticket ?? "");
    return {
      revision: handshake.revision,
      ...(wire.sessionId === undefined ? {} : { sessionId: wire.sessionId }),
      ...(lastEventId === undefined ? {} : { lastEventId }),
    };
  }

  /** Somebody else watches instead. */
  handedOver(): void {
    this.#connected?.wire.unlisten();
  }

  /** Whether a watched message is the last one that is known. @param ticket of that one. */
  isKnown(lastEventId: string | undefined, ticket: string | undefined): boolean {
    return lastEventId !== undefined && readResumeToken(ticket ?? "").lastEventId === lastEventId;
  }

  /** Takes what a watch brings. */
  receive(parsed: Parsed, lastEventId: string | undefined): Promise<void> {
    return this.#deliver(parsed, lastEventId);
  }

  /** What belongs to no request can be taken up from here on. */
  primed(lastEventId: string): void {
    this.#unsolicited.primed?.(writeResumeToken({ lastEventId }));
  }

  /** A watch found that the server has forgotten its session. */
  async forgotten(sessionId: string | undefined): Promise<void> {
    const connected = this.#connected;
    this.#isWanted = true; // by whoever watched, maybe in an earlier life of this object
    if (connected !== undefined && connected.wire.sessionId === sessionId)
      await this.#repairWhileWanted(connected);
  }

  /** Listens to what belongs to no request; opens the session for it if need be. */
  async listen(ticket: string | undefined): Promise<void> {
    this.#isWanted = true;
    const connected = await this.#ready();
    if (this.#isWanted && !this.#isClosed)
      this.#listenOn(connected, readResumeToken(ticket ?? "").lastEventId);
  }

  /** Settles when whoever else listened can stop: the server has been asked, and has answered. */
  get standing(): Promise<void> | undefined {
    return this.#standing;
  }

  #listenOn(connected: Connected, lastEventId?: string): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#standing = promise;
    const listener: StandaloneStreamListener = {
      deliver: this.#deliver,
      primed: (id) => this.primed(id),
      onLost: () => void this.#repairWhileWanted(connected),
      refused: () => this.#onRefused?.(),
      standing: resolve,
    };
    connected.wire.listen(listener, lastEventId);
  }

  unlisten(): void {
    this.#isWanted = false;
    this.#connected?.wire.unlisten();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#isWanted = false;
    this.#exchanges.withdrawAllAsks();
    const connected = this.#connected;
    this.#connected = undefined;
    await connected?.wire.close();
  }

  #run({ wire }: Connected, call: Call, peer: Peer, signal: AbortSignal): Promise<Reply> {
    const { target, exchanges } = { target: this.#target, exchanges: this.#exchanges };
    return runExchange({ target, exchanges, wire, call, peer, signal });
  }

  /** Opens a new session in place of a forgotten one; many calls may find out at once. */
  #repair(forgotten?: Connected): Promise<Connected> {
    if (this.#repairing !== undefined) return this.#repairing;
    // Another call found out earlier, and the repair is done.
    if (this.#connected !== undefined && this.#connected !== forgotten) {
      return Promise.resolve(this.#connected);
    }
    this.#exchanges.withdrawAllAsks();
    forgotten?.wire.drop();
    this.#connected = undefined;
    this.#repairing = this.#reopen()
      .catch((error: unknown) => {
        void this.#connected?.wire.close(); // half restored is not repaired
        this.#connected = undefined;
        throw error;
      })
      .finally(() => {
        this.#repairing = undefined;
      });
    return this.#repairing;
  }

  /** Nobody calls, so nobody else would find out that the session is gone. */
  async #repairWhileWanted(forgotten: Connected): Promise<void> {
    for (let attempt = 0; attempt < MAX_QUIET_REPAIRS; attempt++) {
      await new Promise((resolve) => setTimeout(resolve, FIRST_PAUSE_MS * 2 ** attempt));
      const isRepaired = this.#connected !== undefined && this.#connected !== forgotten;
      if (!this.#isWanted || this.#isClosed || isRepaired) return;
      try {
        await this.#repair(forgotten);
        return;
      } catch {
        // Not yet: the upstream may be on its way up. The next request tells the client.
      }
    }
  }

  /** Brings a new session to the state of the old one. */
  async #reopen(): Promise<Connected> {
    const connected = await this.#open();
    await connected.wire.post(notification("notifications/initialized"));
    const level = this.#levelFor(connected.handshake);
    if (level !== undefined) {
      await this.#restore(connected, { method: "logging/setLevel", params: { level } });
    }
    const uris = this.#wantedSubscriptions?.() ?? [...this.#subscriptions];
    for (let first = 0; first < uris.length; first += RESTORED_AT_ONCE) {
      const some = uris.slice(first, first + RESTORED_AT_ONCE);
      await Promise.all(
        some.map((uri) =>
          this.#restore(connected, { method: "resources/subscribe", params: { uri } }),
        ),
      );
    }
    // Before the call that found out runs: it may be what the server has news of.
    if (this.#isWanted) this.#listenOn(connected);
    this.#onReopened?.();
    return connected;
  }

  async #restore(connected: Connected, call: Call): Promise<void> {
    // A place in the stream of this call is none in that of what belongs to no request.
    const peer: Peer = {
      notify: (notice) => this.#unsolicited.notify(notice),
      ask: (question, withdrawn) => this.#unsolicited.ask(question, withdrawn),
    };
    await this.#run(connected, call, peer, new AbortController().signal);
  }

  #levelFor({ capabilities }: Handshake): string | undefined {
    const wanted = capabilities["logging"] === undefined ? undefined : this.#wantedLogLevel?.();
    return wanted ?? this.#logLevel;
  }

  /** What the session at the server consists of, so that a repair can make it again. */
  #remember({ method, params }: Call): void {
    const level = params?.["level"];
    const uri = params?.["uri"];
    if (method === "logging/setLevel" && typeof level === "string") this.#logLevel = level;
    else if (this.#wantedSubscriptions !== undefined) return;
    else if (method === "resources/subscribe" && typeof uri === "string") {
      this.#subscriptions.add(uri);
    } else if (method === "resources/unsubscribe" && typeof uri === "string") {
      this.#subscriptions.delete(uri);
    } else return;
    this.#persist();
  }

  #persist(): void {
    if (this.#connected === undefined) return;
    this.#save(saveConnection(this.#connected, this.#logLevel, this.#subscriptions));
  }
}
