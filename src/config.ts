/**
 * Env -> Config, once per isolate. A mistake is not a crash: it is kept as one plain sentence,
 * and every route answers with it. No sentence quotes a value that may be a secret.
 */

import * as z from "zod/mini";

import { type Resolution, resolveServer, serverSchema, SLUG } from "./config-server.ts";
import { fromBase64Url, KEY_BYTES } from "./lib/seal.ts";
import { tryJson } from "./lib/try-json.ts";
import { defaultLimits, isLimitName, LIMITS, type Limits } from "./policy/limits.ts";
import type { UpstreamTarget } from "./upstream/target.ts";

export interface Config {
  /** The only mode until sign-in exists: served to loopback hosts alone. */
  readonly authMode: "none";
  readonly publicOrigin: string | undefined;
  readonly allowedOrigins: ReadonlySet<string>;
  readonly servers: ReadonlyMap<string, UpstreamTarget>;
  readonly limits: Limits;
  /** Base64url, newest first. Without them, the gateway makes keys of its own. */
  readonly sessionKeys: readonly string[] | undefined;
  /** Whether what operations cost may be read: a tool of development. */
  readonly reportsCosts: boolean;
}

export type ConfigResult =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly problems: readonly string[] };

/** The demo upstream is bound in development only; deployed, the name is absent. */
const DEMO_BINDING = "DEMO";

let cached: { env: unknown; result: ConfigResult } | undefined;

/** The configuration of this isolate; `env` is the same object for its whole life. */
export function loadConfig(env: Env): ConfigResult {
  if (cached?.env !== env) cached = { env, result: parseConfig(env) };
  return cached.result;
}

/** Parses every key and reports all mistakes at once. */
export function parseConfig(env: Readonly<Record<string, unknown>>): ConfigResult {
  const problems: string[] = [];
  if (!isUnset(env["IDENTITY"])) {
    problems.push("IDENTITY is set, but this version has no sign-in yet; remove it.");
  }
  const limits = parseLimits(env["LIMITS"], problems);
  const config: Config = {
    authMode: parseAuthMode(env["AUTH_MODE"], problems),
    publicOrigin: parseOrigin("PUBLIC_ORIGIN", env["PUBLIC_ORIGIN"], problems),
    allowedOrigins: parseAllowedOrigins(env["ALLOWED_ORIGINS"], problems),
    servers: parseServers({ env, maxMessageChars: limits.maxMessageBytes, problems }),
    limits,
    sessionKeys: parseSessionKeys(env["SESSION_KEYS"], problems),
    reportsCosts: env["COST_REPORT"] === "on",
  };
  return problems.length === 0 ? { ok: true, config } : { ok: false, problems };
}

function isUnset(value: unknown): boolean {
  return value === undefined || value === "";
}

/** A table of wrangler.toml, or the same thing as a JSON string given with `--var`. */
function parseTable(key: string, value: unknown, problems: string[]): unknown {
  if (typeof value !== "string") return value;
  const parsed = tryJson(value);
  if (parsed === undefined) {
    problems.push(`${key} is a string that is not valid JSON; write a table or a JSON object.`);
  }
  return parsed;
}

function parseAuthMode(value: unknown, problems: string[]): "none" {
  if (value !== "none") {
    const found = isUnset(value) ? 'unset, which means "oauth"' : `"${String(value)}"`;
    problems.push(`AUTH_MODE is ${found}; this version serves only "none", to loopback hosts.`);
  }
  return "none";
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

function parseServers(resolution: Resolution): ReadonlyMap<string, UpstreamTarget> {
  const { env, problems } = resolution;
  const servers = new Map<string, UpstreamTarget>();
  const value = env["MCP_SERVERS"];
  const table = isUnset(value) ? {} : parseTable("MCP_SERVERS", value, problems);
  if (table === undefined) return servers;
  const parsed = z.record(z.string(), z.unknown()).safeParse(table);
  if (!parsed.success) {
    problems.push("MCP_SERVERS must be a table of servers, each under its slug.");
    return servers;
  }
  for (const [slug, entry] of Object.entries(parsed.data)) {
    const key = `MCP_SERVERS.${slug}`;
    if (!SLUG.test(slug) || slug.includes("__")) {
      problems.push(`${key}: a slug has 1 to 24 characters of a-z, 0-9 and "-".`);
      continue;
    }
    const server = serverSchema.safeParse(entry);
    if (!server.success) {
      for (const { path, message } of server.error.issues) {
        problems.push(`${[key, ...path].join(".")}: ${message}.`);
      }
      continue;
    }
    const resolved = resolveServer(slug, server.data, resolution);
    if (resolved !== undefined) servers.set(slug, resolved);
  }
  if (servers.size === 0 && problems.length === 0 && env[DEMO_BINDING] !== undefined) {
    const demo = resolveServer("demo", { service: DEMO_BINDING }, resolution);
    if (demo !== undefined) servers.set("demo", demo);
  }
  return servers;
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
