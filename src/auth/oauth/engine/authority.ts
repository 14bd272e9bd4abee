/**
 * The protocol engine of the authorization server: one instance of the library for each origin and
 * set of upstreams. The Worker and the objects use the same one; only the storage that each call
 * brings differs.
 */

import {
  type OAuthHelpers,
  OAuthAuthorizationServer,
  type TokenExchangeCallbackOptions,
  type TokenExchangeCallbackResult,
  type ValidatedAccessToken,
} from "@cloudflare/workers-oauth-provider";

import { BoundedCache } from "../../../lib/bounded-cache.ts";
import type { Limits } from "../../../policy/limits.ts";
import { type Resource, protectedResources } from "../../resources.ts";
import { USE } from "../../scopes.ts";
import type { KvAdapter } from "../../store/kv-adapter.ts";

const DAY_SECONDS = 86_400;
const MAX_ORIGINS = 8;

/** The data of a token beside its grant: nothing that is not in the user's record. */
type TokenProps = Readonly<Record<string, never>>;

/** The library's environment. */
export interface AuthorityEnv {
  readonly OAUTH_KV: KvAdapter;
  /** Called before a token is issued. @throws OAuthError when no token may be issued. */
  readonly judge?: (
    request: TokenExchangeCallbackOptions<AuthorityEnv>,
  ) => Promise<TokenExchangeCallbackResult>;
}

export interface Authority {
  /** The issuer (RFC 8414), without a slash at its end. */
  readonly origin: string;
  /** The default one first. */
  readonly resources: readonly Resource[];
  /** People publish servers, which are parts of the default one. */
  readonly isPublishingOn: boolean;
  /** Answers `/token` and `/register` and the metadata. */
  fetch(request: Request, env: AuthorityEnv): Promise<Response>;
  helpers(env: AuthorityEnv): OAuthHelpers;
  validate(
    resource: string,
    token: string,
    env: AuthorityEnv,
  ): Promise<ValidatedAccessToken<TokenProps> | null>;
}

/** The authorities of one configuration, by origin: development may have several. */
export class Authorities {
  readonly #slugs: readonly string[];
  readonly #limits: Limits;
  readonly #isPublishingOn: boolean;
  readonly #made = new BoundedCache<Authority>({ maxEntries: MAX_ORIGINS });

  constructor(slugs: Iterable<string>, limits: Limits, isPublishingOn = false) {
    this.#slugs = [...slugs];
    this.#isPublishingOn = isPublishingOn;
    this.#limits = limits;
  }

  at(origin: string): Authority {
    const made = this.#made.get(origin);
    if (made !== undefined) return made;
    const resources = protectedResources(origin, this.#slugs);
    const engine = make(origin, resources, this.#limits);
    const authority = { ...engine, isPublishingOn: this.#isPublishingOn };
    this.#made.set(origin, authority);
    return authority;
  }
}

function make(
  origin: string,
  resources: readonly Resource[],
  limits: Limits,
): Omit<Authority, "isPublishingOn"> {
  const ids = resources.map(({ id }) => id);
  const [defaultResource = ""] = ids;
  const server = new OAuthAuthorizationServer<AuthorityEnv>({
    issuer: origin,
    authorizeEndpoint: `${origin}/authorize`,
    tokenEndpoint: `${origin}/token`,
    clientRegistrationEndpoint: `${origin}/register`,
    resources: ids,
    defaultResource,
    scopesSupported: [USE],
    // The library allows all schemes or none. The list in `redirect-uris.ts` decides which are
    // used; it is checked before a request is read and before a code is made.
    allowPrivateUseRedirectUris: true,
    accessTokenTTL: limits.accessTokenMinutes * 60,
    refreshTokenTTL: limits.refreshIdleDays * DAY_SECONDS,
    refreshTokenIdleTTL: limits.refreshIdleDays * DAY_SECONDS,
    clientRegistrationTTL: limits.registrationDays * DAY_SECONDS,
    tokenExchangeCallback: (request) => request.env.judge?.(request),
    // The client receives the error; the login doctor reads it from the response.
    onError: () => undefined,
  });
  return {
    origin,
    resources,
    fetch: (request, env) => server.fetch(request, env, NOTHING_LATER),
    helpers: (env) => server.getOAuthApi(env),
    validate: (resource, token, env) => server.validateToken<TokenProps>(resource, token, env),
  };
}

/** The library starts no work that outlives its response. */
const NOTHING_LATER: ExecutionContext = {
  waitUntil: () => undefined,
  passThroughOnException: () => undefined,
  props: {},
} as unknown as ExecutionContext;
