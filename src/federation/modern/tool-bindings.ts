/**
 * Which arguments of a tool its server wants mirrored into `Mcp-Param-*` headers: as the catalog
 * has it, so that a call costs no list.
 */

import type { ParamBinding } from "../../protocol/param-headers.ts";
import type { ClientKind } from "../catalog/catalog.ts";
import { currentCatalog, knownCatalog } from "../catalog/catalogs.ts";
import { paramBindingsOf } from "../catalog/lookups.ts";
import type { Server } from "../server.ts";
import type { Surroundings } from "../surroundings.ts";

/**
 * Never rejects.
 *
 * @param isDoubted what was said before did not fit: the server is asked anew.
 * @returns `undefined` when the tool is not listed, or no list can be had.
 */
export type BindingsOf = (isDoubted: boolean) => Promise<readonly ParamBinding[] | undefined>;

/** @param name the server's own. */
export function toolBindings(
  context: Pick<Surroundings, "feeds" | "limits">,
  server: Server,
  client: ClientKind,
  name: unknown,
): BindingsOf {
  return async (isDoubted) => {
    const { catalog } = isDoubted
      ? await currentCatalog(context, server, client, isDoubted)
      : await knownCatalog(context, server, client);
    if (catalog === undefined || typeof name !== "string") return undefined;
    return paramBindingsOf(catalog, name);
  };
}
