/**
 * The stored state of a session, beside its log: a row that is written when an upstream session is opened
 * or the client's subscriptions change, a small row for its notification inbox, and the tombstone that
 * replaces both.
 */

import type { SavedDispatch } from "../src/dispatch/legacy/session-dispatch.ts";
import type { SavedInbox } from "../src/notifications/legacy/notification-inbox.ts";
import { count } from "../src/observability/costs.ts";
import type { ClientTransport } from "../src/sessions/core.ts";
import type { ClientFacts } from "../src/sessions/dispatch.ts";
import type { PublishedNames } from "../src/sessions/session-id.ts";
import { readStored } from "./stored-json.ts";

export interface StoredSession extends SavedDispatch {
  readonly door: ClientTransport;
  readonly route: string;
  readonly principal: string;
  /** The person who calls, at an endpoint with accounts; earlier versions did not store it. */
  readonly person?: string | undefined;
  /** The application of that person. */
  readonly application?: string | undefined;
  /** Of the gateway, as that person knows it. */
  readonly origin?: string | undefined;
  /** What that person publishes, as far as the session knows. */
  readonly published?: PublishedNames | undefined;
  /** With HTTP+SSE: since when nobody reads the stream, in milliseconds since 1970; absent while somebody does. */
  readonly awaySince?: number | undefined;
  /** `undefined` before `initialize`, with HTTP+SSE. */
  readonly client: ClientFacts | undefined;
  /** When the session's id expires, in milliseconds since 1970. */
  readonly expiresAt: number;
}

const SESSION = "session";
const INBOX = "heard";
const DELETED = "deleted";

export class SessionStore {
  readonly #storage: DurableObjectStorage;
  readonly #onFirst: () => void;
  #known: StoredSession | undefined;
  #isSaved: boolean;
  #deletedUntil: number | undefined;

  /** @param onFirst called when the session is written for the first time. */
  constructor(storage: DurableObjectStorage, onFirst: () => void) {
    this.#storage = storage;
    this.#onFirst = onFirst;
    const found = readStored(this.#get(SESSION)) as StoredSession | undefined;
    // A row of another layout is ignored: the session id describes the session.
    this.#known = found?.principal === undefined ? undefined : found;
    this.#isSaved = this.#known !== undefined;
    // The tombstone has replaced the session.
    if (!this.#isSaved) this.#deletedUntil = this.#get(DELETED) as number | undefined;
  }

  /** The session, saved or not. */
  get known(): StoredSession | undefined {
    return this.#known;
  }

  get isSaved(): boolean {
    return this.#isSaved;
  }

  /** When the tombstone of a deleted session goes, in milliseconds since 1970. */
  get deletedUntil(): number | undefined {
    return this.#deletedUntil;
  }

  /** Begins a session; nothing is written yet. */
  begin(session: StoredSession): void {
    this.#known = session;
  }

  /** Keeps what a request says; it is written where the session is written already. */
  learn(change: Partial<StoredSession>): void {
    if (this.#isSaved) this.save(change);
    else if (this.#known !== undefined) this.#known = { ...this.#known, ...change };
  }

  /** Does nothing once the session is over. */
  save(change: Partial<StoredSession>): void {
    if (this.#known === undefined) return;
    this.#known = { ...this.#known, ...change };
    this.#put(SESSION, JSON.stringify(this.#known));
    const isFirst = !this.#isSaved;
    this.#isSaved = true;
    if (isFirst) this.#onFirst();
  }

  /** The notification inbox, if the session ever had a subscription. */
  savedInbox(): SavedInbox | undefined {
    if (this.#known?.wanted === undefined) return undefined;
    return this.#get(INBOX) as SavedInbox | undefined;
  }

  saveInbox(state: SavedInbox): void {
    if (this.#known !== undefined) this.#put(INBOX, state);
  }

  /**
   * Deletes everything, the alarm included.
   *
   * @param deletedUntil leaves a tombstone until this time, in milliseconds since 1970.
   */
  async empty(deletedUntil?: number): Promise<void> {
    this.#known = undefined;
    this.#isSaved = false;
    this.#deletedUntil = deletedUntil;
    await this.#storage.deleteAll();
    if (deletedUntil !== undefined) this.#put(DELETED, deletedUntil);
  }

  #get(key: string): unknown {
    count("rowsRead");
    return this.#storage.kv.get(key);
  }

  #put(key: string, value: unknown): void {
    count("rowsWritten");
    this.#storage.kv.put(key, value);
  }
}
