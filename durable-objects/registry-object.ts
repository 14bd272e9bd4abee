/**
 * What all isolates have to agree on, in one object: the keys that session ids are sealed with. It
 * is asked every few minutes by each isolate, and never on behalf of one request.
 */

import { DurableObject } from "cloudflare:workers";

import { loadConfig } from "../src/config.ts";
import { count } from "../src/observability/costs.ts";
import { defaultLimits } from "../src/policy/limits.ts";
import { rotate, type StoredKey } from "../src/sessions/key-rotation.ts";

const DAY_MS = 86_400_000;
const KEYS = "sessionKeys";

export class RegistryObject extends DurableObject<Env> {
  readonly #lifeMs: number;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    count("objectsConstructed");
    const loaded = loadConfig(env);
    const limits = loaded.ok ? loaded.config.limits : defaultLimits();
    this.#lifeMs = limits.sessionDays * DAY_MS;
  }

  /**
   * Newest first. Synchronous from reading to writing, so that two first calls get the same key:
   * nothing else runs in between, and no answer leaves before the write is durable.
   */
  sessionKeys(): readonly string[] {
    const { kv } = this.ctx.storage;
    const stored = kv.get<readonly StoredKey[]>(KEYS) ?? [];
    const keys = rotate(stored, Date.now(), this.#lifeMs);
    if (keys !== stored) kv.put(KEYS, keys);
    return keys.map(({ material }) => material);
  }
}
