/**
 * Which arguments of which tools an upstream wants mirrored into `Mcp-Param-*` headers. Learned
 * from `tools/list`, remembered for a while, and learned anew when the upstream says that the
 * headers did not fit.
 */

import { BoundedCache } from "../../lib/bounded-cache.ts";
import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";
import { type ParamBinding, readParamBindings } from "../../protocol/param-headers.ts";
import type { UpstreamTarget } from "../target.ts";
import { sendModern } from "./send.ts";

export type ToolBindings = ReadonlyMap<string, readonly ParamBinding[]>;

const FIVE_MINUTES_MS = 300_000;
/** A list that goes on for longer is cut here: tools beyond it have their headers passed on. */
const MAX_PAGES = 100;
const catalogs = new BoundedCache<ToolBindings>({ maxEntries: 200, ttlMs: FIVE_MINUTES_MS });

/**
 * The bindings of every listed tool. A tool without any is in the map with none; one that is
 * absent is not listed, and nothing is known of it.
 *
 * @throws UpstreamError when the list cannot be had.
 */
export async function toolBindings(target: UpstreamTarget): Promise<ToolBindings> {
  const key = target.endpoint.href;
  const known = catalogs.get(key);
  if (known !== undefined) return known;

  const bindings = new Map<string, readonly ParamBinding[]>();
  let cursor: unknown;
  for (let page = 0; page < MAX_PAGES; page++) {
    const { reply } = await sendModern(target, {
      call: { method: "tools/list", params: cursor === undefined ? {} : { cursor } },
      clientCapabilities: {},
    });
    if ("error" in reply) break; // no tools capability, most likely
    collect(reply.result, bindings);
    const { nextCursor } = reply.result;
    if (typeof nextCursor !== "string" || nextCursor === cursor) break;
    cursor = nextCursor;
  }
  catalogs.set(key, bindings);
  return bindings;
}

export function forgetToolBindings(target: UpstreamTarget): void {
  catalogs.delete(target.endpoint.href);
}

function collect(result: JsonObject, bindings: Map<string, readonly ParamBinding[]>): void {
  if (!Array.isArray(result["tools"])) return;
  for (const tool of result["tools"] as unknown[]) {
    if (!isObject(tool) || typeof tool["name"] !== "string") continue;
    const reading = readParamBindings(tool["inputSchema"]);
    // A bad annotation must not break the others; its own tool mirrors nothing we could check.
    if (reading.kind === "bindings") bindings.set(tool["name"], reading.bindings);
  }
}
