/** Makes one scripted upstream the only server, so that `/mcp` and `/sse` lead to it. */

import { env } from "cloudflare:workers";

import type { Json, Script } from "../support/scripted-upstream-script.ts";
import { changeConfiguration } from "./configuration.ts";
import { Upstream } from "./upstream.ts";

/** To be called before the first request of a file, and once. */
export async function takeOnly(script: Script): Promise<Upstream> {
  const upstream = await Upstream.take(script);
  const servers = JSON.parse(String(env["MCP_SERVERS"])) as Json;
  changeConfiguration({
    MCP_SERVERS: JSON.stringify({ [upstream.slug]: servers[upstream.slug] }),
  });
  return upstream;
}
