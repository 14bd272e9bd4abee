/** What the object of a person gives to the part that knows what they publish. */

import type { Sql } from "../lib/sql.ts";

/** The connection of one process of the command, which may publish several servers. */
export interface Connection {
  readonly id: string;
  /** The grant or key that it was opened by, and its user. */
  readonly leases: readonly string[];
  /** Milliseconds since 1970. */
  readonly openedAt: number;
  /** When its machine was last heard of, in milliseconds since 1970. */
  readonly seenAt: number;
  send(text: string): void;
  close(code: number, reason: string): void;
}

export interface ConnectorOptions {
  readonly sql: Sql;
  readonly isOn: boolean;
  readonly windowBytes: number;
  readonly connectionOf: (id: string) => Connection | undefined;
  readonly randomId: () => string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** A server has come, or has gone from the list. */
  readonly onListed: () => void;
  /** A server that was listed before is connected again, or is not any more. */
  readonly onState: (slug: string, offline: Offline | undefined) => void;
  /** A server has left the list: resolves when nothing is kept of what it offered. */
  readonly onGone: (slug: string) => Promise<void>;
  readonly waitUntil: (work: Promise<unknown>) => void;
}

export interface Offline {
  readonly message: string;
  readonly since: number;
}
