/**
 * What a session needs of the other side of the gateway. `bridge` satisfies it by shape; the
 * Durable Object wires the two.
 */

import type { Call, Peer } from "../protocol/exchange.ts";
import type { ErrorObject, JsonObject, Reply } from "../protocol/json-rpc.ts";
import type { LegacyRevision } from "../protocol/revisions.ts";

/** What `initialize` fixed for the whole session. Plain data: it is stored. */
export interface ClientFacts {
  readonly revision: LegacyRevision;
  readonly capabilities: JsonObject;
  readonly clientInfo: JsonObject;
}

export type Opening =
  | {
      readonly capabilities: JsonObject;
      readonly serverInfo: JsonObject;
      readonly instructions?: string;
    }
  | { readonly error: ErrorObject };

export interface Dispatch {
  open(): Promise<Opening>;
  /** An upstream's failure is an error reply. Rejects only with the reason of `signal`. */
  request(call: Call, peer: Peer, signal: AbortSignal): Promise<Reply>;
  /** Best effort, as notifications are. */
  notify(call: Call): Promise<void>;
  /** Starts, or stops, watching for what belongs to no request. */
  listen(): void;
  unlisten(): void;
  close(): Promise<void>;
}

/** @param unsolicited takes what belongs to no request. */
export type Connect = (client: ClientFacts, unsolicited: Peer) => Dispatch;
