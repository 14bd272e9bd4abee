/** One entry of `MCP_SERVERS`: the object that MCP clients already use can be pasted unchanged. */

import * as z from "zod/mini";

import { resolveAuth } from "./config-auth.ts";
import { authSchema } from "./config-auth-schema.ts";
import { fillIn, hasPlaceholder } from "./clients/placeholders.ts";
import { SPELLINGS } from "./clients/spellings.ts";
import { isHeader } from "./config-fields.ts";
import { namedItemsSchema, resolveItems, resourcesSchema } from "./config-items.ts";
import { identitySchema, resolveIdentity } from "./config-server-identity.ts";
import { oneOf, table } from "./config-table.ts";
import { defaultPrefix, type Server } from "../endpoint/server.ts";
import { lazy } from "../lib/lazy.ts";
import { count } from "../observability/costs.ts";
import type { Fetch, UpstreamTarget } from "../upstream/target.ts";

/** Some model APIs reject names that begin with a digit or `-`. */
const PREFIX = /^(?:[A-Za-z_][A-Za-z0-9_-]{0,23})?$/;

export const serverSchema = lazy(() =>
  table(
    {
      url: z.optional(z.string({ error: "must be a string" })),
      service: z.optional(z.string({ error: "must be a string" })),
      transport: z.optional(oneOf(["auto", "streamable-http", "sse"])),
      // What clients call `transport`; `http` is their word for Streamable HTTP.
      type: z.optional(oneOf(["http", "streamable-http", "streamableHttp", "sse"])),
      era: z.optional(oneOf(["auto", "legacy", "modern"])),
      headers: z.optional(
        z.record(z.string(), z.string({ error: "must be a string" }), {
          error: "must be a table of strings",
        }),
      ),
      auth: z.optional(authSchema()),
      // Checked with `auth`.
      oauth: z.optional(z.unknown()),
      key: z.optional(z.unknown()),
      identity: z.optional(identitySchema()),
      timeoutSeconds: z.optional(
        z
          .number({ error: "must be a number of seconds" })
          .check(
            z.minimum(1, { error: "must be at least 1" }),
            z.maximum(86_400, { error: "must be at most 86400" }),
          ),
      ),
      prefix: z.optional(
        z.string({ error: "must be a string" }).check(
          z.regex(PREFIX, {
            error:
              'has at most 24 characters of A-Z, a-z, 0-9, "_" and "-", and the first is a letter or "_"',
          }),
        ),
      ),
      tools: z.optional(namedItemsSchema()),
      prompts: z.optional(namedItemsSchema()),
      resources: z.optional(resourcesSchema()),
    },
    Object.keys(SPELLINGS),
  ),
);

type ServerEntry = z.infer<ReturnType<typeof serverSchema>>;

const DEFAULT_TIMEOUT_SECONDS = 300;
/** Service bindings ignore the host; it only has to parse. */
const SERVICE_ORIGIN = "http://service.internal";

/** The environment of a server's entry, and the list that receives its mistakes. */
export interface ServerResolution {
  /** Precedes the slug in sentences. */
  readonly place: "MCP_SERVERS." | "";
  readonly authMode: "oauth" | "none";
  readonly env: Readonly<Record<string, unknown>>;
  readonly maxMessageChars: number;
  /** Slugs and prefixes of published servers belong to people. */
  readonly isPublishingOn: boolean;
  readonly problems: string[];
}

/** Checks what a schema cannot, fills in secrets, and binds the server to its fetch. */
export function resolveServer(
  slug: string,
  entry: ServerEntry,
  { place, authMode, env, maxMessageChars, problems }: ServerResolution,
): Server | undefined {
  const key = `${place}${slug}`;
  const endpoint = resolveUrl(key, entry, env, problems);
  const headers = resolveHeaders(key, entry.headers ?? {}, env, problems);
  const auth = resolveAuth(entry, { key, authMode, env, problems });
  const items = {
    tools: resolveItems(`${key}.tools`, entry.tools, problems),
    prompts: resolveItems(`${key}.prompts`, entry.prompts, problems),
    resources: resolveItems(`${key}.resources`, entry.resources, problems),
  };
  if (endpoint === undefined || headers === undefined || auth === undefined) return undefined;
  const target: UpstreamTarget = {
    slug,
    endpoint,
    fetch: entry.service === undefined ? overNetwork : overBinding(env[entry.service]),
    isOverNetwork: entry.service === undefined,
    headers,
    transport: entry.transport ?? (entry.type === "sse" ? "sse" : "auto"),
    era: entry.era ?? "auto",
    timeoutMs: (entry.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * 1000,
    maxMessageChars,
  };
  const identity = resolveIdentity(key, entry, endpoint, problems);
  return {
    slug,
    target,
    auth,
    prefix: entry.prefix ?? defaultPrefix(slug),
    ...(identity === undefined ? {} : { identity }),
    ...items,
  };
}

function isFetcher(binding: unknown): binding is Fetcher {
  return typeof binding === "object" && binding !== null && "fetch" in binding;
}

const overNetwork: Fetch = (url, init) => {
  count("outgoingRequests");
  return fetch(url, init);
};

/** A service binding, recognised by its shape: `resolveUrl` has checked that it exists. */
function overBinding(binding: unknown): Fetch {
  const fetcher = binding as Fetcher;
  return (url, init) => {
    count("outgoingRequests");
    return fetcher.fetch(url, init);
  };
}

function resolveUrl(
  key: string,
  { url, service, transport, type }: ServerEntry,
  env: Readonly<Record<string, unknown>>,
  problems: string[],
): URL | undefined {
  if (service !== undefined && !isFetcher(env[service])) {
    problems.push(`${key}.service: there is no service binding named "${service}".`);
    return undefined;
  }
  if (service !== undefined && url === undefined) {
    const path = transport === "sse" || type === "sse" ? "/sse" : "/mcp";
    return new URL(path, SERVICE_ORIGIN);
  }
  if (url === undefined) {
    problems.push(`${key} needs a "url" or a "service".`);
    return undefined;
  }
  if (hasPlaceholder(url)) {
    problems.push(
      `${key}.url has a placeholder in it, which is filled in nowhere but in "headers"; write the whole address, and put secrets into "headers".`,
    );
    return undefined;
  }
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
    problems.push(`${key}.url must be an absolute http or https URL.`);
    return undefined;
  }
  if (parsed.username !== "" || parsed.password !== "") {
    problems.push(`${key}.url has credentials in it; put them into "headers" as \${SECRET_NAME}.`);
    return undefined;
  }
  return parsed;
}

/** Fills in the secrets. */
function resolveHeaders(
  key: string,
  headers: Readonly<Record<string, string>>,
  env: Readonly<Record<string, unknown>>,
  problems: string[],
): Record<string, string> | undefined {
  const resolved: Record<string, string> = {};
  let isComplete = true;
  for (const [name, template] of Object.entries(headers)) {
    const value = fillIn(template, env, (mistake) => {
      problems.push(`${key}.headers.${name}: ${mistake}.`);
      isComplete = false;
    });
    if (!isHeader(name, value)) {
      problems.push(`${key}.headers.${name} is not a valid HTTP header.`);
      isComplete = false;
    }
    resolved[name] = value;
  }
  return isComplete ? resolved : undefined;
}
