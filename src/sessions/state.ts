/**
 * The states of a legacy session, and every way from one to another. While a session is open, its
 * state says who holds the servers' standalone GET streams (`hand-over.ts` does the holding).
 *
 * Two facts stand beside the state, since they change in any of them: how many calls are in flight
 * (`Calls`), and whether the fan-out was asked to pause the client's subscriptions
 * (`NotificationInbox`).
 */

import type { ClientTransport } from "./core.ts";

export type SessionState =
  /** Only its sealed id exists: nothing is stored, and no message has arrived. */
  | "new"
  /** HTTP+SSE: the client's stream exists before its `initialize`. */
  | "uninitialized"
  | "initializing"
  /** Open. The client has no standalone stream, and the servers are not watched. */
  | "offline"
  /** The client has a standalone stream, and the session holds those of the servers. */
  | "online"
  /** It was quiet: the servers are prepared for a watch elsewhere. */
  | "handing over"
  /** The Worker that holds the client's stream watches the servers; the object may sleep. */
  | "handed over"
  /** The client's last standalone stream broke: it is likely to reconnect, so the watch goes on. */
  | "lingering"
  /** Over: it expired, or its client left. */
  | "closed"
  /** Over: the client deleted it. A tombstone stands until its id would have expired. */
  | "deleted";

export type SessionEvent =
  /** The first message, over Streamable HTTP: `initialize` was answered without the session. */
  | "begun"
  /** The client's stream, over HTTP+SSE. */
  | "connected"
  | "initialize"
  | "refused"
  | "initialized"
  /** The client opened a standalone stream, or a server has a new session to listen in. */
  | "listening"
  /** A new life of the object found a stream whose Worker watches the servers. */
  | "found"
  /** Nothing happened for the quiet time. */
  | "quiet"
  /** A message came. */
  | "stirred"
  /** The Worker watches from now on. */
  | "handed over"
  /** It cannot be handed over now. */
  | "kept"
  /** The client's last standalone stream broke. */
  | "left"
  /** The client did not reconnect in time. */
  | "lingered"
  | "closed"
  | "deleted";

type Ways = Readonly<Partial<Record<SessionEvent, SessionState>>>;

const ENDS = { closed: "closed", deleted: "deleted" } as const;

export const TRANSITIONS: Readonly<Record<SessionState, Ways>> = {
  new: { begun: "offline", connected: "uninitialized" },
  uninitialized: { ...ENDS, initialize: "initializing" },
  initializing: { ...ENDS, refused: "uninitialized", initialized: "offline" },
  offline: { ...ENDS, listening: "online", found: "handed over", left: "lingering" },
  online: {
    ...ENDS,
    listening: "online",
    stirred: "online",
    quiet: "handing over",
    left: "lingering",
  },
  "handing over": {
    ...ENDS,
    listening: "online",
    stirred: "online",
    kept: "online",
    "handed over": "handed over",
    left: "lingering",
  },
  "handed over": {
    ...ENDS,
    listening: "online",
    // The servers that could not be handed over before are tried again.
    quiet: "handed over",
    kept: "handed over",
    "handed over": "handed over",
    left: "lingering",
  },
  lingering: { ...ENDS, listening: "online", lingered: "offline" },
  closed: {},
  // The tombstone goes.
  deleted: { closed: "closed" },
};

/** The stored facts that decide in which state the next life of the object begins. */
interface Stored {
  readonly deletedUntil: number | undefined;
  readonly known:
    | {
        readonly client: unknown;
        /** As an earlier life has noted it. */
        readonly awaySince?: number | undefined;
      }
    | undefined;
}

/** The life of one session, as far as one life of its object knows it. */
export class SessionLife {
  #state: SessionState;
  /** At the start: now, where no earlier life has noted it, since a reader of that may reconnect. */
  #awaySince: number | undefined;

  constructor({ deletedUntil, known }: Stored) {
    this.#awaySince = known?.awaySince ?? Date.now();
    if (deletedUntil !== undefined) this.#state = "deleted";
    else if (known === undefined) this.#state = "new";
    else this.#state = known.client === undefined ? "uninitialized" : "offline";
  }

  get state(): SessionState {
    return this.#state;
  }

  get isOver(): boolean {
    return this.#state === "closed" || this.#state === "deleted";
  }

  /** @returns `false` for an event that leads nowhere from here: it came too late, or too early. */
  take(event: SessionEvent): boolean {
    const next = TRANSITIONS[this.#state][event];
    this.#state = next ?? this.#state;
    return next !== undefined;
  }

  /** Since when no stream of the client is open; `undefined` while one is. */
  get awaySince(): number | undefined {
    return this.#awaySince;
  }

  /** The number of open streams has changed. */
  readersChanged(count: number): void {
    this.#awaySince = count === 0 ? Date.now() : undefined;
  }

  /** When the session ends by itself, in milliseconds since 1970. */
  endsAt(transport: ClientTransport, expiresAt: number, lingerMs: number): number {
    // With HTTP+SSE, the stream is the session; only a broken one is reopened, and that soon.
    if (transport !== "http+sse" || this.#awaySince === undefined) return expiresAt;
    return Math.min(expiresAt, this.#awaySince + lingerMs);
  }
}
