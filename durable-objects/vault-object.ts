/**
 * The accounts of one owner at the servers that demand one: a person's, or those that all share; or the
 * registrations of the gateway at one issuer. The object's name says which, and it wires the vault's service to
 * storage, keys and the alarm.
 */

import { DurableObject } from "cloudflare:workers";

import { readOwner } from "../src/accounts/owner-name.ts";
import type {
  RegistrationRequest,
  RegistrationResult,
} from "../src/accounts/service/registrations.ts";
import type { Registrations } from "../src/accounts/service/registrations.ts";
import type { VaultService } from "../src/accounts/service/vault-service.ts";
import type { EndedHolder } from "../src/accounts/store/holder-rows.ts";
import type {
  AccountSummary,
  BeginOutcome,
  BeginRequest,
  ConnectOffer,
  CredentialRequest,
  FinishOutcome,
  FinishRequest,
  LackingRequest,
  SealedAnew,
} from "../src/accounts/vault.ts";
import type { Topic, TopicChange } from "../src/catalog/feeds.ts";
import { loadConfig } from "../src/config/config.ts";
import { VaultNews } from "../src/notifications/source/vault-news.ts";
import { count } from "../src/observability/costs.ts";
import { vaultKey } from "../src/upstream/server-key.ts";
import type { Credential } from "../src/upstream/credentials.ts";
import { AlarmClock } from "./alarm-clock.ts";
import { meteredSql } from "./metered-sql.ts";
import { branchAt } from "./ports.ts";
import { registrationsOf, vaultServiceOf } from "./vault-wiring.ts";

/** An object that its alarm wakes may not know its name. */
const NAME = "name";
/** Enough for what an answer has changed to be written. */
const SOON_MS = 60_000;

export class VaultObject extends DurableObject<Env> {
  readonly #clock: AlarmClock;
  readonly #name: string;
  #made: VaultNews | undefined;
  readonly #service: VaultService | undefined;
  readonly #registrations: Registrations | undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    count("objectsConstructed");
    this.#clock = new AlarmClock(ctx.storage, (promise) => ctx.waitUntil(promise));
    const name = ctx.id.name ?? ctx.storage.kv.get<string>(NAME) ?? "";
    this.#name = name;
    const loaded = loadConfig(env);
    if (!loaded.ok) return;
    const owner = readOwner(name);
    const parts = { ctx, env, name, config: loaded.config };
    if (owner === undefined) this.#registrations = registrationsOf(parts);
    else this.#service = vaultServiceOf(parts, owner, (slug) => this.#news().announce(slug));
  }

  /** Of a branch of the fan-out, as a feed's: sets no alarm. */
  async watch(branch: number, change: TopicChange): Promise<readonly Topic[]> {
    return this.#service === undefined ? [] : this.#news().watch(branch, change);
  }

  account(slug: string): Promise<string | undefined> {
    return this.#vault().account(slug);
  }

  credential(request: CredentialRequest): Promise<Credential> {
    return this.#vault().credential(request);
  }

  lacking(request: LackingRequest): Promise<Credential> {
    return this.#vault().lacking(request);
  }

  connected(slug: string, waitMs: number): Promise<boolean> {
    return this.#vault().connected(slug, waitMs);
  }

  accounts(): Promise<readonly AccountSummary[]> {
    return this.#vault().accounts();
  }

  offer(slug: string, ask: string | undefined): Promise<ConnectOffer> {
    return this.#vault().offer(slug, ask);
  }

  begin(request: BeginRequest): Promise<BeginOutcome> {
    return this.#vault().begin(request);
  }

  finish(request: FinishRequest): Promise<FinishOutcome> {
    return this.#vault().finish(request);
  }

  enterKey(slug: string, key: string): Promise<FinishOutcome> {
    return this.#vault().enterKey(slug, key);
  }

  disconnect(slug: string): Promise<"disconnected" | "none"> {
    return this.#vault().disconnect(slug);
  }

  disconnectAll(): Promise<void> {
    return this.#vault().disconnectAll();
  }

  sealAnew(): Promise<SealedAnew> {
    return this.#vault().sealAnew();
  }

  /** @returns `false` when there is no such account any more. */
  async hold(holder: EndedHolder): Promise<boolean> {
    return this.#vault().holders.hold(holder);
  }

  /** @param object that has ended. */
  async release(object: string): Promise<void> {
    this.#vault().holders.release({ object });
  }

  /** Of the object of an issuer. */
  async register(request: RegistrationRequest): Promise<RegistrationResult> {
    const failed = { kind: "failed", trouble: "registration-failed" } as const;
    return this.#registrations?.register(request) ?? failed;
  }

  async forget(redirectUri: string, clientId: string): Promise<void> {
    await this.#registrations?.forget(redirectUri, clientId);
  }

  async sealRegistrations(): Promise<number> {
    return (await this.#registrations?.sealAnew()) ?? 0;
  }

  override async alarm(): Promise<void> {
    this.#clock.fired();
    this.#clock.noLaterThan(await this.#service?.sweep());
  }

  /** Made when it is used: most calls need none of it. */
  #news(): VaultNews {
    const { ctx, env } = this;
    this.#made ??= new VaultNews({
      key: vaultKey(this.#name),
      sql: meteredSql(ctx.storage.sql),
      publish: (branch, news) => branchAt(env, branch).publish(news),
      isUsable: (slug) => this.#service?.isUsable(slug) === true,
      now: () => Date.now(),
    });
    return this.#made;
  }

  /** Only calls set the alarm, so a vault that nobody uses sleeps. */
  #vault(): VaultService {
    const { kv } = this.ctx.storage;
    if (this.#service === undefined)
      throw new Error("This object is no vault, or is not configured");
    if (this.ctx.id.name !== undefined && kv.get(NAME) === undefined)
      kv.put(NAME, this.ctx.id.name);
    this.#clock.noLaterThan(Math.min(this.#service.dueAt() ?? Infinity, Date.now() + 60 * SOON_MS));
    return this.#service;
  }
}
