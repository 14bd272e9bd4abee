/** The stored state of a bridge, beside its parked calls: one row. */

import type { SavedUpstreamSession } from "../src/relay/modern-to-legacy/upstream-session.ts";
import type { AssertedCaller } from "../src/upstream/target.ts";
import { count } from "../src/observability/costs.ts";
import type { JsonObject } from "../src/protocol/json-rpc.ts";
import { readStored } from "./stored-json.ts";

export interface StoredBridge extends SavedUpstreamSession {
  readonly slug: string;
  /** The server's URL: at another URL it counts as another server. */
  readonly endpoint: string;
  /** The hash of its principal. */
  readonly owner: string;
  /** The name of the vault, at a server with accounts. */
  readonly vault?: string;
  /** At a server that is told who calls. */
  readonly caller?: AssertedCaller;
  /** The person who publishes the server. */
  readonly publisher?: string;
  /** The client as the server's `initialize` got it. */
  readonly capabilities: JsonObject;
  readonly clientInfo: JsonObject;
  /** The last use in milliseconds since 1970, to within half of the time that a bridge is kept. */
  readonly usedAt: number;
}

const BRIDGE = "bridge";

export class BridgeStore {
  readonly #storage: DurableObjectStorage;
  #known: StoredBridge | undefined;
  #isSaved: boolean;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    count("rowsRead");
    this.#known = readStored(storage.kv.get(BRIDGE)) as StoredBridge | undefined;
    this.#isSaved = this.#known !== undefined;
  }

  /** The bridge, saved or not. */
  get known(): StoredBridge | undefined {
    return this.#known;
  }

  get isSaved(): boolean {
    return this.#isSaved;
  }

  /** Begins a bridge; nothing is written yet. */
  begin(bridge: StoredBridge): void {
    this.#known = bridge;
  }

  /** Does nothing once the bridge has ended. */
  save(change: Partial<StoredBridge>): void {
    if (this.#known === undefined) return;
    this.#known = { ...this.#known, ...change };
    count("rowsWritten");
    this.#isSaved = true;
    this.#storage.kv.put(BRIDGE, JSON.stringify(this.#known));
  }

  /** The session is being closed: the next one begins without anything of it. */
  forgetSession(): void {
    if (this.#known === undefined || !this.#isSaved) return;
    const { connection: _, introduced: __, isCalled: ___, ...bridge } = this.#known;
    this.#known = bridge;
    this.save({});
  }

  /** Deletes everything, the alarm included. */
  async empty(): Promise<void> {
    this.#known = undefined;
    this.#isSaved = false;
    await this.#storage.deleteAll();
  }
}
