/** `auth` of one entry of `MCP_SERVERS`: how the gateway is known to the server. */

import type { KeySettings, OAuthSettings, ServerAuth } from "../accounts/settings.ts";
import { isLoopback } from "../lib/loopback.ts";
import { type AuthName, keySchema, type OAuthEntry, oauthSchema } from "./config-auth-schema.ts";
import { type FieldResolution, hasHeader, isHeader, isOwnHeader } from "./config-fields.ts";
import { type OAuthUse, resolveOAuth } from "./config-oauth.ts";
import { mistakesIn } from "./config-table.ts";

/** What matters here of an entry; few have the tables, whose schemas are made when one does. */
interface AuthEntry {
  readonly auth?: AuthName | undefined;
  readonly oauth?: unknown;
  readonly key?: unknown;
  readonly url?: string | undefined;
  readonly service?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface AuthResolution extends FieldResolution {
  readonly authMode: "oauth" | "none";
}

/** Mistakes go to `problems`. */
export function resolveAuth(entry: AuthEntry, resolution: AuthResolution): ServerAuth | undefined {
  const { headers = {}, auth = Object.keys(headers).length === 0 ? "none" : "headers" } = entry;
  const { key, problems } = resolution;
  problems.push(...[...misplacedTables(auth, entry)].map((mistake) => `${key}${mistake}.`));
  if (auth === "none" || auth === "headers") return { kind: auth };
  const mistakes = accountMistakes(auth, entry, resolution);
  problems.push(...[...mistakes].map((mistake) => `${key}${mistake}.`));
  if (auth === "key") {
    const settings = resolveKey(entry, resolution);
    return settings && { kind: auth, key: settings };
  }
  const oauth = resolveTable(auth, entry, resolution);
  return oauth && { kind: auth, oauth };
}

function resolveTable(
  auth: OAuthUse,
  { oauth = {}, service, url }: AuthEntry,
  resolution: AuthResolution,
): OAuthSettings | undefined {
  const { key, problems } = resolution;
  const parsed = oauthSchema().safeParse(oauth);
  if (!parsed.success) {
    problems.push(...mistakesIn(`${key}.oauth`, parsed.error));
    return undefined;
  }
  if (service !== undefined && url === undefined) {
    problems.push(...undiscovered(auth, parsed.data).map((mistake) => `${key}${mistake}.`));
  }
  return resolveOAuth(auth, parsed.data, { ...resolution, key: `${key}.oauth` });
}

/** The ways that the table `oauth` belongs to. */
const OAUTH_USES: ReadonlySet<string> = new Set<OAuthUse>([
  ...(["oauth", "oauth-shared", "client-credentials"] as const),
]);

function* misplacedTables(auth: AuthName, { auth: given, oauth, key }: AuthEntry) {
  const found = given === undefined ? `there is no "auth" beside it` : `auth is "${given}"`;
  if (oauth !== undefined && !OAUTH_USES.has(auth)) {
    yield `.oauth has no use, since ${found}; it belongs to "oauth", "oauth-shared" and "client-credentials"`;
  }
  if (key !== undefined && auth !== "key") {
    yield `.key has no use, since ${found}; it belongs to "key"`;
  }
}

/** Mistakes that have nothing to do with the kind of the account. */
function* accountMistakes(
  auth: AuthName,
  { url, service, headers = {} }: AuthEntry,
  { authMode }: AuthResolution,
) {
  // The gateway's own account is the only one that nobody has to connect.
  if (authMode === "none" && auth !== "client-credentials") {
    yield `.auth is "${auth}", for which people have to sign in, and AUTH_MODE is "none"; use AUTH_MODE = "oauth", or a token in "headers"`;
  }
  if (hasHeader(headers, "Authorization")) {
    yield `.headers has "Authorization", which auth = "${auth}" does not allow; remove one of them`;
  }
  // A bearer token is sent over TLS only (RFC 6750 section 5.3).
  const { protocol, hostname } = new URL(url !== undefined && URL.canParse(url) ? url : "https:x");
  if (service === undefined && protocol === "http:" && !isLoopback(hostname)) {
    yield `.url must begin with "https://" with auth = "${auth}", unless it is a loopback host`;
  }
}

/** A binding has no address whose metadata could be read, or that could stand for it in `resource`. */
function undiscovered(
  auth: OAuthUse,
  { authorizationEndpoint, tokenEndpoint, resource }: OAuthEntry,
): readonly string[] {
  const isStatic =
    tokenEndpoint !== undefined &&
    (auth === "client-credentials" || authorizationEndpoint !== undefined);
  if (isStatic && resource !== undefined) return [];
  const endpoints =
    auth === "client-credentials" ? '"tokenEndpoint"' : '"authorizationEndpoint", "tokenEndpoint"';
  return [
    `: a "service" has no address at which metadata could be found; it needs a "url" beside it, or ${endpoints} and "resource" in "oauth"`,
  ];
}

const AUTHORIZATION = "Authorization";

/** Mistakes go to `problems`. */
function resolveKey(
  { key: table = {}, headers = {} }: AuthEntry,
  { key, problems }: AuthResolution,
): KeySettings | undefined {
  const parsed = keySchema().safeParse(table);
  if (!parsed.success) {
    problems.push(...mistakesIn(`${key}.key`, parsed.error));
    return undefined;
  }
  const { header = AUTHORIZATION } = parsed.data;
  const isBearer = header.toLowerCase() === AUTHORIZATION.toLowerCase();
  const { prefix = isBearer ? "Bearer " : "" } = parsed.data;
  if (!isHeader(header, "x") || isOwnHeader(header)) {
    problems.push(`${key}.key.header: "${header}" is not a header that can carry a key.`);
  } else if (!isHeader(header, `${prefix}x`)) {
    problems.push(`${key}.key.prefix has characters that a header cannot carry.`);
  }
  if (!isBearer && hasHeader(headers, header)) {
    problems.push(`${key}.key.header: "${header}" is also one of the server's "headers".`);
  }
  return { ...parsed.data, header, prefix };
}
