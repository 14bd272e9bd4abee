/**
 * Whether a grant may bring another token: the user has to be there still, and the provider that
 * signed them in has to stand by it (2025-03-26, third-party authorization: the gateway MUST check
 * the provider's session, and end with it).
 */

import {
  GrantType,
  OAuthError,
  type TokenExchangeCallbackOptions,
  type TokenExchangeCallbackResult,
} from "@cloudflare/workers-oauth-provider";

import { BoundedCache } from "../../lib/bounded-cache.ts";
import { type KeyRing, seal, unseal } from "../../lib/seal.ts";
import { TokenBucket } from "../../lib/token-bucket.ts";
import type { IdentityProvider } from "../identity/provider.ts";
import { ADMIN } from "../scopes.ts";
import type { AuditLog } from "../store/audit-log.ts";
import type { User, Users } from "../store/users.ts";
import type { Grants } from "./grants.ts";

export interface GrantJudgeOptions {
  readonly users: Users;
  readonly audit: AuditLog;
  readonly grants: Pick<Grants, "find">;
  /** How old a grant may become, however often it is renewed. */
  readonly maxAgeMs: number;
  readonly providerOf: (name: string) => IdentityProvider | undefined;
  readonly ring: () => Promise<KeyRing>;
  /** Told of a user whose provider has ended the sign-in. */
  readonly onEnded: (user: string) => void;
  readonly now?: () => number;
}

const RETRY_SECONDS = 30;
/** A provider that is asked too often answers nobody any more: one user may not bring that about. */
const QUESTIONS_PER_MINUTE = 30;
const MAX_BUCKETS = 10_000;
const HOUR_MS = 3_600_000;

export class GrantJudge {
  readonly #options: GrantJudgeOptions;
  readonly #now: () => number;
  /** Applications of one user that refresh together make one question of it. */
  readonly #asking = new Map<string, Promise<void>>();
  readonly #buckets = new BoundedCache<TokenBucket>({ maxEntries: MAX_BUCKETS, ttlMs: HOUR_MS });

  constructor(options: GrantJudgeOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => Date.now());
  }

  /** @throws OAuthError when there is to be no token; `invalid_grant` also ends the grant. */
  async judge(
    request: TokenExchangeCallbackOptions<unknown>,
  ): Promise<TokenExchangeCallbackResult> {
    const { userId, grantId, requestedScope } = request;
    // A code is redeemed within minutes of the sign-in that it came from.
    if (request.grantType === GrantType.REFRESH_TOKEN) {
      this.#checkAge(userId, grantId);
      await this.ask(userId);
    }
    const user = this.#user(userId);
    const accessTokenScope = requestedScope.filter((scope) => user.isAdmin || scope !== ADMIN);
    if (accessTokenScope.length === 0) {
      throw new OAuthError("invalid_scope", { description: "The user may not do this any more" });
    }
    return { accessTokenScope };
  }

  #checkAge(user: string, grant: string): void {
    const { grants, maxAgeMs } = this.#options;
    const createdAt = grants.find(user, grant)?.createdAt ?? Number.NEGATIVE_INFINITY;
    if (this.#now() - createdAt < maxAgeMs) return;
    throw new OAuthError("invalid_grant", { description: "The sign-in is too long ago" });
  }

  #bucketOf(user: string): TokenBucket {
    const bucket =
      this.#buckets.get(user) ?? new TokenBucket(QUESTIONS_PER_MINUTE, () => this.#now());
    this.#buckets.set(user, bucket);
    return bucket;
  }

  #user(id: string): User {
    const user = this.#options.users.find(id);
    if (user !== undefined && !user.isDisabled) return user;
    throw new OAuthError("invalid_grant", { description: "The user may not sign in any more" });
  }

  /**
   * Asks a user's provider whether it still stands by the sign-in. Its refresh tokens may be good
   * for one use, so nobody else asks meanwhile.
   *
   * @throws OAuthError when it does not, or cannot be asked.
   */
  async ask(id: string): Promise<void> {
    const asking = this.#asking.get(id) ?? this.#ask(id);
    this.#asking.set(id, asking);
    try {
      await asking;
    } finally {
      // Somebody else may have begun to ask anew.
      if (this.#asking.get(id) === asking) this.#asking.delete(id);
    }
  }

  async #ask(id: string): Promise<void> {
    const user = this.#user(id);
    const { users, audit, providerOf, ring, onEnded } = this.#options;
    const provider = providerOf(user.provider);
    if (provider === undefined) {
      throw new OAuthError("invalid_grant", { description: "The user's provider is gone" });
    }
    // The owner's code is compared here; others are asked over the network.
    if (provider.kind !== "code" && !this.#bucketOf(id).take()) throw unavailable(429);
    const keys = await ring();
    const purpose = upkeepPurpose(id);
    const opened = user.upkeep === undefined ? undefined : await unseal(keys, purpose, user.upkeep);
    const upkeep = typeof opened === "string" ? opened : undefined;
    const answer = await provider.recheck(upkeep, user);
    switch (answer.kind) {
      case "unavailable":
        throw unavailable(503);
      case "ended":
        audit.append(id, "provider_ended", { provider: user.provider });
        onEnded(id);
        throw new OAuthError("invalid_grant", {
          description: "The sign-in provider has ended the session",
        });
      case "alive": {
        const { identity } = answer;
        const renewed =
          answer.upkeep === undefined ? undefined : await seal(keys, purpose, answer.upkeep);
        // Whoever has signed in again meanwhile has brought something newer.
        const isCurrent = users.find(id)?.upkeep === user.upkeep;
        users.change(id, {
          ...(identity !== undefined && { isAdmin: identity.isAdmin }),
          ...(renewed !== undefined && isCurrent && { upkeep: renewed }),
        });
      }
    }
  }
}

function unavailable(statusCode: 429 | 503): OAuthError {
  return new OAuthError("temporarily_unavailable", {
    description: "The sign-in provider cannot be asked just now; try again shortly",
    statusCode,
    headers: { "Retry-After": String(RETRY_SECONDS) },
  });
}

/** Sealed for one user, what is kept of a provider is nothing in another's record. */
export function upkeepPurpose(user: string): string {
  return `identity-upkeep:${user}`;
}
