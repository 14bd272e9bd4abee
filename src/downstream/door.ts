/** What every front door works with: the request's surroundings, passed as one value. */

import type { Limits } from "../policy/limits.ts";
import type { Outcome } from "../sessions/outcome.ts";
import type { Parsed } from "../protocol/json-rpc.ts";
import type { UpstreamTarget } from "../upstream/target.ts";

export interface DoorContext {
  readonly request: Request;
  /** The path of the endpoint; a session belongs to the one it was opened at. */
  readonly route: string;
  readonly target: UpstreamTarget;
  readonly limits: Limits;
  readonly sessions: Sessions;
  /** Keeps the Worker running for what outlives the response. */
  readonly waitUntil: (promise: Promise<unknown>) => void;
}

/** The sessions of this gateway, by id; a Durable Object namespace satisfies it by shape. */
export interface Sessions {
  create(): { readonly id: string; readonly session: SessionStub };
  /** @returns `undefined` for an id that was never minted here: nothing is woken for it. */
  find(id: string): SessionStub | undefined;
}

export interface SessionStub {
  /** Opens a session of Streamable HTTP with its `initialize` request. */
  open(route: string, initialize: Parsed): Promise<Outcome>;
  receive(route: string, messages: readonly Parsed[], isBatch: boolean): Promise<Outcome>;
  openStream(route: string, lastEventId?: string): Promise<Outcome>;
  /** Opens a session of HTTP+SSE: its one stream is its life. */
  openSse(route: string): Promise<Outcome>;
  /** Tells that the reader of a stream that this session gave has gone. */
  detach(route: string, connection: number): Promise<void>;
  /** @returns `false` when there was no such session. */
  close(route: string): Promise<boolean>;
}
