/** The header that carries an account's secret, and the accounts that need no browser. */

import { randomSecret } from "../../lib/random.ts";
import type { Account } from "../account.ts";
import type { ServerAuth } from "../settings.ts";
import type { AccountServer } from "./authorization.ts";
import type { AccountSecrets } from "./vault-seal.ts";

const MAX_KEY_CHARS = 8192;
/** What a header can carry: printable ASCII, no space at either end. */
const HEADER_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const SHOWN_CHARS = 4;
const ID_CHARS = 22;

/** @returns `undefined` when there is no secret, or none that a header can carry. */
export function headerOf(
  auth: ServerAuth,
  { accessToken, apiKey }: AccountSecrets,
): { readonly header: string; readonly value: string } | undefined {
  if (auth.kind !== "key") {
    return accessToken === undefined
      ? undefined
      : { header: "Authorization", value: `Bearer ${accessToken}` };
  }
  if (apiKey === undefined || apiKey.length > MAX_KEY_CHARS || !HEADER_VALUE.test(apiKey)) {
    return undefined;
  }
  return { header: auth.key.header, value: auth.key.prefix + apiKey };
}

export function newAccountId(): string {
  return randomSecret().slice(0, ID_CHARS);
}

const NO_TOKENS = {
  requested: [],
  granted: [],
  wanted: [],
  failures: 0,
  isRepeatable: true,
} as const;

export function keyAccount(
  slug: string,
  { target }: AccountServer,
  key: string,
  now: number,
): Account {
  return {
    ...NO_TOKENS,
    ...{ slug, id: newAccountId(), kind: "key", life: "connected", generation: 1 },
    endpoint: target.endpoint.href,
    isRenewable: false,
    // A short key would be shown whole.
    ...(key.length > 4 * SHOWN_CHARS && { keyEnd: key.slice(-SHOWN_CHARS) }),
    obtainedAt: now,
    connectedAt: now,
  };
}

/** What the operator has the gateway ask for. */
export function operatorScopes({ auth }: AccountServer): readonly string[] {
  return "oauth" in auth ? (auth.oauth.scopes ?? []) : [];
}

/** The gateway's own account (RFC 6749 section 4.4), which has no token yet. */
export function ownAccount(slug: string, server: AccountServer, now: number): Account {
  const scopes = operatorScopes(server);
  return {
    ...NO_TOKENS,
    ...{ slug, id: newAccountId(), kind: "client-credentials", life: "connected" },
    requested: scopes,
    configured: scopes,
    endpoint: server.target.endpoint.href,
    generation: 0,
    refusedGeneration: 0,
    isRenewable: true,
    obtainedAt: now,
    connectedAt: now,
  };
}
