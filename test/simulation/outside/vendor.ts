/**
 * An authorization server with accounts, and the model of what must not happen to them: a refresh token that it
 * still honours is lost, or a whole grant is revoked because a spent one came back.
 */

import { IsolateResponse } from "../platform/request-response.ts";
import type { World } from "../platform/world.ts";
import { Actor } from "./actor.ts";

export interface VendorHabits {
  /**
   * `strict`: a refresh token is replaced when it is used, and a spent one revokes the grant. `grace`: the one
   * before is good until its successor is used. `none`: it is never replaced.
   */
  readonly rotation: "strict" | "grace" | "none";
  /** How long an access token lives, in milliseconds. */
  readonly lifeMs: number;
  /** The longest pause before an answer, in milliseconds. */
  readonly pauseMs: number;
  /** Sometimes answers 503, without having done anything. */
  readonly isBusy: boolean;
  /** Some access tokens end early. */
  readonly drops?: boolean;
}

interface Token {
  readonly person: string;
  /** The place in its grant, from 0. */
  readonly generation: number;
  readonly grant: Grant;
  /** When its access token ends, in milliseconds since 1970. */
  endsAt: number;
}

export interface Grant {
  readonly person: string;
  /** In milliseconds since 1970. */
  readonly grantedAt: number;
  isRevoked: boolean;
  newest: number;
  /** The newest refresh token that was used. */
  used: number;
  /** When its person had ended it at the gateway, in milliseconds since 1970. */
  endedAt?: number;
}

const HOST = "login.example.com";
/** A server that refuses a token of the last minute is taken for one that would refuse another, too. */
const KEPT_MS = 65_000;
/** The gateway counts the life of a token from when it asked for it, so there it ends as much earlier as that took. */
const ON_THE_WAY_MS = 1000;

export class Vendor extends Actor {
  readonly habits: VendorHabits;
  readonly #find: (finding: string) => void;
  readonly #tokens = new Map<string, Token>();
  readonly #asked = new Set<string>();
  /** A refresh token was sent twice. */
  hasRepeated = false;

  constructor(world: World, habits: VendorHabits, find: (finding: string) => void) {
    super(world, "vendor");
    this.habits = habits;
    this.#find = find;
    world.network.hosts.set(HOST, {
      context: () => this.context,
      serve: (request) => this.#serve(request),
    });
  }

  /** As `oauth` of `MCP_SERVERS`. */
  get settings(): object {
    return {
      clientId: "gateway",
      clientAuth: "none",
      issuer: `https://${HOST}`,
      authorizationEndpoint: `https://${HOST}/authorize`,
      tokenEndpoint: `https://${HOST}/token`,
      resource: false,
      ...(this.habits.rotation === "none" ? { rotation: "none" } : {}),
    };
  }

  /** @returns whose access token it is, if it is any. */
  ownerOf(accessToken: string): string | undefined {
    return this.#tokens.get(accessToken.replace(/^Bearer access/, "refresh"))?.person;
  }

  grantOf(accessToken: string): Grant | undefined {
    return this.#tokens.get(accessToken.replace(/^Bearer access/, "refresh"))?.grant;
  }

  /**
   * The person has ended, or replaced, what they had connected.
   *
   * @param before when they began to connect what takes its place, in milliseconds since 1970: what is granted later
   *   may be this, or what an attempt before had asked for in vain.
   */
  ended(person: string, before = Infinity): void {
    for (const { grant } of this.#tokens.values()) {
      if (grant.person === person && grant.grantedAt < before) grant.endedAt ??= this.now;
    }
  }

  get now(): number {
    return this.world.scheduler.now;
  }

  accepts(accessToken: string): boolean {
    const token = this.#tokens.get(accessToken.replace(/^Bearer access/, "refresh"));
    return token !== undefined && !token.grant.isRevoked && token.endsAt > this.world.scheduler.now;
  }

  async #serve(request: Request): Promise<Response> {
    const form = new URLSearchParams(await request.text());
    await this.sleep(this.upTo(this.habits.pauseMs));
    if (this.habits.isBusy && this.world.random.chance(0.3))
      return new IsolateResponse(null, { status: 503 });
    const code = form.get("code");
    if (code !== null) {
      const grant = { person: code, grantedAt: this.now, isRevoked: false, newest: -1, used: -1 };
      return this.#issue(grant);
    }
    return this.#refresh(form.get("refresh_token") ?? "");
  }

  #refresh(name: string): Response {
    const token = this.#tokens.get(name);
    if (token === undefined || token.grant.isRevoked) return this.#refused(name);
    const { grant, generation, endsAt } = token;
    const { rotation } = this.habits;
    // Where it is never replaced, each use is one.
    if (rotation !== "none" && this.#asked.has(name)) this.hasRepeated = true;
    this.#asked.add(name);
    if (rotation === "none") return this.#issue(grant, name);
    const isSpent = rotation === "strict" ? generation < grant.newest : generation < grant.used;
    if (isSpent) {
      grant.isRevoked = true;
      if (endsAt - this.habits.pauseMs - ON_THE_WAY_MS > this.world.scheduler.now)
        this.#find(`${name} was sent again while its access token lived, and its grant revoked`);
      return this.#refused(name);
    }
    grant.used = generation;
    return this.#issue(grant);
  }

  #issue(grant: Grant, refreshToken?: string): Response {
    grant.newest += 1;
    const name = `refresh-${grant.person}-${this.world.scheduler.number("token")}`;
    const endsAt = this.world.scheduler.now + this.habits.lifeMs;
    const token = { person: grant.person, generation: grant.newest, grant, endsAt };
    this.#tokens.set(name, token);
    if (this.habits.drops === true && this.world.random.chance(0.8)) void this.#drop(name, token);
    this.note(`issues ${name}`);
    return IsolateResponse.json({
      access_token: name.replace("refresh", "access"),
      token_type: "Bearer",
      expires_in: this.habits.lifeMs / 1000,
      refresh_token: refreshToken ?? name,
    });
  }

  async #drop(name: string, token: Token): Promise<void> {
    await this.sleep(KEPT_MS + this.upTo(this.habits.lifeMs));
    this.note(`forgets the access token of ${name}`);
    token.endsAt = Math.min(token.endsAt, this.now);
  }

  #refused(name: string): Response {
    this.note(`refuses ${name}`);
    return IsolateResponse.json({ error: "invalid_grant" }, { status: 400 });
  }
}
