/**
 * The storage for `@cloudflare/workers-oauth-provider` as its `OAUTH_KV`: exactly the part of
 * Workers KV that version 1.2.3 uses, over rows that are strongly consistent. Any other call of a
 * later version throws, so that an upgrade fails in a test and not in production.
 */

import { OAuthError } from "@cloudflare/workers-oauth-provider";

import { shardName } from "./shards.ts";
import type { RowOptions, RowPage } from "./kv-rows.ts";

type Awaitable<T> = T | Promise<T>;

/** `KvRows` here or in another object. */
export interface KvBacking {
  get(key: string): Awaitable<string | null>;
  put(key: string, value: string, options?: RowOptions): Awaitable<void>;
  putWhile(other: string, key: string, value: string, options?: RowOptions): Awaitable<boolean>;
  delete(key: string): Awaitable<boolean>;
  list(prefix: string, limit?: number, cursor?: string): Awaitable<RowPage>;
}

export interface KvAdapterOptions {
  /** The rows of a shard, by its name. */
  readonly rowsOf: (shard: string) => KvBacking;
  /** The record of a client whose id is a URL: it comes from a document, not from a row. */
  readonly documentOf: (clientId: string) => Promise<object | null>;
  /** The lifetime of an authorization code: the library has no setting for it. */
  readonly codeSeconds: number;
  /** The time for which a registered client is kept before it gets a token. */
  readonly unusedClientSeconds: number;
  readonly now?: () => number;
}

interface GetOptions {
  readonly type: "json";
}

interface PutOptions {
  readonly expirationTtl?: number;
  readonly expiration?: number;
  readonly metadata?: unknown;
}

interface ListOptions {
  readonly prefix?: string;
  readonly limit?: number;
  readonly cursor?: string;
}

function isGrant(key: string): boolean {
  return key.startsWith("grant:");
}

/** @returns the same rows without writes to existing grants: tokens that are issued change none. */
export function keepingGrants(rows: KvBacking): KvBacking {
  return {
    get: (key) => rows.get(key),
    put: (key, value, options) => (isGrant(key) ? undefined : rows.put(key, value, options)),
    putWhile: async (other, key, value, options) =>
      isGrant(key) ? (await rows.get(other)) !== null : rows.putWhile(other, key, value, options),
    delete: (key) => rows.delete(key),
    list: (prefix, limit, cursor) => rows.list(prefix, limit, cursor),
  };
}

/** The lifetime that the library gives a grant whose code was not redeemed yet. */
const PENDING_GRANT_SECONDS = 600;
const CLIENT = "client:";

export class KvAdapter {
  readonly #options: KvAdapterOptions;
  readonly #now: () => number;

  constructor(options: KvAdapterOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => Date.now());
  }

  /** @returns the same storage, with some of the rows in the same object. */
  with(local: (shard: string) => KvBacking | undefined): KvAdapter {
    const { rowsOf } = this.#options;
    return new KvAdapter({
      ...this.#options,
      rowsOf: (shard) => local(shard) ?? rowsOf(shard),
    });
  }

  /** The library reads every value here as JSON. */
  async get(key: string, options?: GetOptions): Promise<unknown> {
    if (options?.type !== "json") throw new TypeError("unsupported: get of anything but JSON");
    if (key.startsWith(`${CLIENT}https://`)) {
      return this.#options.documentOf(key.slice(CLIENT.length));
    }
    const value = await this.#rowsOf(key).get(key);
    if (value === null) return null;
    const record = JSON.parse(value) as Record<string, unknown>;
    // Without it the library extends no registration. It would do so with every successful
    // response, even to the revocation of a made-up token; here only an issued token extends one.
    if (key.startsWith(CLIENT)) delete record["registrationExpiresAt"];
    return record;
  }

  async put(key: string, value: string, options: PutOptions = {}): Promise<void> {
    const { expirationTtl, expiration, metadata } = options;
    const seconds = expirationTtl === undefined ? undefined : this.#secondsOf(key, expirationTtl);
    const expiresAt = seconds === undefined ? expiration : Math.floor(this.#now() / 1000) + seconds;
    const rows = this.#rowsOf(key);
    const row: RowOptions = {
      ...(expiresAt !== undefined && { expiresAt }),
      ...(metadata !== undefined && { metadata: JSON.stringify(metadata) }),
    };
    const isNew = key.startsWith("grant:") && expirationTtl === PENDING_GRANT_SECONDS;
    const grant = isNew ? undefined : grantOf(key);
    if (grant === undefined) return rows.put(key, value, row);
    // The library read the grant earlier, and a provider was asked meanwhile. A grant that has
    // ended stays so.
    if (await rows.putWhile(grant, key, value, row)) return undefined;
    throw new OAuthError("invalid_grant", { description: "The grant has ended" });
  }

  async delete(key: string): Promise<void> {
    await this.#rowsOf(key).delete(key);
  }

  async list({ prefix = "", limit, cursor }: ListOptions = {}): Promise<object> {
    const page = await this.#rowsOf(prefix).list(prefix, limit, cursor);
    return {
      keys: page.keys.map(({ name, metadata }) => ({
        name,
        ...(metadata !== null && { metadata: JSON.parse(metadata) as unknown }),
      })),
      list_complete: page.cursor === undefined,
      ...(page.cursor !== undefined && { cursor: page.cursor }),
    };
  }

  #rowsOf(key: string): KvBacking {
    return this.#options.rowsOf(shardOfKey(key));
  }

  /** @returns the lifetime of a record for which the library requests this one. */
  #secondsOf(key: string, requested: number): number {
    const { codeSeconds, unusedClientSeconds } = this.#options;
    if (key.startsWith("grant:") && requested === PENDING_GRANT_SECONDS) return codeSeconds;
    return key.startsWith(CLIENT) ? unusedClientSeconds : requested;
  }
}

/** @returns the key of the grant to which a record belongs, or which it is. */
function grantOf(key: string): string | undefined {
  const [kind, user = "", grant = ""] = key.split(":");
  return kind === "grant" || kind === "token" ? `grant:${user}:${grant}` : undefined;
}

/** @throws TypeError for a key without an owner: finding it would mean searching all objects. */
export function shardOfKey(key: string): string {
  const [kind = "", owner = ""] = key.split(":");
  if (kind === "client" && key.length > CLIENT.length) {
    return shardName("c", key.slice(CLIENT.length));
  }
  if ((kind === "grant" || kind === "token") && owner !== "") return shardName("u", owner);
  throw new TypeError(`unsupported key: ${kind}:`);
}
