/**
 * The token that a request presents (RFC 6750): in the `Authorization` header and nowhere else. A
 * token in a URL ends up in logs and in histories, so it is refused there even when it is good
 * (OAuth 2.1 section 5.1.1: MUST NOT be in the query).
 */

import type { AuthShard, AuthStore } from "../context/auth-store.ts";
import { keyShard } from "../store/api-keys.ts";
import { subjectOf } from "../oauth/grants/token-request.ts";

export type Presented =
  /**
   * No credentials, or those of another scheme: the client may not know yet that it needs a token.
   */
  | { readonly kind: "none" }
  | { readonly kind: "token"; readonly token: string }
  /** The sentence is for the developer of the client. */
  | { readonly kind: "unusable"; readonly sentence: string };

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
export function shardOf(store: AuthStore, token: string): AuthShard | undefined {
  const subject = subjectOf(token);
  if (subject !== undefined) return store.ofUser(subject.user);
  const shard = keyShard(token);
  return shard === undefined ? undefined : store.shard(shard);
}
