/**
 * What has to be known of a tool to call it across the gateway: as the catalog has it, so that a call
 * costs no list.
 */

import type { RequestScope } from "../request-scope.ts";
import type { Server } from "../../endpoint/server.ts";
import type { ClientKind } from "../../endpoint/client-kind.ts";
import { currentCatalog, knownCatalog } from "./catalogs.ts";
import { factsOf, type ToolFacts } from "./lookups.ts";

/**
 * Never rejects.
 *
 * @param name the server's own.
 * @param isDoubted what was said before did not fit: the server is asked anew.
 * @returns `undefined` when the tool is not listed, or no list can be had.
 */
export type ToolFactsOf = (name: string, isDoubted: boolean) => Promise<ToolFacts | undefined>;

export function toolFactsOf(
  context: Pick<RequestScope, "feeds" | "limits">,
  server: Server,
  client: ClientKind,
): ToolFactsOf {
  return async (name, isDoubted) => {
    const { catalog } = isDoubted
      ? await currentCatalog(context, server, client, isDoubted)
      : await knownCatalog(context, server, client);
    return catalog === undefined ? undefined : factsOf(catalog, name);
  };
}
