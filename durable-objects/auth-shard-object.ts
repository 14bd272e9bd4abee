/**
 * One shard of the sign-in records: of the users, of the clients, or of the records that live for minutes
 * (`src/auth/store/shards.ts`). Each part has its tables and its methods; this object wires them to the
 * storage, to each other and to the other shards.
 */

import { DurableObject } from "cloudflare:workers";

import { type CurrentUser, currentUser } from "../src/auth/store/users.ts";
import type { AuthBacking } from "../src/auth/context/context.ts";
import type { TokenAnswer } from "../src/auth/oauth/grants/grant-token-endpoint.ts";
import { TokenRequest } from "../src/auth/oauth/grants/token-request.ts";
import { loadConfig } from "../src/config/config.ts";
import type { Authority } from "../src/auth/oauth/engine/authority.ts";
import { oauthError } from "../src/auth/oauth/endpoints/oauth-http.ts";
import { SERVERS_UNKNOWN } from "../src/endpoint/endpoint.ts";
import { count } from "../src/observability/costs.ts";
import { activitiesIn } from "./activities.ts";
import { AlarmClock } from "./alarm-clock.ts";
import { type AuthParts, authParts, type PartName } from "./auth-parts.ts";
import { EndedUsers } from "./ended-users.ts";
import { FollowedConfig } from "./followed-config.ts";
import { type GrantServices, grantServices } from "./grant-services.ts";
import { authOf } from "./authorization-server.ts";
import { Leases } from "./leases.ts";
import { meteredSql } from "./metered-sql.ts";
import { connectorAt } from "./connectors.ts";
import { PublisherLeases } from "./publisher-leases.ts";
import { vaultsIn } from "./vaults.ts";

const HOUR_MS = 3_600_000;
const RETRY_SECONDS = 5;

export class AuthShardObject extends DurableObject<Env> {
  readonly #parts: AuthParts;
  readonly #grants: GrantServices;
  readonly #leases: Leases;
  readonly #publishers: PublisherLeases;
  readonly #clock: AlarmClock;
  readonly #accounts: EndedUsers;
  readonly #activity: EndedUsers;
  readonly #providers: AuthBacking["providers"];
  readonly #followed: FollowedConfig;
  readonly #authorityAt: (origin: string) => Authority;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    count("objectsConstructed");
    const loaded = loadConfig(env);
    if (!loaded.ok) throw new Error("The configuration has mistakes; every route names them");
    const { config } = loaded;
    const sql = meteredSql(ctx.storage.sql);
    const parts = authParts(sql, config, (owner) => ctx.waitUntil(this.#askFor(owner)));
    this.#parts = parts;
    this.#leases = new Leases(ctx);
    this.#clock = new AlarmClock(ctx);
    const retryBy = (at: number): void => this.#clock.noLaterThan(at);
    this.#accounts = new EndedUsers(sql, {
      table: "ended_accounts_1",
      end: (person) => vaultsIn(env).of({ kind: "person", person }).disconnectAll(),
      retryBy,
    });
    this.#activity = new EndedUsers(sql, {
      table: "ended_activity_1",
      end: (person) => activitiesIn(env).forget(person),
      retryBy,
    });
    this.#publishers = new PublisherLeases({
      sql,
      isGood: (person, lease) =>
        parts.keys.list(person).some(({ id }) => id === lease) ||
        parts.grants.find(person, lease) !== undefined,
      tell: async (person, tag) => connectorAt(env, person).leaseEnded(tag),
      retryBy: (at) => this.#clock.noLaterThan(at),
      waitUntil: (work) => ctx.waitUntil(work),
    });
    const auth = authOf(env, config);
    this.#providers = auth.providers;
    this.#followed = new FollowedConfig(ctx, env);
    this.#authorityAt = (origin) =>
      authOf(env, this.#followed.config ?? config).authorities.at(origin);
    this.#grants = grantServices(parts, {
      ...{ auth, authorityAt: this.#authorityAt },
      limits: config.limits,
      isHere: (shard) => env.AUTH.idFromName(shard).equals(ctx.id),
      currentUser: (id, codeMac) => this.currentUser(id, codeMac),
      onUserEnded: (user) => this.#signOutEverywhere(user),
      onGrantsEnded: (grants) => this.#ended(grants),
    });
  }

  /** Calls a method of a part (`auth-store-stub.ts`); the types of `AuthShard` list them. */
  call(part: PartName, method: string, args: readonly unknown[]): unknown {
    this.#sweepLater();
    const target: object = part === "bearers" ? this.#grants.bearers : this.#parts[part];
    const methods = target as Readonly<Record<string, (...args: readonly unknown[]) => unknown>>;
    // A Worker of another version may know another method.
    if (typeof methods[method] !== "function") throw new TypeError(`There is no ${part}.${method}`);
    const calls = (): unknown => methods[method]?.(...args);
    if (part !== "bearers") return calls();
    const [origin, resource] = args;
    return this.#follow(String(origin), String(resource)).then((isCertain) => {
      // A token that is good would be called invalid, and its client would throw it away.
      if (!isCertain) throw new Error(SERVERS_UNKNOWN);
      return calls();
    });
  }

  /** The token endpoint for the grants of this shard. */
  async token(origin: string, form: string, authorization: string | null): Promise<TokenAnswer> {
    this.#sweepLater();
    const request = new TokenRequest(new URLSearchParams(form), authorization);
    const { subject } = request;
    // A stranger can name any resource: only that of a grant which is here counts.
    const resource = subject && this.#parts.grants.resourceOf(subject);
    // A token can be revoked whatever it was for.
    if (!(await this.#follow(origin, resource)) && !request.isRevocation) {
      return { response: resourceUnknown(), reason: "internal-error" };
    }
    return this.#grants.tokenEndpoint.answer(origin, request);
  }

  /**
   * The Worker may know of a server already that an operator has added, and this isolate not.
   *
   * @returns false where the resource may be that of a server which cannot be asked for now.
   */
  async #follow(origin: string, resource: string | undefined): Promise<boolean> {
    await this.#followed.follow();
    if (resource === undefined) return true;
    const isKnown = (): boolean =>
      this.#authorityAt(origin).resources.some(({ id }) => id === resource);
    return isKnown() || (await this.#followed.seek()) || isKnown();
  }

  /** Opens a socket that is closed when a grant or key ends (`Leases`). */
  override fetch(request: Request): Response {
    return this.#leases.open(request);
  }

  currentUser(id: string, codeMac: string | undefined): Promise<CurrentUser | undefined> {
    return currentUser({ providers: this.#providers }, this.#parts.users.find(id), codeMac);
  }

  endGrant(user: string, grant: string): boolean {
    const ended = this.#parts.grants.revoke(user, grant);
    if (ended) this.#ended([grant]);
    return ended;
  }

  endClient(client: string): number {
    const ended = this.#parts.grants.revokeOfEverybody(client);
    this.#parts.approvals.forgetClient(client);
    this.#ended(ended.map(({ grant }) => grant));
    return ended.length;
  }

  endKey(owner: string, key: string): boolean {
    const ended = this.#parts.keys.revoke(owner, key);
    if (ended) this.#ended([key]);
    return ended;
  }

  /** Called by the object of a person whose machine has connected. */
  holdPublisher(person: string, [lease = ""]: readonly string[]): boolean {
    const { users } = this.#parts;
    const user = users.find(person);
    if (user === undefined || user.isDisabled) return false;
    if (!this.#publishers.hold(person, lease)) return false;
    if (user.publishes !== true) users.change(person, { publishes: true });
    return true;
  }

  releasePublisher(person: string): void {
    this.#publishers.release(person);
    this.#parts.users.change(person, { publishes: undefined });
  }

  async setDisabled(user: string, isDisabled: boolean): Promise<boolean> {
    // What is connected or called from now on must not end with what was before.
    if (!isDisabled) {
      await this.#accounts.finish(user);
      await this.#activity.finish(user);
      // A sign-in or a consent that was under way as they were disabled may have opened something since.
      if (this.#parts.users.find(user)?.isDisabled === true) this.#signOutEverywhere(user);
    }
    const changed = this.#parts.users.change(user, { isDisabled });
    if (isDisabled && changed !== undefined) await this.#endEverything(user);
    return changed !== undefined;
  }

  async revokeEverything(user: string): Promise<void> {
    this.#parts.approvals.forgetAll(user);
    await this.#endEverything(user);
  }

  async finishEnds(user: string): Promise<void> {
    await this.#accounts.finish(user);
  }

  /**
   * Frees the room of expired records; reads check the expiry themselves. Only calls schedule a sweep, so
   * an unused object sleeps for ever.
   */
  override async alarm(): Promise<void> {
    this.#clock.fired();
    const parts: readonly { sweep?: () => void }[] = [
      ...Object.values(this.#parts),
      this.#publishers,
    ];
    for (const part of parts) part.sweep?.();
    const retried = [this.#accounts, this.#activity, this.#publishers];
    await Promise.all(retried.map((each) => each.retry()));
  }

  async #endEverything(user: string): Promise<void> {
    this.#signOutEverywhere(user);
    const ends = [this.#activity];
    if (this.#parts.users.find(user)?.hasAccounts === true) ends.push(this.#accounts);
    // All are written down before one is waited for: this object may be lost while another does not answer.
    await Promise.all(ends.map((each) => each.end(user)));
  }

  #signOutEverywhere(user: string): void {
    const { grants, keys, sessions } = this.#parts;
    grants.revokeAll(user);
    keys.revokeAll(user);
    sessions.endAll(user);
    this.#ended([user]);
  }

  /** Closes the streams of these grants, keys or users, and the connections of their machines. */
  #ended(tags: readonly string[]): void {
    this.#leases.end(tags);
    this.#publishers.end(tags);
  }

  /** Asks the owner's provider when an API key is used, since API keys are not refreshed. */
  async #askFor(owner: string): Promise<void> {
    if (this.#parts.users.find(owner) === undefined) return; // a service client
    try {
      await this.#grants.judge.ask(owner);
    } catch {
      // `ask` has ended the owner's access if it had to; a provider that failed is asked again tomorrow.
    }
  }

  #sweepLater(): void {
    this.#clock.noLaterThan(Date.now() + HOUR_MS);
  }
}

/** RFC 6749 section 5.2 has final errors only, at which clients throw their tokens away. */
function resourceUnknown(): Response {
  const options = { status: 503, headers: { "Retry-After": String(RETRY_SECONDS) } };
  return oauthError("temporarily_unavailable", SERVERS_UNKNOWN, options);
}
