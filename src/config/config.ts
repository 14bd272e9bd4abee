/**
 * Env -> Config, once per isolate. A mistake does not crash: it is stored as one plain sentence. One that
 * concerns the whole gateway answers every route; one in an entry of `MCP_SERVERS` keeps that server off. No
 * sentence quotes a value that may be a secret.
 */

import type { IdentityConfig } from "../auth/identity/identity-providers.ts";
import { parseIdentity } from "./config-identity.ts";
import { type ConfiguredServers, parseServers } from "./config-servers.ts";
import { isUnset, parseTable } from "./config-table.ts";
import { isLoopback } from "../lib/loopback.ts";
import { fromBase64Url } from "../lib/base64url.ts";
import { KEY_BYTES } from "../lib/seal.ts";
import { tryJson } from "../lib/try-json.ts";
import { defaultLimits, isLimitName, LIMITS, type Limits } from "../policy/limits.ts";

export interface Config extends ConfiguredServers {
  /** `none`: there is no sign-in, and only loopback hosts are served. */
  readonly authMode: "oauth" | "none";
  /** The identity providers, the default one first. */
  readonly identity: readonly IdentityConfig[];
  /**
   * The origin of all URLs that the gateway publishes. In development, the loopback origin of the
   * request.
   */
  readonly publicOrigin: string | undefined;
  readonly allowedOrigins: ReadonlySet<string>;
  readonly limits: Limits;
  /** Base64url, newest first. Without them, the gateway generates its own keys. */
  readonly sessionKeys: readonly string[] | undefined;
  /** The root of the sign-in keys, in base64url. Without it, the gateway generates its own. */
  readonly authSecret: string | undefined;
  /**
   * The roots of the keys of vaults, in base64url, newest first. Without them, `authSecret` or what the
   * gateway generates instead.
   */
  readonly vaultSecrets: readonly string[];
  /**
   * The key in every request that comes through the launcher of `npm start`, which generates it.
   */
  readonly launcherKey: string | undefined;
  /** Whether calls are recorded, and whose an operator may see. */
  readonly activity: Activity;
  /** People may publish servers from their own machines. */
  readonly isPublishingOn: boolean;
  /** True when the costs of operations can be read: a development tool. */
  readonly reportsCosts: boolean;
}

/** `off`: nothing is recorded. `own`: people see their own calls, operators the totals, too. `all`: operators see everyone's. */
export const ACTIVITIES = ["off", "own", "all"] as const;
export type Activity = (typeof ACTIVITIES)[number];

/** No route can be served with it. */
export interface RefusedConfig {
  readonly ok: false;
  readonly problems: readonly string[];
}

export type ConfigResult = { readonly ok: true; readonly config: Config } | RefusedConfig;

/** An isolate has one environment for its whole life; in tests, its Worker and its objects have one each. */
let configs = new WeakMap<Env, ConfigResult>();

/** The configuration of this isolate. */
export function loadConfig(env: Env): ConfigResult {
  const known = configs.get(env);
  if (known !== undefined) return known;
  const result = parseConfig(env);
  configs.set(env, result);
  return result;
}

/** Has every environment read again, as a new isolate would: for tests, which change theirs. */
export function forgetConfigs(): void {
  configs = new WeakMap();
}

/** Parses every key and reports all mistakes at once. */
export function parseConfig(env: Readonly<Record<string, unknown>>): ConfigResult {
  const problems: string[] = [];
  const limits = parseLimits(env["LIMITS"], problems);
  const authMode = parseAuthMode(env["AUTH_MODE"], problems);
  const isPublishingOn = parsePublishing(env["PUBLISHING"], problems);
  const config: Config = {
    authMode,
    identity: parseIdentity(env["IDENTITY"], env, problems),
    publicOrigin: parsePublicOrigin(env["PUBLIC_ORIGIN"], problems),
    allowedOrigins: parseAllowedOrigins(env["ALLOWED_ORIGINS"], problems),
    ...parseServers({
      ...{ place: "MCP_SERVERS.", authMode, env, problems, isPublishingOn },
      maxMessageChars: limits.maxMessageBytes,
    }),
    limits,
    sessionKeys: parseSessionKeys(env["SESSION_KEYS"], problems),
    authSecret: parseAuthSecret(env["AUTH_SECRET"], problems),
    vaultSecrets: parseVaultSecrets(env["VAULT_SECRET"], problems),
    launcherKey: parseLauncherKey(env["LAUNCHER_KEY"]),
    activity: parseActivity(env["ACTIVITY"], problems),
    isPublishingOn,
    reportsCosts: env["COST_REPORT"] === "on",
  };
  return problems.length === 0 ? { ok: true, config } : { ok: false, problems };
}

function parseAuthMode(value: unknown, problems: string[]): "oauth" | "none" {
  if (isUnset(value) || value === "oauth") return "oauth";
  if (value !== "none") {
    problems.push(`AUTH_MODE is "${String(value)}"; it can be "oauth" (the default) or "none".`);
  }
  return "none";
}

function parseActivity(value: unknown, problems: string[]): Activity {
  if (isUnset(value)) return "all";
  const known = ACTIVITIES.find((each) => each === value);
  if (known !== undefined) return known;
  problems.push(`ACTIVITY is "${String(value)}"; it can be "all" (the default), "own" or "off".`);
  // What may be meant to keep less must not keep more.
  return "off";
}

function parsePublishing(value: unknown, problems: string[]): boolean {
  if (!isUnset(value) && value !== "off" && value !== "on") {
    problems.push(`PUBLISHING is "${String(value)}"; it can be "off" (the default) or "on".`);
  }
  return value === "on";
}

function parseLauncherKey(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function parseOrigin(key: string, value: unknown, problems: string[]): string | undefined {
  if (isUnset(value)) return undefined;
  const url = typeof value === "string" && URL.canParse(value) ? new URL(value) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) {
    return url.origin;
  }
  problems.push(`${key} must be an origin like "https://mcp.example.com", without a path.`);
  return undefined;
}

/** An authorization server is served over TLS, except on this machine (RFC 8414 section 2). */
function parsePublicOrigin(value: unknown, problems: string[]): string | undefined {
  const origin = parseOrigin("PUBLIC_ORIGIN", value, problems);
  if (origin?.startsWith("http:") === true && !isLoopback(new URL(origin).hostname)) {
    problems.push('PUBLIC_ORIGIN must begin with "https://", unless it is a loopback host.');
  }
  return origin;
}

function parseAllowedOrigins(value: unknown, problems: string[]): ReadonlySet<string> {
  const origins = new Set<string>();
  if (isUnset(value)) return origins;
  const list = typeof value === "string" ? tryJson(value) : value;
  if (!Array.isArray(list)) {
    problems.push('ALLOWED_ORIGINS must be a list of origins, like ["https://app.example.com"].');
    return origins;
  }
  for (const [index, entry] of list.entries()) {
    const origin = parseOrigin(`ALLOWED_ORIGINS[${index}]`, entry, problems);
    if (origin !== undefined) origins.add(origin);
  }
  return origins;
}

function parseLimits(value: unknown, problems: string[]): Limits {
  const limits: Record<string, number> = { ...defaultLimits() };
  const table = isUnset(value) ? {} : parseTable("LIMITS", value, problems);
  if (typeof table !== "object" || table === null || Array.isArray(table)) {
    if (table !== undefined) problems.push("LIMITS must be a table of names and numbers.");
    return defaultLimits();
  }
  for (const [name, entry] of Object.entries(table)) {
    if (!isLimitName(name)) {
      problems.push(
        `LIMITS.${name} is unknown; the limits are: ${Object.keys(LIMITS).join(", ")}.`,
      );
      continue;
    }
    const { min, max } = LIMITS[name];
    if (typeof entry !== "number" || !(entry >= min && entry <= max)) {
      problems.push(`LIMITS.${name} must be a number from ${min} to ${max}.`);
      continue;
    }
    limits[name] = entry;
  }
  return limits as Limits;
}

function parseSessionKeys(value: unknown, problems: string[]): readonly string[] | undefined {
  if (isUnset(value)) return undefined;
  const keys = typeof value === "string" ? value.split(",").map((key) => key.trim()) : [];
  if (keys.length > 0 && keys.every((key) => fromBase64Url(key)?.length === KEY_BYTES)) return keys;
  problems.push(
    `SESSION_KEYS must be keys of ${KEY_BYTES} bytes in base64url, newest first, with commas in between.`,
  );
  return undefined;
}

function parseAuthSecret(value: unknown, problems: string[]): string | undefined {
  if (isUnset(value)) return undefined;
  if (typeof value === "string" && isLongSecret(value)) return value;
  problems.push(`AUTH_SECRET must be at least ${KEY_BYTES} random bytes in base64url.`);
  return undefined;
}

function parseVaultSecrets(value: unknown, problems: string[]): readonly string[] {
  if (isUnset(value)) return [];
  const secrets = typeof value === "string" ? value.split(",").map((secret) => secret.trim()) : [];
  if (secrets.length > 0 && secrets.every(isLongSecret)) return secrets;
  problems.push(
    `VAULT_SECRET must be secrets of at least ${KEY_BYTES} random bytes in base64url, newest first, with commas in between.`,
  );
  return [];
}

function isLongSecret(secret: string): boolean {
  return (fromBase64Url(secret)?.length ?? 0) >= KEY_BYTES;
}
