/**
 * The one object for values that all isolates share: the keys that seal session ids, the root of the keys
 * of sign-in, the keys of identity assertions, the owner's code where the operator gave none, and the servers
 * that operators have added. Each isolate that serves requests asks it every five seconds for a newer version of
 * those.
 */

import { DurableObject } from "cloudflare:workers";

import {
  type IdentityKeyStore,
  type StoredIdentityKey,
  withIdentityKey,
} from "../src/accounts/assertion/identity-keys.ts";
import { OwnerCode } from "../src/auth/identity/owner-code.ts";
import { loadConfig } from "../src/config/config.ts";
import { ServerRows } from "../src/config/registry/server-rows.ts";
import { randomSecret } from "../src/lib/random.ts";
import type {
  AddedServer,
  AddOutcome,
  ChangeOutcome,
  ServerSwitch,
} from "../src/observability/added-servers.ts";
import { count } from "../src/observability/costs.ts";
import { defaultLimits } from "../src/policy/limits.ts";
import type { Topic, TopicChange } from "../src/catalog/feeds.ts";
import { VersionNews } from "../src/notifications/source/version-news.ts";
import { SERVERS_KEY } from "../src/upstream/server-key.ts";
import { meteredSql } from "./metered-sql.ts";
import { branchAt } from "./ports.ts";
import { rotate, type StoredKey } from "../src/endpoint/key-rotation.ts";

const DAY_MS = 86_400_000;
const KEYS = "sessionKeys";
const AUTH_ROOT = "authRoot";
const IDENTITY_KEYS = "identityKeys";
const LOOKED = "lookedAt";
/** Isolates start all the time; their servers are looked at once in this time. */
const LOOK_MS = 10 * 60_000;

export class RegistryObject extends DurableObject<Env> {
  readonly #lifeMs: number;
  readonly #owner: OwnerCode;
  readonly #servers: ServerRows;
  #made: VersionNews | undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    count("objectsConstructed");
    const loaded = loadConfig(env);
    const limits = loaded.ok ? loaded.config.limits : defaultLimits();
    this.#lifeMs = limits.sessionDays * DAY_MS;
    this.#owner = new OwnerCode(ctx.storage.kv);
    this.#servers = new ServerRows(ctx.storage.kv, Date.now);
  }

  /**
   * The keys for session ids, newest first, as base64url. Synchronous from reading to writing, so that two
   * first calls get the same key: no other call runs in between, and no answer leaves before the write is
   * durable.
   */
  sessionKeys(): readonly string[] {
    const { kv } = this.ctx.storage;
    const stored = kv.get<readonly StoredKey[]>(KEYS) ?? [];
    const keys = rotate(stored, Date.now(), this.#lifeMs);
    if (keys !== stored) kv.put(KEYS, keys);
    return keys.map(({ material }) => material);
  }

  /** The root of the keys of sign-in, as base64url: made once, and kept as long as the gateway's users. */
  authRoot(): string {
    const { kv } = this.ctx.storage;
    const stored = kv.get<string>(AUTH_ROOT);
    if (stored !== undefined) return stored;
    const made = randomSecret();
    kv.put(AUTH_ROOT, made);
    return made;
  }

  /** The keys of identity assertions, sealed by the Workers: see `IdentityKeyStore`. */
  identityKeys(): readonly StoredIdentityKey[] {
    return this.ctx.storage.kv.get<readonly StoredIdentityKey[]>(IDENTITY_KEYS) ?? [];
  }

  addIdentityKey(
    ...[key, lost]: Parameters<IdentityKeyStore["addIdentityKey"]>
  ): readonly StoredIdentityKey[] {
    const keys = withIdentityKey(this.identityKeys(), key, lost, Date.now());
    this.ctx.storage.kv.put(IDENTITY_KEYS, keys);
    return keys;
  }

  /**
   * Asked by each isolate that starts.
   *
   * @param servers a text that is another one for other servers.
   * @returns whether the isolate is to look at them: no other one has a moment ago.
   */
  claimLook(servers: string): boolean {
    const { kv } = this.ctx.storage;
    const last = kv.get<{ readonly servers: string; readonly at: number }>(LOOKED);
    const now = Date.now();
    if (last?.servers === servers && Math.abs(now - last.at) < LOOK_MS) return false;
    kv.put(LOOKED, { servers, at: now });
    return true;
  }

  /** The owner's code: see `OwnerCode`. */
  codeHash(): string | undefined {
    return this.#owner.codeHash();
  }

  beginSetup(): Promise<string | undefined> {
    return this.#owner.beginSetup();
  }

  isSetupToken(token: string): Promise<boolean> {
    return this.#owner.isSetupToken(token);
  }

  finishSetup(token: string, nonce: string): Promise<string | undefined> {
    return this.#owner.finishSetup(token, nonce);
  }

  /**
   * The servers that operators have added, as JSON here and below: see `ServerStore`.
   *
   * @param known a version.
   * @returns an `AddedServers`; `undefined` while `known` is the newest.
   */
  addedServers(known?: number): string | undefined {
    const rows = this.#servers;
    // What an earlier life could not announce. Every isolate asks this, so some life soon does.
    if (rows.version > 0) this.#news();
    return rows.version === known ? undefined : JSON.stringify(rows.all());
  }

  /** @param servers a list of `AddedServer`. */
  addServers(servers: string): AddOutcome {
    return this.#told(this.#servers.addServers(JSON.parse(servers) as readonly AddedServer[]));
  }

  /** Nobody is told, since nothing has changed. */
  resealServer(slug: string, before: string, after: string): boolean {
    return this.#servers.resealServer(slug, before, after);
  }

  /** @param server an `AddedServer`. */
  putServer(server: string, revision: number): ChangeOutcome {
    return this.#told(this.#servers.putServer(JSON.parse(server) as AddedServer, revision));
  }

  removeServer(slug: string, revision: number): ChangeOutcome {
    return this.#told(this.#servers.removeServer(slug, revision));
  }

  putSwitch(slug: string, change: ServerSwitch, revision: number): ChangeOutcome {
    return this.#told(this.#servers.putSwitch(slug, change, revision));
  }

  /** Of a branch of the fan-out, as a feed's: for those who are told when the servers have changed. */
  watch(branch: number, change: TopicChange): readonly Topic[] {
    return this.#news().watch(branch, change);
  }

  #told<Outcome extends ChangeOutcome>(outcome: Outcome): Outcome {
    if (outcome.kind === "changed") this.#news().grown();
    return outcome;
  }

  /** Made when it is used: most calls need none of it. */
  #news(): VersionNews {
    const { ctx, env } = this;
    this.#made ??= new VersionNews({
      key: SERVERS_KEY,
      sql: meteredSql(ctx.storage.sql),
      isOld: (version) => version < this.#servers.version,
      publish: (branch, news) => branchAt(env, branch).publish(news),
      // Whoever calls learns of a new version by that.
      alarm: { noLaterThan: () => undefined, withdraw: () => undefined },
      now: () => Date.now(),
    });
    return this.#made;
  }
}
