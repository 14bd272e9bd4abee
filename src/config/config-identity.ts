/**
 * `IDENTITY`: the providers that sign people in, and the people whom they admit. One provider, or a
 * list of them.
 */

import { GOOGLE_ISSUER } from "../auth/identity/oidc-traits.ts";
import type { IdentityConfig } from "../auth/identity/identity-providers.ts";
import { weaknessOf } from "../auth/identity/owner.ts";
import { type FieldResolution, secretField } from "./config-fields.ts";
import {
  addressField,
  checkIssuer,
  origin,
  origins,
  teamUrl,
  tenantIssuers,
} from "./config-identity-fields.ts";
import {
  entrySchemas,
  type IdentityEntry,
  isProviderName,
  type ProviderName,
  PROVIDERS,
} from "./config-identity-schema.ts";
import { mistakesIn, quoted } from "./config-table.ts";
import { tryJson } from "../lib/try-json.ts";
import { isObject } from "../protocol/json-rpc.ts";
import {
  type AllowList,
  isEmail,
  isEmptyList,
  NO_ONE_ALLOWED,
  type Rules,
} from "../auth/identity/allow-list.ts";

const KEY = "IDENTITY";
const GITHUB = "https://github.com";

/**
 * Reports every mistake in a sentence that quotes no secret.
 *
 * @param value a table, a list of tables, or the JSON of either; unset, it means the owner alone.
 */
export function parseIdentity(
  value: unknown,
  env: FieldResolution["env"],
  problems: string[],
): readonly IdentityConfig[] {
  const isUnset = value === undefined || value === "";
  const parsed = typeof value === "string" && !isUnset ? tryJson(value) : value;
  if (parsed === undefined && !isUnset) {
    problems.push(`${KEY} is a string that is not valid JSON; write a table or a JSON object.`);
    return [];
  }
  const isList = Array.isArray(parsed);
  const entries: readonly unknown[] = isUnset
    ? [{ provider: "owner" }]
    : isList
      ? parsed
      : [parsed];
  if (entries.length === 0) problems.push(`${KEY} is an empty list, so nobody could sign in.`);
  const configs: IdentityConfig[] = [];
  for (const [index, entry] of entries.entries()) {
    const key = isList ? `${KEY}[${index}]` : KEY;
    const config = parseEntry(entry, { key, env, problems });
    if (config === undefined) continue;
    if (configs.some(({ name }) => name === config.name)) {
      problems.push(`${key}.name: there is another provider named "${config.name}".`);
    }
    configs.push(config);
  }
  return configs;
}

function parseEntry(entry: unknown, resolution: FieldResolution): IdentityConfig | undefined {
  const { key, problems } = resolution;
  const table = isObject(entry) ? entry : undefined;
  const provider = table?.["provider"];
  if (!isProviderName(provider)) {
    problems.push(
      table === undefined
        ? `${key} must be a table.`
        : `${key}.provider must be one of ${quoted(PROVIDERS)}.`,
    );
    return undefined;
  }
  const parsed = entrySchemas[provider]().safeParse(entry);
  if (!parsed.success) {
    problems.push(...mistakesIn(key, parsed.error));
    return undefined;
  }
  const before = problems.length;
  const config = resolve({ ...parsed.data, provider } as IdentityEntry, resolution);
  return problems.length === before ? config : undefined;
}

/** Applies the defaults, and checks what a schema cannot. Mistakes go to `problems`. */
function resolve(entry: IdentityEntry, resolution: FieldResolution): IdentityConfig {
  const { provider } = entry;
  const common = { name: entry.name ?? provider, label: entry.label ?? LABELS[provider] };
  switch (provider) {
    case "owner":
      return { provider, ...common, ...ownerCode(resolution) };
    case "oidc":
      checkIssuer(entry.issuer, resolution);
      return {
        provider,
        ...common,
        ...rules(entry, resolution),
        ...oidcClient(entry, resolution),
        issuers: [entry.issuer],
        groupsClaim: entry.groupsClaim ?? "groups",
        ...(entry.clientAuth !== undefined && { clientAuth: entry.clientAuth }),
      };
    case "google":
      return {
        provider,
        ...common,
        ...rules(entry, resolution),
        ...oidcClient(entry, resolution),
        issuers: [GOOGLE_ISSUER],
        groupsClaim: "groups",
        clientAuth: "client_secret_post",
      };
    case "entra":
      return {
        provider,
        ...common,
        ...rules(entry, resolution),
        ...oidcClient(entry, resolution),
        issuers: tenantIssuers(entry.tenants, resolution),
        groupsClaim: entry.groupsClaim ?? "groups",
        clientAuth: "client_secret_post",
      };
    case "github": {
      const baseUrl = origin("baseUrl", entry.baseUrl ?? GITHUB, resolution);
      const apiUrl = baseUrl === GITHUB ? "https://api.github.com" : `${baseUrl}/api/v3`;
      return {
        provider,
        ...common,
        ...rules(entry, resolution),
        baseUrl,
        apiUrl:
          entry.apiUrl === undefined ? apiUrl : addressField("apiUrl", entry.apiUrl, resolution),
        clientId: secretField("clientId", entry.clientId, resolution),
        clientSecret: secretField("clientSecret", entry.clientSecret, resolution),
        scopes: entry.scopes ?? [],
        formActions: origins(entry.formActions, resolution),
      };
    }
    case "access":
      return {
        provider,
        ...common,
        ...rules(entry, resolution),
        teamUrl: teamUrl(entry.team, resolution),
        audience: secretField("audience", entry.audience, resolution),
      };
  }
}

const LABELS: Readonly<Record<ProviderName, string>> = {
  owner: "Continue as the owner",
  oidc: "Continue with single sign-on",
  google: "Continue with Google",
  entra: "Continue with Microsoft",
  github: "Continue with GitHub",
  access: "Continue with Cloudflare Access",
};

function ownerCode({ env, problems }: FieldResolution): { code?: string } {
  const code = env["OWNER_CODE"];
  if (code === undefined || code === "") return {};
  const weakness = typeof code === "string" ? weaknessOf(code) : "must be a string";
  if (weakness !== undefined) problems.push(`OWNER_CODE ${weakness}.`);
  return typeof code === "string" ? { code } : {};
}

function oidcClient(
  entry: Extract<IdentityEntry, { provider: "oidc" | "google" | "entra" }>,
  resolution: FieldResolution,
) {
  const { clientSecret } = entry;
  return {
    clientId: secretField("clientId", entry.clientId, resolution),
    ...(clientSecret !== undefined && {
      clientSecret: secretField("clientSecret", clientSecret, resolution),
    }),
    scopes: entry.scopes ?? [],
    formActions: origins(entry.formActions, resolution),
  };
}

/** The lists for which a provider has facts. */
const LISTS: Readonly<Record<Exclude<ProviderName, "owner">, readonly (keyof AllowList)[]>> = {
  oidc: ["emails", "domains", "groups", "subjects"],
  google: ["emails", "domains", "subjects"],
  entra: ["emails", "domains", "groups", "subjects"],
  github: ["emails", "domains", "organizations", "subjects"],
  access: ["emails", "domains", "subjects"],
};

/** The people whom a provider admits, as far as it knows the facts about them. */
function rules(
  { provider, allow: given = {}, admins = [] }: Exclude<IdentityEntry, { provider: "owner" }>,
  { key, problems }: FieldResolution,
): Rules {
  const allow: Record<keyof AllowList, readonly string[]> = { ...NO_ONE_ALLOWED };
  for (const list of Object.keys(NO_ONE_ALLOWED) as (keyof AllowList)[]) {
    const entries = given[list] ?? [];
    allow[list] = entries;
    if (entries.length > 0 && !LISTS[provider].includes(list)) {
      const known = LISTS[provider].join(", ");
      problems.push(`${key}.allow.${list} means nothing to this provider; it knows: ${known}.`);
    }
  }
  if (isEmptyList(allow)) {
    problems.push(
      `${key}.allow is empty, so nobody could sign in; list who may, like { emails = ["you@example.com"] }.`,
    );
  }
  if (!allow.emails.every((email) => isEmail(email) && !email.includes("*"))) {
    problems.push(`${key}.allow.emails must be whole addresses, like "you@example.com".`);
  }
  if (!allow.domains.every((domain) => /^[^\s@*/:]+\.[^\s@*/:]+$/.test(domain))) {
    problems.push(`${key}.allow.domains must be whole domains without "@", like "example.com".`);
  }
  return { allow, admins };
}
