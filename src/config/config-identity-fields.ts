/** Single fields of an entry of `IDENTITY`: each is resolved, or its mistake is reported. */

import { entraIssuer, GOOGLE_ISSUER, TENANT } from "../auth/identity/oidc-traits.ts";
import { type FieldResolution, issuerUrl, secureUrl } from "./config-fields.ts";

export function checkIssuer(issuer: string, { key, problems }: FieldResolution): void {
  const url = issuerUrl(issuer);
  if (url === undefined) {
    problems.push(
      `${key}.issuer must be an https URL without query, exactly as the provider's metadata spells it.`,
    );
  } else if (url.hostname === "login.microsoftonline.com") {
    problems.push(
      `${key}.issuer is Microsoft's: use provider = "entra" with "tenants", the ids of your directories; "common", "organizations" and "consumers" would let in everybody's.`,
    );
  } else if (url.origin === GOOGLE_ISSUER) {
    problems.push(`${key}.issuer is Google's: use provider = "google".`);
  }
}

export function tenantIssuers(
  tenants: readonly string[],
  { key, problems }: FieldResolution,
): readonly [string, ...string[]] {
  const [first = "", ...others] = tenants.map((tenant) => tenant.toLowerCase());
  for (const tenant of [first, ...others]) {
    if (TENANT.test(tenant)) continue;
    problems.push(
      /^(?:common|organizations|consumers)$/.test(tenant)
        ? `${key}.tenants: "${tenant}" would let in everybody's directories; list the ids of yours.`
        : `${key}.tenants must be ids of directories, like "00000000-0000-0000-0000-000000000000".`,
    );
  }
  return [entraIssuer(first), ...others.map(entraIssuer)];
}

export function teamUrl(team: string, resolution: FieldResolution): string {
  return /^[a-z0-9-]+$/.test(team)
    ? `https://${team}.cloudflareaccess.com`
    : origin("team", team, resolution);
}

export function origins(
  values: readonly string[] = [],
  resolution: FieldResolution,
): readonly string[] {
  return values.map((value) => origin("formActions", value, resolution));
}

export function origin(field: string, value: string, { key, problems }: FieldResolution): string {
  const url = secureUrl(value);
  if (url !== undefined && url.href === `${url.origin}/`) return url.origin;
  problems.push(`${key}.${field} must be an origin like "https://id.example.com", without a path.`);
  return value;
}

export function addressField(
  field: string,
  value: string,
  { key, problems }: FieldResolution,
): string {
  const url = secureUrl(value);
  if (url === undefined) problems.push(`${key}.${field} must be an https URL.`);
  return value.replace(/\/+$/, "");
}
