/**
 * Decides whether a grant may bring another token: the user must still be admitted, and the
 * provider that signed them in must confirm the sign-in (2025-03-26, third-party authorization: the
 * gateway MUST check the provider's session, and end with it).
 */

import {
  GrantType,
  OAuthError,
  type TokenExchangeCallbackOptions,
  type TokenExchangeCallbackResult,
} from "@cloudflare/workers-oauth-provider";

import { BoundedCache } from "../../../lib/bounded-cache.ts";
import { type Keyring, seal, unseal } from "../../../lib/seal.ts";
import { TokenBuckets } from "../../../lib/token-bucket.ts";
import type { TokenReason } from "../../trace/trace.ts";
import type { IdentityProvider } from "../../identity/provider.ts";
import { scopesOf } from "../../scopes.ts";
import type { AuditLog } from "../../store/audit-log.ts";
import type { CurrentUser, User, Users } from "../../store/users.ts";
import type { Grants } from "./grants.ts";

export interface GrantJudgeOptions {
  readonly users: Users;
  readonly audit: AuditLog;
  readonly grants: Pick<Grants, "find" | "codeMacOf">;
  /** @returns `undefined` for a user who may not be served under the current configuration. */
  readonly currentUser: (
    user: string,
    codeMac: string | undefined,
  ) => Promise<CurrentUser | undefined>;
  /** The greatest age of a grant, however often it is renewed. */
  readonly maxAgeMs: number;
  /**
   * The time for which a sign-in lasts after its provider was asked and the answer was lost with
   * the process.
   */
  readonly maxUnprovenMs: number;
  readonly providerOf: (name: string) => IdentityProvider | undefined;
  readonly ring: () => Promise<Keyring>;
  /** Called with a user whose provider has ended the sign-in. */
  readonly onEnded: (user: string) => void;
  readonly now?: () => number;
}

const RETRY_SECONDS = 30;
/** A provider that receives too many requests refuses all of them; one user may not cause that. */
const QUESTIONS_PER_MINUTE = 30;
const MAX_BUCKETS = 10_000;
/** A refusal is read within the same request. */
const REFUSAL_MS = 60_000;

/** The library passes it on like any other error; the gateway recognises it by its reason. */
class GrantRefusal extends OAuthError {
  readonly reason: TokenReason;

  constructor(reason: TokenReason, ...error: ConstructorParameters<typeof OAuthError>) {
    super(...error);
    this.reason = reason;
  }
}

export class GrantJudge {
  readonly #options: GrantJudgeOptions;
  readonly #now: () => number;
  /** Applications of one user that refresh at the same time share one request to the provider. */
  readonly #asking = new Map<string, Promise<void>>();
  /** The reasons for which grants were refused, until they are read. */
  readonly #refusals = new BoundedCache<TokenReason>({ maxEntries: 1000, ttlMs: REFUSAL_MS });
  readonly #buckets: TokenBuckets;

  constructor(options: GrantJudgeOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => Date.now());
    this.#buckets = new TokenBuckets(MAX_BUCKETS, this.#now);
  }

  /** @throws OAuthError when no token may be issued; `invalid_grant` also ends the grant. */
  async judge(
    request: TokenExchangeCallbackOptions<unknown>,
  ): Promise<TokenExchangeCallbackResult> {
    try {
      return await this.#judge(request);
    } catch (error) {
      if (error instanceof GrantRefusal) this.#refusals.set(request.grantId, error.reason);
      throw error;
    }
  }

  /** @returns the reason for which a grant was refused; the reason is returned once. */
  refusalOf(grant: string): TokenReason | undefined {
    const reason = this.#refusals.get(grant);
    this.#refusals.delete(grant);
    return reason;
  }

  async #judge(
    request: TokenExchangeCallbackOptions<unknown>,
  ): Promise<TokenExchangeCallbackResult> {
    const { userId, grantId, requestedScope } = request;
    // A code is redeemed within minutes of the sign-in that it came from.
    if (request.grantType === GrantType.REFRESH_TOKEN) {
      this.#checkAge(userId, grantId);
      // No provider is asked about a user whom the configuration excludes.
      await this.#current(userId, grantId);
      await this.ask(userId);
    }
    const { isAdmin } = await this.#current(userId, grantId);
    const accessTokenScope = scopesOf({ isAdmin }, requestedScope);
    if (accessTokenScope.length === 0) {
      throw new OAuthError("invalid_scope", { description: "The user may not do this any more" });
    }
    return { accessTokenScope };
  }

  /**
   * @returns whether a lost answer alone may explain that the provider rejects a refresh token: the
   *   provider was asked with it before, and has perhaps replaced it. The session at the provider
   *   may then still last, so the last proof counts for a while.
   */
  #isUnproven({ askedAt, provenAt, seenAt }: User): boolean {
    const age = this.#now() - (provenAt ?? seenAt);
    return askedAt !== undefined && age < this.#options.maxUnprovenMs;
  }

  #checkAge(user: string, grant: string): void {
    const { grants, maxAgeMs } = this.#options;
    const createdAt = grants.find(user, grant)?.createdAt ?? Number.NEGATIVE_INFINITY;
    if (this.#now() - createdAt < maxAgeMs) return;
    throw ended("too-old", "The sign-in is too long ago");
  }

  /** @throws OAuthError `invalid_grant` for the grant of a user who may not be served any more. */
  async #current(user: string, grant: string): Promise<CurrentUser> {
    const { currentUser, grants } = this.#options;
    const current = await currentUser(user, grants.codeMacOf(user, grant));
    if (current === undefined) throw shutOut();
    return current;
  }

  #user(id: string): User {
    const user = this.#options.users.find(id);
    if (user === undefined || user.isDisabled) throw shutOut();
    return user;
  }

  /**
   * Asks a user's provider to confirm the sign-in. The provider's refresh tokens may be good for
   * one use, so requests for one user are never concurrent.
   *
   * @throws OAuthError when the provider does not confirm it, or cannot be asked.
   */
  async ask(id: string): Promise<void> {
    const asking = this.#asking.get(id) ?? this.#ask(id);
    this.#asking.set(id, asking);
    try {
      await asking;
    } finally {
      // Another request may have begun to ask anew.
      if (this.#asking.get(id) === asking) this.#asking.delete(id);
    }
  }

  async #ask(id: string): Promise<void> {
    const user = this.#user(id);
    const { users, audit, providerOf, ring, onEnded } = this.#options;
    const provider = providerOf(user.provider);
    if (provider === undefined) {
      throw ended("provider-ended", "The user's provider is gone");
    }
    // Only the gateway knows the owner's code.
    if (provider.kind === "code") return;
    if (!this.#buckets.of(id, QUESTIONS_PER_MINUTE).take()) throw unavailable("limited", 429);
    const keys = await ring();
    const purpose = upkeepPurpose(id);
    const opened = user.upkeep === undefined ? undefined : await unseal(keys, purpose, user.upkeep);
    const upkeep = typeof opened === "string" ? opened : undefined;
    // The note is durable before the request leaves. A process that dies before it stores the
    // answer leaves the note, and a refresh token that the provider may have replaced.
    users.change(id, { askedAt: this.#now() });
    const answer = await provider.recheck(upkeep, user);
    // Once the provider has renewed its token, no answer to an earlier question is missing any more.
    const renewed =
      answer.kind === "ended" || answer.upkeep === undefined
        ? undefined
        : { askedAt: undefined, upkeep: await seal(keys, purpose, answer.upkeep) };
    // Whoever has signed in again meanwhile was confirmed by that, and the answer is about the sign-in
    // before it.
    if (users.find(id)?.upkeep !== user.upkeep) return;
    switch (answer.kind) {
      case "unavailable":
        users.change(id, renewed ?? { askedAt: user.askedAt });
        throw unavailable("provider-unreachable", 503);
      case "ended":
        if (answer.isTokenRefused === true && this.#isUnproven(user)) {
          audit.append(id, "provider_answer_lost", { provider: user.provider });
          return;
        }
        users.change(id, { askedAt: undefined });
        audit.append(id, "provider_ended", { provider: user.provider });
        onEnded(id);
        throw ended("provider-ended", "The sign-in provider has ended the session");
      case "alive": {
        if (answer.identity !== undefined) {
          // Facts that the provider no longer states are removed.
          const { email, domain, groups, organizations } = answer.identity;
          users.change(id, { email, domain, groups, organizations });
        }
        users.change(id, { askedAt: undefined, provenAt: this.#now(), ...renewed });
      }
    }
  }
}

function shutOut(): GrantRefusal {
  return ended("user-gone", "The user may not sign in any more");
}

function ended(reason: TokenReason, description: string): GrantRefusal {
  return new GrantRefusal(reason, "invalid_grant", { description });
}

function unavailable(reason: TokenReason, statusCode: 429 | 503): GrantRefusal {
  return new GrantRefusal(reason, "temporarily_unavailable", {
    description: "The sign-in provider cannot be asked just now; try again shortly",
    statusCode,
    headers: { "Retry-After": String(RETRY_SECONDS) },
  });
}

/** The provider's data is sealed for one user, and cannot be opened in another user's record. */
export function upkeepPurpose(user: string): string {
  return `identity-upkeep:${user}`;
}
