/**
 * What of a session outlives its object's memory, beside its log: a row that is written when an
 * upstream session is opened or what the client wants changes, a small one for what it has heard of
 * changes, and the tombstone that takes the place of both.
 */

import type { FederatedState } from "../src/dispatch/legacy/session-dispatch.ts";
import type { SavedInbox } from "../src/notifications/legacy/notification-inbox.ts";
import { count } from "../src/observability/costs.ts";
import type { ClientTransport } from "../src/sessions/core.ts";
import type { ClientFacts } from "../src/sessions/dispatch.ts";

export interface StoredSession extends FederatedState {
  readonly door: ClientTransport;
  readonly route: string;
  readonly principal: string;
  /** With HTTP+SSE the session is there before its `initialize`. */
  readonly client: ClientFacts | undefined;
  /** Until when the session's id is served, in milliseconds since 1970. */
  readonly expiresAt: number;
}

const SESSION = "session";
const HEARD = "heard";
const DELETED = "deleted";

export class SessionStore {
  readonly #storage: DurableObjectStorage;
  readonly #onFirst: (session: StoredSession) => void;
  #known: StoredSession | undefined;
  #isSaved: boolean;
  #deletedUntil: number | undefined;

  /** @param onFirst called when the session is written for the first time. */
  constructor(storage: DurableObjectStorage, onFirst: (session: StoredSession) => void) {
    this.#storage = storage;
    this.#onFirst = onFirst;
    this.#deletedUntil = this.#get(DELETED) as number | undefined;
    const found = this.#get(SESSION) as StoredSession | undefined;
    // One of another layout is none: what a session is, its id says.
    this.#known = found?.principal === undefined ? undefined : found;
    this.#isSaved = this.#known !== undefined;
  }

  /** The session as it is known, saved or not. */
  get known(): StoredSession | undefined {
    return this.#known;
  }

  get isSaved(): boolean {
    return this.#isSaved;
  }

  /** Until when nothing is to be known of the session, if it was deleted. */
  get deletedUntil(): number | undefined {
    return this.#deletedUntil;
  }

  /** There is a session from now on, of which nothing is written yet. */
  begin(session: StoredSession): void {
    this.#known = session;
  }

  /** Does nothing once the session is over. */
  save(change: Partial<StoredSession>): void {
    if (this.#known === undefined) return;
    this.#known = { ...this.#known, ...change };
    this.#put(SESSION, this.#known);
    if (!this.#isSaved) this.#onFirst(this.#known);
    this.#isSaved = true;
  }

  /** What the session has heard of changes, if it ever wanted to hear of any. */
  heard(): SavedInbox | undefined {
    if (this.#known?.wanted === undefined) return undefined;
    return this.#get(HEARD) as SavedInbox | undefined;
  }

  saveHeard(state: SavedInbox): void {
    if (this.#known !== undefined) this.#put(HEARD, state);
  }

  /**
   * Leaves nothing, the alarm included.
   *
   * @param deletedUntil leaves a tombstone until then, in milliseconds since 1970.
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
