/**
 * Authenticates the caller: every request of a protected endpoint brings a token for that endpoint,
 * or for the resource that contains it. A session id or a cookie does not count (the MCP
 * specification: MUST NOT use sessions for authentication).
 *
 * A positive result is cached for `bearerCacheSeconds`, so a busy client costs a lookup every few
 * seconds. A negative one is never cached, because a token may be presented before it is written.
 */

import { BoundedCache } from "../../lib/bounded-cache.ts";
import { hashOf } from "../../lib/random.ts";
import { logUnexpected } from "../../observability/unexpected.ts";
import type { AuthContext } from "../context/context.ts";
import { enoughFor, isEnough, type Resource } from "../resources.ts";
import type { AuthShard, AuthStore } from "../context/auth-store.ts";
import type { Bearer } from "../oauth/grants/bearers.ts";
import * as challenge from "./challenge.ts";
import type { Lease } from "./lease.ts";
import { subjectOf } from "../oauth/grants/token-request.ts";
import { keyShard } from "../store/api-keys.ts";
import { metadataUrl, resourceAt } from "./resource-metadata.ts";

export type ResourceContext = Pick<
  AuthContext,
  "origin" | "authority" | "store" | "limits" | "trace"
>;

interface Caller {
  readonly bearer: Bearer;
  /** The owner of the sessions that this caller opens. */
  readonly principal: string;
  /** For the streams that this caller opens. */
  readonly lease: Lease;
}

export type Authentication =
  | { readonly kind: "caller"; readonly caller: Caller }
  | { readonly kind: "refused"; readonly response: Response };

/** @param endpoint the path, as the client uses it: `/mcp`, `/sse/files`. */
export async function authenticate(
  context: ResourceContext,
  request: Request,
  endpoint: string,
): Promise<Authentication> {
  const { origin, authority, store, trace } = context;
  const resource = resourceAt(authority, endpoint);
  if (resource === undefined) return refused(challenge.noSuchResource());
  const enough = enoughFor(authority.resources, resource);
  const [needed = ""] = enough;
  const asked = { metadata: metadataUrl(origin, endpoint), scopes: [needed] };

  const presented = presentedToken(request);
  if (presented.kind === "none") {
    trace({ kind: "challenged", path: endpoint });
    return refused(challenge.signInFirst(asked));
  }
  if (presented.kind === "unusable") {
    trace({ kind: "bearer_refused", path: endpoint });
    return refused(challenge.invalidToken(asked, presented.sentence));
  }
  const { token } = presented;
  const shard = shardOf(store, token);
  let judged: Judged | undefined;
  try {
    judged = shard && (await judge(context, resource, token, shard));
  } catch (error) {
    logUnexpected(error);
    return refused(challenge.cannotJudge());
  }
  if (shard === undefined || judged === undefined) {
    const { grant } = subjectOf(token) ?? {};
    trace({ kind: "bearer_refused", path: endpoint, ...(grant !== undefined && { grant }) });
    const sentence = "The token is not good for this endpoint, has expired or was revoked";
    return refused(challenge.invalidToken(asked, sentence));
  }
  const { bearer, principal } = judged;
  const mayUse = isEnough(bearer.scopes, enough);
  // A cached result is not recorded again.
  if (!judged.isKnown || !mayUse) {
    const { client, lease: grant } = bearer;
    trace({ kind: "used", client, grant, path: endpoint, status: mayUse ? 200 : 403 });
  }
  if (!mayUse) return refused(challenge.insufficientScope(asked));
  const lease: Lease = {
    expiresAt: bearer.expiresAt,
    afterMs: context.limits.leaseSeconds * 1000,
    open: () => shard.lease([bearer.lease, bearer.user]),
    isGood: async () => (await shard.bearers.check(origin, resource.id, token)) !== undefined,
  };
  return { kind: "caller", caller: { bearer, principal, lease } };
}

function refused(response: Response): Authentication {
  return { kind: "refused", response };
}

type Presented =
  /**
   * No credentials, or those of another scheme: the client may not know yet that it needs a token.
   */
  | { readonly kind: "none" }
  | { readonly kind: "token"; readonly token: string }
  /** The sentence is for the developer of the client. */
  | { readonly kind: "unusable"; readonly sentence: string };

/**
 * The token that a request presents (RFC 6750): in the `Authorization` header and nowhere else. A
 * token in a URL ends up in logs and in histories, so it is refused there even when it is good
 * (OAuth 2.1 section 5.1.1: MUST NOT be in the query).
 */
export function presentedToken({ url, headers }: Request): Presented {
  if (new URL(url).searchParams.has("access_token")) {
    return { kind: "unusable", sentence: "A token belongs in the Authorization header" };
  }
  const credentials = /^Bearer(?: +(.*))?$/i.exec(headers.get("authorization") ?? "");
  if (credentials === null) return { kind: "none" };
  const [, token] = credentials;
  // Several headers of one name arrive as one, joined by commas; no token contains a comma.
  if (token === undefined || token.includes(",")) {
    return { kind: "unusable", sentence: "The request needs exactly one token" };
  }
  return { kind: "token", token };
}

/**
 * @returns the object that would hold a token. A text of another shape leads to none, so that
 *   guesses wake no object; a text of our shape leads to one of a fixed number.
 */
function shardOf(store: AuthStore, token: string): AuthShard | undefined {
  const subject = subjectOf(token);
  if (subject !== undefined) return store.ofUser(subject.user);
  const shard = keyShard(token);
  return shard === undefined ? undefined : store.shard(shard);
}

interface Judged {
  readonly bearer: Bearer;
  readonly principal: string;
  /** The time of the lookup, in milliseconds since 1970. */
  readonly at: number;
  /** The lookup was made for an earlier request. */
  readonly isKnown: boolean;
}

const PRINCIPAL_CHARS = 16;
/** The upper bound of `bearerCacheSeconds`; the age of an entry is checked when it is used. */
const MAX_AGE_MS = 60_000;
const judgedBefore = new BoundedCache<Judged>({ maxEntries: 10_000, ttlMs: MAX_AGE_MS });

async function judge(
  { origin, limits }: ResourceContext,
  resource: Resource,
  token: string,
  shard: AuthShard,
): Promise<Judged | undefined> {
  const key = `${await hashOf(token)} ${resource.id}`;
  const at = Date.now();
  const known = judgedBefore.get(key);
  if (known !== undefined && at - known.at < limits.bearerCacheSeconds * 1000) {
    if (known.bearer.expiresAt > at) return known;
  }
  const bearer = await twice(() => shard.bearers.check(origin, resource.id, token));
  if (bearer === undefined || bearer.expiresAt <= at) return undefined;
  const judged = { bearer, principal: await principalOf(bearer), at };
  judgedBefore.set(key, { ...judged, isKnown: true });
  return { ...judged, isKnown: false };
}

/** A restart of the object fails a lookup once; the restarted object answers it. */
async function twice<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch {
    return await ask();
  }
}

/**
 * A principal is an application of a user: another application of the same user has other sessions.
 */
async function principalOf({ user, client }: Bearer): Promise<string> {
  return `${user}.${(await hashOf(client)).slice(0, PRINCIPAL_CHARS)}`;
}
