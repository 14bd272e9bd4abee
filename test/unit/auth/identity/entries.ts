/** Entries of `IDENTITY` that are right, for tests to use or to spoil. */

import { parseIdentity } from "../../../../src/config/config-identity.ts";

export const SECRET = "hunter2-SECRET";
export const TENANT = "11111111-1111-4111-8111-111111111111";
const ENV = { CLIENT_SECRET: SECRET, EMPTY: "", OBJECT: {} };

export function parse(value: unknown, env: Record<string, unknown> = {}) {
  const problems: string[] = [];
  return { configs: parseIdentity(value, { ...ENV, ...env }, problems), problems };
}

const client = { clientId: "edgeway", clientSecret: "${CLIENT_SECRET}" };
export const allow = { emails: ["ann@example.com"] };
export const oidc = {
  provider: "oidc",
  issuer: "https://id.example.com/realms/x",
  ...client,
  allow,
};
export const google = { provider: "google", ...client, allow };
export const entra = { provider: "entra", tenants: [TENANT], ...client, allow };
export const github = { provider: "github", ...client, allow };
export const access = { provider: "access", team: "acme", audience: "aud", allow };
