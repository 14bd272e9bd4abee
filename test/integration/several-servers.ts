/** Makes some scripted upstreams the only servers, so that `/mcp` merges them. */

import { env } from "cloudflare:workers";

import type { Json, Script } from "../support/scripted-upstream-script.ts";
import { changeConfiguration } from "./configuration.ts";
import { Upstream } from "./upstream.ts";

export interface Several {
  readonly script: Script;
  /** What else its entry in `MCP_SERVERS` says. */
  readonly entry?: Json;
}

/** In the order given. To be called before the first request of a file, and once. */
export async function takeSeveral(several: readonly Several[]): Promise<readonly Upstream[]> {
  const servers = JSON.parse(String(env["MCP_SERVERS"])) as Record<string, Json>;
  const upstreams = await Promise.all(several.map(({ script }) => Upstream.take(script)));
  const entries = upstreams.map(({ slug }, n) => [
    slug,
    { ...servers[slug], ...several[n]?.entry },
  ]);
  changeConfiguration({ MCP_SERVERS: JSON.stringify(Object.fromEntries(entries)) });
  return upstreams;
}
