/** What of a bridge outlives its object's memory, beside its parked calls: one row. */

import type { SavedUpstreamSession } from "../src/relay/modern-to-legacy/upstream-session-options.ts";
import { count } from "../src/observability/costs.ts";
import type { JsonObject } from "../src/protocol/json-rpc.ts";

export interface StoredBridge extends SavedUpstreamSession {
  readonly slug: string;
  /** Where the server was: at another address it is another. */
  readonly endpoint: string;
  /** Whose it is, as a hash. */
  readonly owner: string;
  /** What the server was told of the client. */
  readonly capabilities: JsonObject;
  readonly clientInfo: JsonObject;
  /** When it was used, to within half of the time that it is kept; milliseconds since 1970. */
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
    this.#known = storage.kv.get<StoredBridge>(BRIDGE);
    this.#isSaved = this.#known !== undefined;
  }

  /** As it is known, saved or not. */
  get known(): StoredBridge | undefined {
    return this.#known;
  }

  get isSaved(): boolean {
    return this.#isSaved;
  }

  /** There is a bridge from now on, of which nothing is written yet. */
  begin(bridge: StoredBridge): void {
    this.#known = bridge;
  }

  /** Does nothing when the bridge is no more. */
  save(change: Partial<StoredBridge>): void {
    if (this.#known === undefined) return;
    this.#known = { ...this.#known, ...change };
    count("rowsWritten");
    this.#isSaved = true;
    this.#storage.kv.put(BRIDGE, this.#known);
  }

  /** Leaves nothing, the alarm included. */
  async empty(): Promise<void> {
    this.#known = undefined;
    this.#isSaved = false;
    await this.#storage.deleteAll();
  }
}
