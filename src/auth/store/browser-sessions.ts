/**
 * The signed-in browsers. The browser has a random secret in a cookie, and this table its hash; the
 * secret is chosen so that it leads to the object that holds its user.
 */

import { hashOf, randomSecret } from "../../lib/random.ts";
import type { Sql } from "../../lib/sql.ts";
import { drawFor, shardName } from "./shards.ts";
import { Records } from "../../lib/records.ts";

export interface BrowserSession {
  /** The id of the record, for lists and for ending it; it opens nothing. */
  readonly id: string;
  readonly user: string;
  /** When the user last authenticated. In milliseconds since 1970, like all times here. */
  readonly authenticatedAt: number;
  readonly createdAt: number;
  readonly seenAt: number;
  readonly expiresAt: number;
  /** The browser's `User-Agent`, truncated. */
  readonly agent: string;
  /**
   * The MAC of the owner code under which the session began, if it did (`SignInResult.codeMac`).
   */
  readonly codeMac?: string;
}

export type NewBrowserSession = Pick<BrowserSession, "authenticatedAt" | "agent" | "codeMac">;

type Row = { id: string; user: string; times: string; agent: string };

/** The content of the column `times`. */
type Kept = Omit<BrowserSession, "id" | "user" | "agent">;

export interface SessionLifetimes {
  readonly absoluteMs: number;
  readonly idleMs: number;
}

const MAX_AGENT_CHARS = 200;
/** The use of a session is recorded at most this often. */
const SEEN_MS = 60_000;

/** @returns the id of the session that a secret opens. */
export function sessionId(secret: string): Promise<string> {
  return hashOf(secret);
}

export class BrowserSessions extends Records {
  static override readonly SCHEMA = [
    `CREATE TABLE IF NOT EXISTS browser_1 (
      id TEXT PRIMARY KEY, user TEXT NOT NULL, times TEXT NOT NULL, agent TEXT NOT NULL
    )`,
    "CREATE INDEX IF NOT EXISTS browser_1_user ON browser_1 (user)",
  ];
  readonly #lifetimes: SessionLifetimes;

  constructor(sql: Sql, lifetimes: SessionLifetimes, now: () => number = () => Date.now()) {
    super(sql, now);
    this.#lifetimes = lifetimes;
  }

  /**
   * Opens a session, and ends the one that the browser had: a secret from before the sign-in does
   * not work after it (session fixation).
   *
   * @returns the secret for the cookie.
   */
  async open(user: string, { agent, ...session }: NewBrowserSession): Promise<string> {
    const secret = drawFor(shardName("u", user), "u", randomSecret);
    const id = await sessionId(secret);
    const now = this.now();
    const expiresAt = now + this.#lifetimes.absoluteMs;
    const kept: Kept = { ...session, createdAt: now, seenAt: now, expiresAt };
    const insert = "INSERT INTO browser_1 (id, user, times, agent) VALUES (?, ?, ?, ?)";
    this.run(insert, [id, user, JSON.stringify(kept), agent.slice(0, MAX_AGENT_CHARS)]);
    return secret;
  }

  /** @returns the session of a cookie while it lasts; the look-up counts as use. */
  async find(secret: string): Promise<BrowserSession | undefined> {
    const found = this.#read(await sessionId(secret));
    if (found === undefined) return undefined;
    const now = this.now();
    if (!this.#lasts(found)) {
      this.run("DELETE FROM browser_1 WHERE id = ?", [found.id]);
      return undefined;
    }
    if (now - found.seenAt < SEEN_MS) return found;
    const { id, user: _, agent: __, ...kept } = { ...found, seenAt: now };
    this.run("UPDATE browser_1 SET times = ? WHERE id = ?", [JSON.stringify(kept), id]);
    return { ...found, seenAt: now };
  }

  /** Ends the session of a cookie. */
  async end(secret: string): Promise<void> {
    this.run("DELETE FROM browser_1 WHERE id = ?", [await sessionId(secret)]);
  }

  /** @returns whether the session existed and was the user's. */
  endById(user: string, id: string): boolean {
    const query = "DELETE FROM browser_1 WHERE id = ? AND user = ? RETURNING id";
    return this.count(query, [id, user]) > 0;
  }

  endAll(user: string): void {
    this.run("DELETE FROM browser_1 WHERE user = ?", [user]);
  }

  /** @returns whether the session is the user's, and lasts. */
  has(user: string, id: string): boolean {
    const found = this.#read(id);
    return found !== undefined && found.user === user && this.#lasts(found);
  }

  list(user: string): readonly BrowserSession[] {
    const rows = this.rows<Row>("SELECT * FROM browser_1 WHERE user = ?", [user]);
    return [...rows].map(sessionOf).filter((session) => this.#lasts(session));
  }

  /** Deletes expired rows. */
  sweep(): void {
    for (const session of this.rows<Row>("SELECT * FROM browser_1").map(sessionOf)) {
      if (!this.#lasts(session)) this.endById(session.user, session.id);
    }
  }

  #read(id: string): BrowserSession | undefined {
    const row = this.row<Row>("SELECT * FROM browser_1 WHERE id = ?", [id]);
    return row === undefined ? undefined : sessionOf(row);
  }

  #lasts({ expiresAt, seenAt }: BrowserSession): boolean {
    const now = this.now();
    return expiresAt > now && seenAt + this.#lifetimes.idleMs > now;
  }
}

function sessionOf({ id, user, times, agent }: Row): BrowserSession {
  return { id, user, agent, ...(JSON.parse(times) as Kept) };
}
