/**
 * The work of an `AuthShardObject` on the grants of its users: it judges their renewal, answers for their
 * tokens, and finds the bearer of a token.
 */

import type { AuthBacking } from "../src/auth/context/context.ts";
import { isAdministrator } from "../src/auth/context/auth-store.ts";
import { keepRegistration } from "../src/auth/oauth/endpoints/register.ts";
import type { Authority, AuthorityEnv } from "../src/auth/oauth/engine/authority.ts";
import { Bearers } from "../src/auth/oauth/grants/bearers.ts";
import { GrantJudge } from "../src/auth/oauth/grants/grant-judge.ts";
import { GrantTokenEndpoint } from "../src/auth/oauth/grants/grant-token-endpoint.ts";
import { keepingGrants, type KvBacking } from "../src/auth/store/kv-adapter.ts";
import type { CurrentUser } from "../src/auth/store/users.ts";
import type { Limits } from "../src/policy/limits.ts";
import type { AuthParts } from "./auth-parts.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export interface GrantServices {
  readonly judge: GrantJudge;
  readonly bearers: Bearers;
  readonly tokenEndpoint: GrantTokenEndpoint;
}

export interface GrantServicesOptions {
  readonly auth: Omit<AuthBacking, "authorities">;
  /** With the servers that operators have added. @param origin of the authorization server. */
  readonly authorityAt: (origin: string) => Authority;
  readonly limits: Limits;
  /** @returns whether this object is the shard of this name. */
  readonly isHere: (shard: string) => boolean;
  readonly currentUser: (
    id: string,
    codeMac: string | undefined,
  ) => Promise<CurrentUser | undefined>;
  /** Called when a user may no longer have access. */
  readonly onUserEnded: (user: string) => void;
  readonly onGrantsEnded: (grants: readonly string[]) => void;
}

export function grantServices(parts: AuthParts, options: GrantServicesOptions): GrantServices {
  const { rows, grants, audit } = parts;
  const { auth, authorityAt, limits, isHere, currentUser, onUserEnded, onGrantsEnded } = options;
  const judge = new GrantJudge({
    users: parts.users,
    audit,
    grants,
    currentUser,
    maxAgeMs: limits.grantDays * DAY_MS,
    maxUnprovenMs: limits.unprovenSignInHours * HOUR_MS,
    providerOf: (name) => auth.providers.get(name),
    ring: async () => (await auth.secrets()).ring,
    onEnded: onUserEnded,
  });
  const engineOn = (local: KvBacking): AuthorityEnv => ({
    OAUTH_KV: auth.engine.OAUTH_KV.with((shard) => (isHere(shard) ? local : undefined)),
    judge: (request) => judge.judge(request),
  });
  const engine = engineOn(rows);
  const engineBeside = engineOn(keepingGrants(rows));
  const answerWith = (request: Request, on: AuthorityEnv): Promise<Response> =>
    authorityAt(new URL(request.url).origin).fetch(request, on);
  const bearers = new Bearers({
    currentUser,
    grants,
    keys: parts.keys,
    env: engine,
    isAdministrator: (maker) => isAdministrator(auth.store, maker),
    authority: authorityAt,
  });
  const tokenEndpoint = new GrantTokenEndpoint({
    grants,
    audit,
    currentUser,
    judge,
    answer: (request) => answerWith(request, engine),
    answerBeside: (request) => answerWith(request, engineBeside),
    onIssued: (clientId) => keepRegistration(auth.store, clientId, limits),
    replayMs: limits.refreshReplaySeconds * 1000,
    keptGrants: limits.grantsPerClient,
    onEnded: onGrantsEnded,
  });
  return { judge, bearers, tokenEndpoint };
}
