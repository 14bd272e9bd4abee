/**
 * The one object for values that all isolates share: the keys that seal session ids, the root of the keys
 * of sign-in, the keys of identity assertions, and the owner's code where the operator gave none. Each isolate
 * calls it every few minutes, and when the owner signs in.
 */

import { DurableObject } from "cloudflare:workers";

import {
  type IdentityKeyStore,
  type StoredIdentityKey,
  withIdentityKey,
} from "../src/accounts/assertion/identity-keys.ts";
import { OwnerCode } from "../src/auth/identity/owner-code.ts";
import { loadConfig } from "../src/config/config.ts";
import { randomSecret } from "../src/lib/random.ts";
import { count } from "../src/observability/costs.ts";
import { defaultLimits } from "../src/policy/limits.ts";
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

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    count("objectsConstructed");
    const loaded = loadConfig(env);
    const limits = loaded.ok ? loaded.config.limits : defaultLimits();
    this.#lifeMs = limits.sessionDays * DAY_MS;
    this.#owner = new OwnerCode(ctx.storage.kv);
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

  finishSetup(token: string): Promise<string | undefined> {
    return this.#owner.finishSetup(token);
  }
}
