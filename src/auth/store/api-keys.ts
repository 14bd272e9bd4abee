/**
 * Tokens that do not come from an authorization: API keys, which a user creates, and the tokens of
 * service clients. Both are `<prefix>_<kind>_<id>_<secret>`; the id leads to the object that holds
 * the key, and only a hash of the secret is stored. The distinct prefix lets scanners find leaked
 * keys.
 */

import { hashOf, isSame, randomName, randomSecret } from "../../lib/random.ts";
import type { Sql } from "../../lib/sql.ts";
import { drawFor, shardName } from "./shards.ts";
import { Records } from "../../lib/records.ts";

/** `edgeway_sk_`: created by a user. `edgeway_cc_`: issued to a service client for an hour. */
type KeyKind = "sk" | "cc";

/**
 * The administrator who created a service client: it ends with the right under which they created
 * it.
 */
export interface Maker {
  readonly user: string;
  readonly codeMac?: string;
}

export interface ApiKey {
  readonly id: string;
  readonly kind: KeyKind;
  /** A user, or a service client. */
  readonly owner: string;
  readonly label: string;
  readonly scopes: readonly string[];
  readonly resources: readonly string[];
  /** The prefix of its token; absent from keys that are older than the choice of prefix. */
  readonly prefix?: string;
  /** Milliseconds since 1970, like all times here. */
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly usedAt?: number;
  /** The MAC of the owner code under which it was created, if it was (`SignInResult.codeMac`). */
  readonly codeMac?: string;
  /** The maker of the service client to which the token belongs. */
  readonly maker?: Maker;
}

export type NewKey = Pick<
  ApiKey,
  "kind" | "owner" | "label" | "scopes" | "resources" | "expiresAt" | "codeMac" | "maker"
>;

interface MadeKey {
  readonly key: ApiKey;
  readonly token: string;
}

interface DrawnKey {
  readonly id: string;
  readonly secret: string;
  readonly hash: string;
}

type Row = { id: string; owner: string; hash: string; record: string; used: number | null };

const ID_CHARS = 16;
const PREFIX = "edgeway";
/** The prefix of keys that were created before this one; they work until they expire. */
const OLD_PREFIX = "mgw";
const TOKEN = /^(edgeway|mgw)_(sk|cc)_([a-z0-9]{16})_([A-Za-z0-9_-]{43})$/;
/** The use of a key is recorded at most once a day. */
const USED_MS = 86_400_000;

/** @returns the name of the object that would hold the key, if the token has the shape of one. */
export function keyShard(token: string): string | undefined {
  const [, , , id] = TOKEN.exec(token) ?? [];
  return id === undefined ? undefined : shardName("u", id);
}

/** @returns the beginning of a key's token: the part that is not secret. */
export function beginningOf({ prefix = OLD_PREFIX, kind, id }: ApiKey): string {
  return `${prefix}_${kind}_${id}`;
}

export interface ApiKeysOptions {
  /** @returns whether a browser session of a user lasts. */
  readonly hasSession: (user: string, session: string) => boolean;
  /** Called when the use of a key is recorded. */
  readonly onUsed?: (key: ApiKey) => void;
  readonly now?: () => number;
}

export class ApiKeys extends Records {
  static override readonly SCHEMA = [
    `CREATE TABLE IF NOT EXISTS keys_1 (
      id TEXT PRIMARY KEY, owner TEXT NOT NULL, hash TEXT NOT NULL, record TEXT NOT NULL,
      used INTEGER
    )`,
    "CREATE INDEX IF NOT EXISTS keys_1_owner ON keys_1 (owner)",
  ];
  readonly #hasSession: ApiKeysOptions["hasSession"];
  readonly #onUsed: ApiKeysOptions["onUsed"];

  constructor(sql: Sql, { hasSession, onUsed, now = () => Date.now() }: ApiKeysOptions) {
    super(sql, now);
    this.#hasSession = hasSession;
    this.#onUsed = onUsed;
  }

  /** @returns the key, and the token that is shown once and not stored. */
  async create(key: NewKey): Promise<MadeKey> {
    return this.#insert(key, await this.#draw(key));
  }

  /**
   * Creates a key for the user of a session, unless they have enough or the session has ended. No
   * other code runs between the checks and writing: so concurrent calls create no more, and whatever
   * ends the session either comes first or ends the key as well.
   *
   * @param most the number of keys that the owner may have.
   * @param session the id of a session of the owner.
   */
  async createWithin(
    most: number,
    key: NewKey,
    session: string,
  ): Promise<MadeKey | "enough" | "signed-out"> {
    const drawn = await this.#draw(key);
    if (!this.#hasSession(key.owner, session)) return "signed-out";
    return this.list(key.owner).length < most ? this.#insert(key, drawn) : "enough";
  }

  async #draw({ owner }: NewKey): Promise<DrawnKey> {
    const id = drawFor(shardName("u", owner), "u", () => randomName(ID_CHARS));
    const secret = randomSecret();
    return { id, secret, hash: await hashOf(secret) };
  }

  #insert(key: NewKey, { id, secret, hash }: DrawnKey): MadeKey {
    const made: ApiKey = { ...key, id, prefix: PREFIX, createdAt: this.now() };
    const insert = "INSERT INTO keys_1 (id, owner, hash, record) VALUES (?, ?, ?, ?)";
    this.run(insert, [id, key.owner, hash, JSON.stringify(made)]);
    return { key: made, token: `${beginningOf(made)}_${secret}` };
  }

  /** @returns the key of a token, if it is one, has not expired and was not revoked. */
  async check(token: string): Promise<ApiKey | undefined> {
    const [, prefix, kind, id = "", secret = ""] = TOKEN.exec(token) ?? [];
    const hash = await hashOf(secret);
    const row = this.row<Row>("SELECT * FROM keys_1 WHERE id = ?", [id]);
    if (row === undefined || !isSame(row.hash, hash)) return undefined;
    const key = keyOf(row);
    const now = this.now();
    const isWhole = key.kind === kind && (key.prefix ?? OLD_PREFIX) === prefix;
    if (!isWhole || key.expiresAt <= now) return undefined;
    if (now - (key.usedAt ?? 0) >= USED_MS) {
      this.run("UPDATE keys_1 SET used = ? WHERE id = ?", [now, id]);
      this.#onUsed?.(key);
    }
    return key;
  }

  list(owner: string): readonly ApiKey[] {
    const rows = this.rows<Row>("SELECT * FROM keys_1 WHERE owner = ?", [owner]);
    return rows.map(keyOf).filter(({ expiresAt }) => expiresAt > this.now());
  }

  /** @returns whether the key existed and was the owner's. */
  revoke(owner: string, id: string): boolean {
    const query = "DELETE FROM keys_1 WHERE id = ? AND owner = ? RETURNING id";
    return this.count(query, [id, owner]) > 0;
  }

  revokeAll(owner: string): void {
    this.run("DELETE FROM keys_1 WHERE owner = ?", [owner]);
  }

  /** Deletes expired rows. */
  sweep(): void {
    for (const key of this.rows<Row>("SELECT * FROM keys_1").map(keyOf)) {
      if (key.expiresAt <= this.now()) this.revoke(key.owner, key.id);
    }
  }
}

function keyOf({ record, used }: Row): ApiKey {
  const key = JSON.parse(record) as ApiKey;
  return used === null ? key : { ...key, usedAt: used };
}
