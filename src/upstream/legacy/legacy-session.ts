/**
 * One legacy session at one upstream, for one client: opened by a handshake on first use, kept,
 * and repaired when the upstream forgets it. The transport is a wire underneath.
 *
 * A call is sent a second time in one case only: the upstream refused the session id, so the call
 * provably did not run.
 */

import { fnv1a64 } from "../../lib/fnv1a.ts";
import { Recent } from "../../lib/recent.ts";
import { retry } from "../../lib/retry.ts";
import { type Call, type Peer, withoutResumeTokens } from "../../protocol/exchange.ts";
import type {
  JsonRpcNotification,
  JsonRpcResponse,
  Parsed,
  Reply,
} from "../../protocol/json-rpc.ts";
import type { UpstreamTarget } from "../target.ts";
import type { EndedAccount, UsableCredential } from "../credentials.ts";
import { refusalOf } from "../server-message.ts";
import { UpstreamError, type UpstreamFailure } from "../upstream-error.ts";
import { Exchanges } from "./exchanges.ts";
import { type Connected, restoreWire } from "./find-transport.ts";
import type { LegacyClient } from "./handshake.ts";
import { completeHandshake, openAsAgreed, openByHandshake } from "./open-session.ts";
import { type PrimedRecipient, withResumeTokens } from "./resume-token.ts";
import { runExchange } from "./run-exchange.ts";
import { type SavedConnection, saveConnection } from "./saved-connection.ts";
import { type CallerSettings, SessionSettings } from "./session-settings.ts";
import { forgetHandshake, isSharedEnd } from "./sessionless.ts";
import type { MessageSession } from "./wire.ts";

export interface SessionOptions extends CallerSettings {
  readonly target: UpstreamTarget;
  readonly client: LegacyClient;
  /** Receives the messages that belong to no request. */
  readonly unsolicited: Peer;
  /** Called with the new state whenever it changes. */
  readonly save: (state: SavedConnection) => void;
  readonly saved?: SavedConnection | undefined;
  /**
   * Whether a message that belongs to no request goes to the only running request, if there is exactly one:
   * for a client that would not receive it otherwise.
   */
  readonly isAttributed?: (kind: Parsed["kind"]) => boolean;
  /** The largest number of the server's requests that may be open at once. */
  readonly maxOpenAsks?: number;
}

/** Two watches on one stream overlap while the second one opens: so many events may come in those seconds. */
const MAX_RECEIVED = 4096;
const MAX_KEY_CHARS = 512;
/** The server may take the answer a moment later; where the connection broke, it may have it already. */
const TRANSIENT: ReadonlySet<UpstreamFailure> = new Set(["unreachable", "lost", "overloaded"]);
/** The server may not have the answer, and would have taken it. */
const UNDELIVERED: ReadonlySet<UpstreamFailure> = new Set([...TRANSIENT, "account", "offline"]);
/** Some ten seconds in all, as a server takes that is being restarted. */
const ANSWER_RETRIES = { attempts: 8, backoff: { firstMs: 100, maxMs: 4000 }, isTransient };

export class LegacySession {
  readonly exchanges: Exchanges;
  readonly #options: SessionOptions;
  readonly #onOpened: (connected: Connected) => void;
  readonly #recipient: PrimedRecipient;
  readonly #settings: SessionSettings;
  /** Hashes, since there are many. A server that made two of them equal would lose a message of its own. */
  readonly #received = new Recent<bigint>(MAX_RECEIVED);
  #connected: Connected | undefined;
  #repairing: Promise<Connected> | undefined;
  #isClosed = false;
  #ended: Pick<EndedAccount, "accountId" | "credential"> | undefined;

  /** @param onOpened called when a session is open and has the client's settings, before a call runs in it. */
  constructor(options: SessionOptions, onOpened: (connected: Connected) => void) {
    const { target, unsolicited, saved, maxOpenAsks } = options;
    this.#options = options;
    this.#onOpened = onOpened;
    this.#recipient = withResumeTokens(unsolicited);
    this.#settings = new SessionSettings(options, saved);
    this.exchanges = new Exchanges(sendAnswer, (question) => refusalOf(target, question), {
      isUnaddressed: target.publisher !== undefined,
      maxOpenAsks,
    });
    if (saved === undefined) return;
    const { transport, handshake } = saved;
    const wire = restoreWire(target, transport, this.deliver, saved);
    this.#connected = { wire, transport, handshake };
  }

  /** The session, while there is one. The handshake of a restored session is not complete. */
  get connected(): Connected | undefined {
    return this.#connected;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Takes the messages that belong to no request, and all messages of the stream of HTTP+SSE. */
  readonly deliver = async (
    session: MessageSession | undefined,
    parsed: Parsed,
    lastEventId?: string,
  ): Promise<void> => {
    if (lastEventId !== undefined) {
      // When a watch is handed over, the old one ends after the point where the new one begins.
      const key = `${lastEventId}\n${JSON.stringify(parsed.message).slice(0, MAX_KEY_CHARS)}`;
      if (!this.#received.add(fnv1a64(key))) return;
    }
    const place =
      lastEventId === undefined || session === undefined
        ? undefined
        : { lastEventId, session: session.sessionMark };
    // A server that resumes the stream may repeat a question that the client had in an earlier life.
    if (place !== undefined && this.exchanges.isResumed(parsed, place.session)) {
      this.#recipient.primed(place);
      return;
    }
    const isAttributed = this.#options.isAttributed?.(parsed.kind) === true;
    const sole = isAttributed ? this.exchanges.sole : undefined;
    if (sole === undefined) {
      await this.exchanges.receive(parsed, this.#recipient, session, lastEventId);
      return;
    }
    // An event id of this stream is no position in the stream of a request.
    const received = this.exchanges.receive(parsed, sole, session);
    if (place !== undefined) this.#recipient.primed(place);
    await received;
  };

  /** @throws UpstreamError when no answer is available; the reason of `signal` when it is aborted. */
  async request(call: Call, peer: Peer, signal: AbortSignal): Promise<Reply> {
    const reply = await this.#withRepair((connected) => this.#run(connected, call, peer, signal));
    if ("result" in reply && this.#settings.remember(call)) this.#persist();
    return reply;
  }

  /** @throws UpstreamError when the server does not receive it. */
  post(message: JsonRpcNotification): Promise<void> {
    return this.#withRepair(({ wire }) => wire.post(message));
  }

  /**
   * Answers a request of the server. Never rejects.
   *
   * @returns `false` when the server could not be reached.
   */
  async answer(response: JsonRpcResponse): Promise<boolean> {
    const wire = this.#connected?.wire;
    return wire === undefined || sendAnswer(wire, response);
  }

  /** Runs `run`, and once more on a new session where the server refused it as of a forgotten one. */
  async #withRepair<T>(run: (connected: Connected) => Promise<T>): Promise<T> {
    const connected = await this.ready();
    try {
      return await run(connected);
    } catch (error) {
      if (!(error instanceof UpstreamError) || error.failure !== "session-lost") throw error;
      return run(await this.repair(connected));
    }
  }

  #run(connected: Connected, call: Call, peer: Peer, signal: AbortSignal): Promise<Reply> {
    if (isSharedEnd(call, connected)) return Promise.resolve({ result: {} });
    const { target } = this.#options;
    const { wire } = connected;
    return runExchange({ target, exchanges: this.exchanges, wire, call, peer, signal });
  }

  /** Opens the session when this is its first use, or an earlier repair has failed. */
  ready(): Promise<Connected> {
    if (this.#repairing !== undefined) return this.#repairing;
    return this.#connected === undefined ? this.repair() : Promise.resolve(this.#connected);
  }

  /** Opens a new session in place of a forgotten one; many calls may find it forgotten at once. */
  repair(forgotten?: Connected): Promise<Connected> {
    if (this.#repairing !== undefined) return this.#repairing;
    // Another call found it forgotten earlier, and the repair is done.
    if (this.#connected !== undefined && this.#connected !== forgotten) {
      return Promise.resolve(this.#connected);
    }
    this.exchanges.withdrawAllAsks();
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

  /** Brings a new session to the state of the old one. @param isForgotten the server must be asked. */
  async #reopen(isForgotten: boolean): Promise<Connected> {
    const { target, client, unsolicited } = this.#options;
    const accountId = target.credentials && (await target.credentials.account());
    if (this.#isClosed) throw this.#left();
    if (isForgotten) forgetHandshake(target, client, accountId);
    const agreed = openAsAgreed(target, client, accountId, this.deliver);
    const connected = agreed === undefined ? await this.#openAnew() : this.#keep(agreed);
    // An event id of such a call's stream is no position in the standalone stream.
    const peer = withoutResumeTokens(unsolicited);
    await this.#settings.restore(connected.handshake.capabilities, (call) =>
      this.#run(connected, call, peer, new AbortController().signal),
    );
    // It was closed meanwhile, or its account has ended.
    if (this.#connected !== connected) throw this.#left();
    this.#onOpened(connected);
    return connected;
  }

  async #openAnew(): Promise<Connected> {
    const { target, client } = this.#options;
    const connected = await this.shakeHands();
    await completeHandshake(target, client, connected);
    return connected;
  }

  /** Shakes hands and no more, for a caller that only needs the server's introduction. */
  async shakeHands(): Promise<Connected> {
    const { target, client } = this.#options;
    const connected = await openByHandshake(target, client, this.exchanges, this.deliver);
    const { wire } = connected;
    const ended = this.#ended?.accountId === wire.accountId ? this.#ended : undefined;
    if (this.#isClosed || ended !== undefined) {
      // The connection was closed, or the account has ended, while the session was being opened.
      await wire.close(ended?.credential);
      throw this.#left();
    }
    this.#received.clear(); // another session may give the same ids again
    return this.#keep(connected);
  }

  #left(): UpstreamError {
    return new UpstreamError(this.#options.target.slug, "lost", "was left when the session ended");
  }

  /** The session is found again after a restart, from the moment that it is open. */
  #keep(connected: Connected): Connected {
    this.#connected = connected;
    this.#persist();
    return connected;
  }

  #persist(): void {
    if (this.#connected === undefined) return;
    const { logLevel, subscriptions } = this.#settings;
    this.#options.save(saveConnection(this.#connected, logLevel, subscriptions));
  }

  /**
   * Ends the session for good: whoever still waits for it opens no other.
   *
   * @param last the credential of the session, when its account has ended.
   */
  async close(last?: UsableCredential): Promise<void> {
    this.#isClosed = true;
    if (last !== undefined) this.#ended = { accountId: last.accountId, credential: last };
    await this.#leave(last);
  }

  /** Ends the session at the server, if it is of this account, or is being opened with it; the next request opens another. */
  async accountEnded(ended: EndedAccount): Promise<void> {
    this.#ended = ended;
    if (this.#connected?.wire.accountId === ended.accountId) await this.#leave(ended.credential);
  }

  async #leave(last?: UsableCredential): Promise<void> {
    this.exchanges.withdrawAllAsks();
    const connected = this.#connected;
    this.#connected = undefined;
    await connected?.wire.close(last);
  }
}

/**
 * Sends a server the answer to one of its requests. A person may have given the answer and will not
 * give it again, so it is sent once more when the connection breaks or the server asks to slow down. The
 * server matches answers by their id and ignores one that it already has. Never rejects.
 *
 * @returns `true` when the server has the answer or has refused it, which no later attempt would
 *   change; `false` when it could not be sent, for want of a connection or of an account that can be used, or
 *   the server has not responded in time. Then the server's own time-out ends its request.
 */
async function sendAnswer(wire: MessageSession, answer: JsonRpcResponse): Promise<boolean> {
  try {
    await retry(() => wire.post(answer), ANSWER_RETRIES);
    return true;
  } catch (error) {
    return error instanceof UpstreamError && !UNDELIVERED.has(error.failure);
  }
}

function isTransient(error: unknown): boolean {
  return error instanceof UpstreamError && TRANSIENT.has(error.failure);
}
