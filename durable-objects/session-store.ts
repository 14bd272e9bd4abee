/**
 * What of a session outlives its object's memory, beside its log: one row, written when its
 * upstream session is opened or changes, and the tombstone that takes its place.
 */

import { count } from "../src/observability/costs.ts";
import type { ClientFacts } from "../src/sessions/dispatch.ts";
import type { Door } from "../src/sessions/core.ts";
import type { SavedConnection } from "../src/upstream/legacy/connection.ts";

export interface StoredSession {
  readonly door: Door;
  readonly route: string;
  /** With HTTP+SSE the session is there before its `initialize`. */
  readonly client: ClientFacts | undefined;
  readonly upstream?: SavedConnection;
  /** Until when the session's id is served, in milliseconds since 1970. */
  readonly expiresAt: number;
}

const SESSION = "session";
const DELETED = "deleted";

export class SessionStore {
  readonly #storage: DurableObjectStorage;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  load(): StoredSession | undefined {
    return this.#get(SESSION) as StoredSession | undefined;
  }

  /** Until when nothing is to be known of the session, if it was deleted. */
  tombstone(): number | undefined {
    return this.#get(DELETED) as number | undefined;
  }

  save(session: StoredSession): void {
    count("rowsWritten");
    this.#storage.kv.put(SESSION, session);
  }

  /**
   * Leaves nothing, the alarm included.
   *
   * @param deletedUntil leaves a tombstone until then, in milliseconds since 1970.
   */
  async empty(deletedUntil?: number): Promise<void> {
    await this.#storage.deleteAll();
    if (deletedUntil === undefined) return;
    count("rowsWritten");
    this.#storage.kv.put(DELETED, deletedUntil);
  }

  #get(key: string): unknown {
    count("rowsRead");
    return this.#storage.kv.get(key);
  }
}
