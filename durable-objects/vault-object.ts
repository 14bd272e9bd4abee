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
import type { Server } from "../src/endpoint/server.ts";
import { VaultNews } from "../src/notifications/source/vault-news.ts";
import { count } from "../src/observability/costs.ts";
import { logUnexpected } from "../src/observability/unexpected.ts";
import { vaultKey } from "../src/upstream/server-key.ts";
import type { Credential } from "../src/upstream/credentials.ts";
import { AlarmClock } from "./alarm-clock.ts";
import { FollowedConfig } from "./followed-config.ts";
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
  readonly #followed: FollowedConfig;
  #made: VaultNews | undefined;
  readonly #service: VaultService | undefined;
  readonly #registrations: Registrations | undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    count("objectsConstructed");
    this.#clock = new AlarmClock(ctx);
    const name = ctx.id.name ?? ctx.storage.kv.get<string>(NAME) ?? "";
    this.#name = name;
    this.#followed = new FollowedConfig(ctx, env);
    this.#followed.begin(() => undefined);
    const { config } = this.#followed;
    if (config === undefined) return;
    const owner = readOwner(name);
    const serverOf = (slug: string): Server | undefined => this.#followed.config?.servers.get(slug);
    const parts = { ctx, env, name, config, serverOf };
    if (owner === undefined) this.#registrations = registrationsOf(parts);
    else
      this.#service = vaultServiceOf(parts, owner, {
        announce: (slug) => this.#news().changed(slug),
        retryBy: (at) => this.#clock.noLaterThan(at),
      });
  }

  /** Of a branch of the fan-out, as a feed's. */
  async watch(branch: number, change: TopicChange): Promise<readonly Topic[]> {
    return this.#service === undefined ? [] : this.#news().watch(branch, change);
  }

  async account(slug: string): Promise<string | undefined> {
    return (await this.#vault(slug)).account(slug);
  }

  async credential(request: CredentialRequest): Promise<Credential> {
    return (await this.#vault(request.slug)).credential(request);
  }

  async lacking(request: LackingRequest): Promise<Credential> {
    return (await this.#vault(request.slug)).lacking(request);
  }

  async connected(slug: string, waitMs: number): Promise<boolean> {
    return (await this.#vault()).connected(slug, waitMs);
  }

  async announce(): Promise<void> {
    return (await this.#vault()).announce();
  }

  async accounts(): Promise<readonly AccountSummary[]> {
    return (await this.#vault()).accounts();
  }

  async offer(slug: string, ask: string | undefined): Promise<ConnectOffer> {
    return (await this.#vault(slug)).offer(slug, ask);
  }

  async begin(request: BeginRequest): Promise<BeginOutcome> {
    return (await this.#vault(request.slug)).begin(request);
  }

  async finish(request: FinishRequest): Promise<FinishOutcome> {
    return (await this.#vault()).finish(request);
  }

  async enterKey(slug: string, key: string): Promise<FinishOutcome> {
    return (await this.#vault(slug)).enterKey(slug, key);
  }

  async disconnect(slug: string): Promise<"disconnected" | "none"> {
    return (await this.#vault()).disconnect(slug);
  }

  async disconnectAll(): Promise<void> {
    return (await this.#vault()).disconnectAll();
  }

  async sealAnew(): Promise<SealedAnew> {
    return (await this.#vault()).sealAnew();
  }

  /** @returns `false` when there is no such account any more. */
  async hold(holder: EndedHolder): Promise<boolean> {
    return (await this.#vault()).holders.hold(holder);
  }

  /** @param object that has ended. */
  async release(object: string): Promise<void> {
    (await this.#vault()).holders.release({ object });
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
    await this.#followed.follow();
    try {
      this.#clock.noLaterThan(await this.#service?.sweep());
    } catch (error) {
      // The platform tries an alarm that fails a few times, and never again.
      logUnexpected(error);
      this.#clock.noLaterThan(Date.now() + 60 * SOON_MS);
    }
    if (this.#service !== undefined) this.#news().wake();
  }

  /** Made when it is used: most calls need none of it. */
  #news(): VaultNews {
    const { ctx, env } = this;
    this.#made ??= new VaultNews({
      key: vaultKey(this.#name),
      sql: meteredSql(ctx.storage.sql),
      publish: (branch, news) => branchAt(env, branch).publish(news),
      isUsable: (slug) => this.#service?.isUsable(slug) === true,
      alarm: this.#clock,
      now: () => Date.now(),
    });
    return this.#made;
  }

  /**
   * Only calls set the alarm, so a vault that nobody uses sleeps.
   *
   * @param slug the server that is asked about: an operator may have added it just now.
   */
  async #vault(slug?: string): Promise<VaultService> {
    await this.#followed.follow();
    const servers = this.#followed.config?.servers;
    if (slug !== undefined && servers?.has(slug) === false) await this.#followed.renew();
    const { kv } = this.ctx.storage;
    if (this.#service === undefined)
      throw new Error("This object is no vault, or is not configured");
    if (this.ctx.id.name !== undefined && kv.get(NAME) === undefined)
      kv.put(NAME, this.ctx.id.name);
    this.#clock.noLaterThan(Math.min(this.#service.dueAt() ?? Infinity, Date.now() + 60 * SOON_MS));
    return this.#service;
  }
}
