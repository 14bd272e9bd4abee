/** An endpoint and its servers. */

import type { Server } from "./server.ts";

export interface Endpoint {
  /** In the operator's order, which decides every tie. At least one. */
  readonly servers: readonly [Server, ...Server[]];
  /** Several servers meet here: names have prefixes, lists are merged. */
  readonly isMerged: boolean;
  /** `/mcp/<slug>`: names are the server's own, whatever is configured. */
  readonly keepsNames: boolean;
}

export type Picked =
  | { readonly kind: "endpoint"; readonly endpoint: Endpoint }
  /** The path names a server that is not configured. */
  | { readonly kind: "unknown" }
  /** A sentence for the operator. */
  | { readonly kind: "unserved"; readonly sentence: string };

type Servers = ReadonlyMap<string, Server>;

/** Endpoints are made once, so that derived values can be cached by endpoint. */
const made = new WeakMap<Servers, Map<string | undefined, Picked>>();

/** @param slug from `/mcp/<slug>`; `undefined` for the endpoint of the whole gateway. */
export function pickEndpoint(servers: Servers, slug: string | undefined): Picked {
  const known = made.get(servers) ?? new Map<string | undefined, Picked>();
  made.set(servers, known);
  let picked = known.get(slug);
  if (picked === undefined) {
    picked = pick(servers, slug);
    // Clients choose slugs, so unknown ones are not cached.
    if (picked.kind !== "unknown") known.set(slug, picked);
  }
  return picked;
}

function pick(servers: Servers, slug: string | undefined): Picked {
  if (slug !== undefined) {
    const server = servers.get(slug);
    if (server === undefined) return { kind: "unknown" };
    return {
      kind: "endpoint",
      endpoint: { servers: [server], isMerged: false, keepsNames: true },
    };
  }
  const [first, ...others] = servers.values();
  if (first === undefined) {
    const sentence =
      'No upstream is configured. Set MCP_SERVERS, for example to {"docs":{"url":"https://…/mcp"}}.';
    return { kind: "unserved", sentence };
  }
  const endpoint: Endpoint = {
    servers: [first, ...others],
    isMerged: others.length > 0,
    keepsNames: false,
  };
  return { kind: "endpoint", endpoint };
}

/**
 * True where the gateway lists and introduces the servers itself, from what it knows of them: where
 * several meet, and where the caller may have no account at the only one.
 */
export function isIntroducedHere({ isMerged, servers: [only] }: Endpoint): boolean {
  return isMerged || only.target.credentials !== undefined;
}

export function serverOf({ servers }: Endpoint, slug: string): Server | undefined {
  return servers.find((server) => server.slug === slug);
}
