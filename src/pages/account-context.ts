/** The context of pages about accounts at servers, and about what there is, which exists without sign-in, too. */

import type { ServerAuth } from "../accounts/settings.ts";
import type { Vaults } from "../accounts/vault.ts";
import type { AuthContext } from "../auth/context/context.ts";
import type { Publishers } from "../publishing/publisher.ts";
import type { GatewayServers } from "./operator/gateway-servers.ts";

/** A server that knows its callers by accounts. */
export interface AccountServer {
  /** The operator's name for it. */
  readonly slug: string;
  readonly label?: string;
  readonly url: string;
  readonly auth: Exclude<ServerAuth, { readonly kind: "none" | "headers" }>;
}

export interface Accounts {
  /** By slug, in the operator's order. */
  readonly servers: ReadonlyMap<string, AccountServer>;
  readonly vaults: Vaults;
}

/** The context of a page that only people who are signed in have. */
export interface SiteContext extends AuthContext {
  readonly accounts: Accounts;
  /** What people publish; absent while publishing is off. */
  readonly publishers?: Publishers | undefined;
  readonly servers: GatewayServers;
}

export interface ConnectContext {
  /** Of the gateway. */
  readonly origin: string;
  readonly accounts: Accounts;
  /** Absent where there is no sign-in: then there is one person, who runs the gateway. */
  readonly auth: AuthContext | undefined;
}

/** The context of the pages of whoever runs the gateway, with and without sign-in. */
export interface OperatorContext extends ConnectContext {
  /** What people publish; absent while publishing is off. */
  readonly publishers?: Publishers | undefined;
  readonly servers: GatewayServers;
}

/** Before an account is connected: what was ended before must not take it along when it is tried again. */
export async function finishEnds(
  { auth }: Pick<ConnectContext, "auth">,
  server: AccountServer,
  person: string,
): Promise<void> {
  if (auth !== undefined && !isShared(server)) await auth.store.ofUser(person).finishEnds(person);
}

/** The operator's words for people. */
export function wordsOf(auth: AccountServer["auth"]): {
  readonly label?: string;
  readonly help?: string;
} {
  return auth.kind === "key" ? auth.key : auth.oauth;
}

/** True for a server with one account that all share. */
export function isShared({ auth }: AccountServer): boolean {
  return auth.kind === "oauth-shared" || auth.kind === "client-credentials";
}

/** The host of a URL; a text that is none stays as it is. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
