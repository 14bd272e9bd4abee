/** Which upstream an endpoint leads to. One server at a time, until several are merged. */

import type { UpstreamTarget } from "../upstream/target.ts";

export type Picked =
  | { readonly kind: "target"; readonly target: UpstreamTarget }
  /** The path names a server that is not configured. */
  | { readonly kind: "unknown" }
  /** A sentence for the operator. */
  | { readonly kind: "unserved"; readonly sentence: string };

/** @param slug from `/mcp/<slug>`; `undefined` for the endpoint of the whole gateway. */
export function pickTarget(
  servers: ReadonlyMap<string, UpstreamTarget>,
  slug: string | undefined,
): Picked {
  if (slug !== undefined) {
    const target = servers.get(slug);
    return target === undefined ? { kind: "unknown" } : { kind: "target", target };
  }
  const [only, second] = servers.values();
  if (only === undefined) {
    const sentence =
      'No upstream is configured. Set MCP_SERVERS, for example to {"docs":{"url":"https://…/mcp"}}.';
    return { kind: "unserved", sentence };
  }
  if (second === undefined) return { kind: "target", target: only };
  const paths = [...servers.keys()].map((name) => `/mcp/${name}`).join(", ");
  const sentence = `MCP_SERVERS names ${servers.size} servers, which this version serves one by one: ${paths}.`;
  return { kind: "unserved", sentence };
}
