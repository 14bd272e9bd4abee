/**
 * What of a session outlives its object's memory: four keys of its storage, and an alarm. A plain
 * call writes nothing.
 */

import type { ClientFacts } from "../src/sessions/dispatch.ts";
import type { SavedConnection } from "../src/upstream/legacy/connection.ts";

const DAY_MS = 86_400_000;

/** Everything that is stored, by key. */
interface Stored {
  /** The endpoint that the session was opened at: it is served there and nowhere else. */
  readonly route: string;
  readonly client: ClientFacts;
  readonly upstream: SavedConnection;
  /** To the day, so that a busy session writes next to nothing. */
  readonly lastUsed: number;
}

export interface StoredSession {
  readonly route: string;
  readonly client: ClientFacts;
  readonly upstream: SavedConnection | undefined;
}

export class SessionStore {
  readonly #storage: DurableObjectStorage;
  readonly #idleMs: number;
  /** Nothing is written before a session is opened, nor after it has ended. */
  #isOpen: boolean;

  /** @param idleMs how long a session is kept that nobody uses. */
  constructor(storage: DurableObjectStorage, idleMs: number) {
    this.#storage = storage;
    this.#idleMs = idleMs;
    this.#isOpen = this.#load("client") !== undefined;
  }

  load(): StoredSession | undefined {
    const route = this.#load("route");
    const client = this.#load("client");
    if (route === undefined || client === undefined) return undefined;
    return { route, client, upstream: this.#load("upstream") };
  }

  /** From here on the session outlives this object's memory. */
  async open({ route, client, upstream }: StoredSession): Promise<void> {
    this.#isOpen = true;
    this.#save("route", route);
    this.#save("client", client);
    this.#save("lastUsed", Date.now());
    if (upstream !== undefined) this.#save("upstream", upstream);
    await this.#storage.setAlarm(this.#expiresAt());
  }

  saveUpstream(state: SavedConnection): void {
    if (this.#isOpen) this.#save("upstream", state);
  }

  /**
   * Notes that the session is used; the alarm reads when that was.
   *
   * @returns `false` when its time was over before: an alarm may be late, a session is not.
   */
  use(): boolean {
    if (!this.#isOpen) return true;
    const now = Date.now();
    if (this.#expiresAt() <= now) return false;
    if (now - (this.#load("lastUsed") ?? 0) >= DAY_MS) this.#save("lastUsed", now);
    return true;
  }

  /** The alarm rang. @returns `true` when the session's time is over, else the alarm is set anew. */
  async isOver(): Promise<boolean> {
    const expiresAt = this.#expiresAt();
    if (expiresAt <= Date.now()) return true;
    await this.#storage.setAlarm(expiresAt);
    return false;
  }

  /** Empties the storage, the alarm with it. */
  async clear(): Promise<void> {
    this.#isOpen = false;
    await this.#storage.deleteAll();
  }

  #expiresAt(): number {
    return (this.#load("lastUsed") ?? 0) + this.#idleMs;
  }

  #load<K extends keyof Stored>(key: K): Stored[K] | undefined {
    return this.#storage.kv.get<Stored[K]>(key);
  }

  #save<K extends keyof Stored>(key: K, value: Stored[K]): void {
    this.#storage.kv.put(key, value);
  }
}
