/**
 * The facts that a call of a tool needs, taken from the catalog so that a call costs no list
 * request.
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
 * @param isDoubted the earlier facts did not fit: the server is asked again.
 * @returns `undefined` when the tool is not listed, or no list is available.
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
