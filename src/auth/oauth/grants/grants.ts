/**
 * The grants of a user's applications: one for each sign-in of an application. The library stores
 * them among the rows; this class lists, ends and prunes them there.
 */

import type { Sql } from "../../../lib/sql.ts";
import type { KvRows, RowKey } from "../../store/kv-rows.ts";
import { grantKey, type GrantRecord } from "./grant-record.ts";
import { RefreshReplays } from "./refresh-replays.ts";
import { RetiredTokens } from "./retired-tokens.ts";
import type { TokenSubject } from "./token-request.ts";

export interface Grant {
  readonly id: string;
  readonly client: string;
  readonly resource: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  /** The name of the application on the consent page. */
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly usedAt?: number;
}

/** An application and all its grants, of all users. */
export interface ClientUse {
  readonly client: string;
  readonly name: string;
  readonly redirectUri: string;
  /** Milliseconds since 1970; of the newest grant, if none was ever used. */
  readonly usedAt: number;
}

/** The use of a grant is recorded at most this often. */
const USED_MS = 3_600_000;

export class Grants {
  readonly #rows: KvRows;
  readonly #sql: Sql;
  readonly #now: () => number;
  /** The replaced refresh tokens, which end with their grants. */
  readonly retired: RetiredTokens;
  readonly replays: RefreshReplays;

  constructor(rows: KvRows, sql: Sql, now: () => number = () => Date.now()) {
    this.#rows = rows;
    this.#sql = sql;
    this.#now = now;
    this.retired = new RetiredTokens(sql, now);
    this.replays = new RefreshReplays(sql, now);
    sql.exec("CREATE TABLE IF NOT EXISTS grant_use_1 (key TEXT PRIMARY KEY, at INTEGER NOT NULL)");
  }

  /** Newest first, without those whose code was not redeemed. */
  list(user: string): readonly Grant[] {
    return this.#keys(prefixOf(user))
      .flatMap(({ name }) => this.#read(name) ?? [])
      .toSorted((a, b) => b.createdAt - a.createdAt);
  }

  find(user: string, grant: string): Grant | undefined {
    return this.#read(grantKey({ user, grant }));
  }

  /** The library's record, also before the code of the grant is redeemed. */
  record(subject: TokenSubject): GrantRecord | undefined {
    return this.#record(grantKey(subject));
  }

  /** The MAC of the owner code in a grant, also before its own code is redeemed. */
  codeMacOf(user: string, grant: string): string | undefined {
    return this.record({ user, grant })?.metadata?.codeMac;
  }

  /** The resource that a grant is for, also before its code is redeemed. */
  resourceOf(subject: TokenSubject): string | undefined {
    const record = this.record(subject);
    return record && String(record.resource);
  }

  /**
   * @returns whether the grant exists and is this application's, also before its code is redeemed.
   */
  isOf(client: string, subject: TokenSubject): boolean {
    return this.record(subject)?.clientId === client;
  }

  /** @returns whether the access token exists, which may have expired by a second. */
  hasAccessToken({ user, grant }: TokenSubject, hash: string): boolean {
    return this.#rows.get(`token:${user}:${grant}:${hash}`) !== null;
  }

  /** The applications that a user in this object has approved. */
  clientsInUse(): readonly ClientUse[] {
    const uses = new Map<string, ClientUse>();
    for (const { name: key } of this.#keys("grant:")) {
      const grant = this.#read(key);
      if (grant === undefined) continue;
      const { client, name, redirectUri, createdAt, usedAt = createdAt } = grant;
      const use = { client, name, redirectUri, usedAt };
      if (usedAt > (uses.get(client)?.usedAt ?? 0)) uses.set(client, use);
    }
    return [...uses.values()];
  }

  /** Ends a grant and all tokens that were issued under it. @returns whether it existed. */
  revoke(user: string, grant: string): boolean {
    const key = grantKey({ user, grant });
    this.#rows.clear(`token:${user}:${grant}:`);
    this.#forget(key);
    return this.#rows.delete(key);
  }

  /**
   * Ends all grants of an application, or all of them, including those whose code was not redeemed
   * yet: these must not become usable.
   *
   * @returns the ids of those that ended.
   */
  revokeAll(user: string, client?: string): readonly string[] {
    return this.#revokeUnder(prefixOf(user), client).map(({ grant }) => grant);
  }

  /** Ends all grants of a deleted application, of all users in this object. */
  revokeOfEverybody(client: string): readonly TokenSubject[] {
    return this.#revokeUnder("grant:", client);
  }

  #revokeUnder(prefix: string, client: string | undefined): readonly TokenSubject[] {
    const ended = this.#keys(prefix)
      .filter((key) => client === undefined || this.#clientOf(key) === client)
      .map(({ name }) => {
        const [, user = "", grant = ""] = name.split(":");
        return { user, grant };
      });
    for (const { user, grant } of ended) this.revoke(user, grant);
    return ended;
  }

  /**
   * Keeps the newest grants of an application for a resource, the given one always among them.
   *
   * @returns the ids that ended.
   */
  prune(user: string, { id, client, resource }: Grant, keep: number): readonly string[] {
    const others = this.list(user).filter(
      (grant) => grant.client === client && grant.resource === resource && grant.id !== id,
    );
    const ended = others.slice(keep - 1).map((grant) => grant.id);
    for (const other of ended) this.revoke(user, other);
    return ended;
  }

  used(user: string, grant: string): void {
    const now = this.#now();
    const insert = `INSERT INTO grant_use_1 (key, at) VALUES (?, ?)
      ON CONFLICT (key) DO UPDATE SET at = excluded.at WHERE at <= ?`;
    this.#sql.exec(insert, grantKey({ user, grant }), now, now - USED_MS);
  }

  /** Removes the rows of grants that have expired. Each grant that was used has a row in `grant_use_1`. */
  sweep(): void {
    this.retired.sweep();
    this.replays.sweep();
    const expired = this.#sql.exec<{ key: string }>(
      `SELECT key FROM grant_use_1 WHERE NOT EXISTS (
         SELECT 1 FROM kv_1 WHERE kv_1.key = grant_use_1.key
       )`,
    );
    for (const { key } of [...expired]) this.#forget(key);
  }

  /** Removes what is stored beside the row of a grant. */
  #forget(key: string): void {
    this.#sql.exec("DELETE FROM grant_use_1 WHERE key = ?", key);
    this.retired.forget(key);
  }

  /** All of them, page by page. */
  #keys(prefix: string): readonly RowKey[] {
    const keys: RowKey[] = [];
    let cursor: string | undefined = "";
    while (cursor !== undefined) {
      const page = this.#rows.list(prefix, undefined, cursor);
      keys.push(...page.keys);
      cursor = page.cursor;
    }
    return keys;
  }

  /** The library also writes the client beside the grant, unless that would be too long. */
  #clientOf({ name, metadata }: RowKey): string | undefined {
    const beside = metadata === null ? undefined : (JSON.parse(metadata) as Partial<GrantRecord>);
    return (beside ?? this.#record(name))?.clientId;
  }

  #record(key: string): GrantRecord | undefined {
    const value = this.#rows.get(key);
    return value === null ? undefined : (JSON.parse(value) as GrantRecord);
  }

  #read(key: string): Grant | undefined {
    const record = this.#record(key);
    if (record?.refreshTokenId === undefined) return undefined;
    const { id, clientId, resource, redirectUri, scope, metadata, createdAt } = record;
    const [row] = this.#sql.exec<{ at: number }>("SELECT at FROM grant_use_1 WHERE key = ?", key);
    return {
      id,
      client: clientId,
      resource: String(resource),
      redirectUri: String(redirectUri),
      scopes: scope,
      name: metadata?.name ?? clientId,
      createdAt: createdAt * 1000,
      ...(row !== undefined && { usedAt: row.at }),
    };
  }
}

function prefixOf(user: string): string {
  return grantKey({ user, grant: "" });
}
