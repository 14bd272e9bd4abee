/**
 * The configuration with the servers that operators have added, and narrowed by their switches. What has not
 * changed stays the same object, since what is derived from a server is cached by it.
 */

import { slugsOf } from "../../endpoint/endpoint.ts";
import { defaultPrefix, type Server } from "../../endpoint/server.ts";
import { type EgressPolicy, judgeEgress } from "../../lib/egress.ts";
import { isLoopback } from "../../lib/loopback.ts";
import type {
  AddedServer,
  AddedServers,
  Revised,
  ServerSwitch,
} from "../../observability/added-servers.ts";
import type { EntryNotice } from "../../observability/health.ts";
import type { Config } from "../config.ts";
import { resolveEntry } from "../config-servers.ts";

/** With its secrets; `undefined` where no key opens them. */
export interface OpenedServer {
  readonly server: Revised<AddedServer>;
  readonly secrets: Readonly<Record<string, string>> | undefined;
}

export interface OpenedServers extends Omit<AddedServers, "servers" | "changedAt"> {
  /** From when on every isolate serves them, in milliseconds since 1970. */
  readonly settledAt: number;
  readonly servers: readonly OpenedServer[];
}

/** A server, or the sentences that say why there is none. */
export type Resolved =
  | { readonly server: Server; readonly prefix: string }
  | { readonly sentences: readonly string[] };

export class JoinedConfig {
  readonly #base: Config;
  readonly #egress: EgressPolicy;
  /** By slug, as of the last state. */
  #resolved: ReadonlyMap<string, Known> = new Map();
  #narrowed: ReadonlyMap<string, Narrowed> = new Map();
  #last: { readonly state: OpenedServers | undefined; readonly config: Config };

  constructor(base: Config) {
    this.#base = base;
    this.#egress = addedEgress(base);
    this.#last = { state: undefined, config: base };
  }

  /** @param state `undefined` where nothing is known of it. */
  at(state: OpenedServers | undefined): Config {
    if (this.#last.state !== state) {
      const config = state === undefined ? this.#base : this.#join(state);
      this.#last = { state, config };
    }
    return this.#last.config;
  }

  #join(state: OpenedServers): Config {
    const base = this.#base;
    const servers = new Map(base.servers);
    const notices = [...base.notices];
    const prefixes = takenPrefixes(base);
    const taken = new Set([...servers.keys(), ...notices.flatMap(({ slug }) => slug ?? [])]);
    const resolved = new Map<string, Known>();
    const serving = state.servers.filter(({ server }) => server.state !== "draft");
    for (const opened of serving) {
      const { slug, label, state: its, revision } = opened.server;
      const is = this.#resolve(opened);
      resolved.set(slug, { revision, is });
      const notice = noticeOf(opened.server, taken.has(slug), is, prefixes);
      if (notice !== undefined) notices.push(notice);
      else if ("server" in is && its === "live") servers.set(slug, is.server);
      // Also that of a paused one stays its own: else calls meant for it would go to another.
      if (taken.has(slug) || !("prefix" in is) || prefixes.has(is.prefix)) continue;
      prefixes.set(is.prefix, label ?? slug);
    }
    this.#resolved = resolved;
    this.#narrow(state, servers, notices);
    const [only, second] = slugsOf(base);
    const plain = second === undefined ? only : undefined;
    const { version, settledAt } = state;
    const added = { version, settledAt, isAny: serving.length > 0, plain };
    return { ...base, servers, notices, added };
  }

  #resolve({ server, secrets }: OpenedServer): Resolved {
    const { slug, label, entry, revision } = server;
    const known = this.#resolved.get(slug);
    if (known?.revision === revision) return known.is;
    if (secrets === undefined) return { sentences: [`${slug}: ${SEALED_AWAY}`] };
    return resolveAdded({ slug, label, entry, secrets }, this.#base, this.#egress);
  }

  #narrow({ switches }: OpenedServers, servers: Map<string, Server>, notices: EntryNotice[]): void {
    const narrowed = new Map<string, Narrowed>();
    for (const [slug, change] of Object.entries(switches)) {
      const server = servers.get(slug);
      if (server === undefined) continue;
      if (change.off === true) {
        servers.delete(slug);
        notices.push(offNotice(slug, server.label, "switched off"));
        continue;
      }
      const known = this.#narrowed.get(slug);
      const isKnown = known?.revision === change.revision && known.of === server;
      const now = isKnown
        ? known
        : { of: server, revision: change.revision, is: without(server, change) };
      narrowed.set(slug, now);
      servers.set(slug, now.is);
    }
    this.#narrowed = narrowed;
  }
}

interface Known {
  readonly revision: number;
  readonly is: Resolved;
}

interface Narrowed {
  readonly of: Server;
  readonly revision: number;
  readonly is: Server;
}

const SEALED_AWAY =
  "none of the keys that are set opens its secrets. If VAULT_SECRET was changed, put the earlier one behind the new one, and press Seal all accounts anew at /admin; or enter the secrets again, under Change.";

/** An entry as it stands in a form, before it is stored. */
export interface AddedEntry extends Pick<AddedServer, "slug" | "entry"> {
  readonly label?: string | undefined;
  readonly secrets: Readonly<Record<string, string>>;
}

/** No request is sent. Of the environment, an added server sees its own secrets only. */
export function resolveAdded(
  { slug, label, entry, secrets }: AddedEntry,
  { authMode, limits, isPublishingOn }: Config,
  egress: EgressPolicy,
): Resolved {
  const sentences: string[] = [];
  const prefixes = new Map<string, string>();
  const resolution = {
    authMode,
    isPublishingOn,
    env: secrets,
    maxMessageChars: limits.maxMessageBytes,
  };
  const server = resolveEntry(slug, entry, prefixes, {
    ...resolution,
    place: "",
    problems: sentences,
  });
  for (const [key, address] of server === undefined ? [] : addressesOf(server)) {
    const refusal = URL.canParse(address) ? judgeEgress(new URL(address), egress) : undefined;
    if (refusal !== undefined) sentences.push(`${slug}.${key}: ${refusal}`);
  }
  if (server === undefined || sentences.length > 0) return { sentences };
  return { server: label === undefined ? server : { ...server, label }, prefix: server.prefix };
}

/** All that the gateway fetches for a server without having been told of it by a document that was judged. */
function addressesOf({ target, auth }: Server): readonly (readonly [key: string, url: string])[] {
  const own = [["url", target.endpoint.href]] as const;
  if (!("oauth" in auth)) return own;
  const { issuer, authorizationEndpoint, tokenEndpoint, revocationEndpoint } = auth.oauth;
  const given = { issuer, authorizationEndpoint, tokenEndpoint, revocationEndpoint };
  const addresses = Object.entries(given).flatMap(([key, url]) =>
    url === undefined ? [] : [[`oauth.${key}`, url] as const],
  );
  return [...own, ...addresses];
}

/**
 * Where added servers may be: at public addresses, at those of `MCP_SERVERS`, and on this machine where the gateway
 * itself runs on it. Whoever signs in as an operator must not reach more of a network than that.
 */
export function addedEgress({ publicOrigin, servers }: Config): EgressPolicy {
  const own = publicOrigin === undefined ? undefined : new URL(publicOrigin).hostname;
  const overNetwork = [...servers.values()].filter(({ target }) => target.isOverNetwork);
  return {
    ownHosts: new Set(own === undefined ? [] : [own]),
    configuredOrigins: new Set(overNetwork.map(({ target }) => target.endpoint.origin)),
    allowsLoopback: own === undefined || isLoopback(own),
  };
}

function takenPrefixes(base: Config): Map<string, string> {
  const off = slugsOf(base).filter((slug) => !base.servers.has(slug));
  return new Map([...off.map((slug) => [defaultPrefix(slug), slug] as const), ...base.prefixes]);
}

function noticeOf(
  { slug, label, state }: AddedServer,
  isTaken: boolean,
  resolved: Resolved,
  prefixes: ReadonlyMap<string, string>,
): EntryNotice | undefined {
  const name = label ?? slug;
  const wrong = (...sentences: string[]): EntryNotice => ({
    ...{ name, slug, state: "misconfigured", sentences },
  });
  if (isTaken) {
    return wrong(`${slug} was added at /admin/servers, too; the entry of MCP_SERVERS wins.`);
  }
  if (state === "paused") return offNotice(slug, label, "paused");
  if ("sentences" in resolved) return wrong(...resolved.sentences);
  const owner = prefixes.get(resolved.prefix);
  if (owner === undefined) return undefined;
  return wrong(
    `${slug}.prefix is "${resolved.prefix}", as that of "${owner}"; each server needs its own.`,
  );
}

function offNotice(slug: string, label: string | undefined, how: string): EntryNotice {
  return {
    name: label ?? slug,
    slug,
    state: "off",
    sentences: [`${slug} is ${how} at /admin/servers.`],
  };
}

/** @returns the server with a policy that denies these tools as well. */
function without(server: Server, { deniedTools = [] }: ServerSwitch): Server {
  if (deniedTools.length === 0) return server;
  return { ...server, tools: { ...server.tools, denied: new Set(deniedTools) } };
}
