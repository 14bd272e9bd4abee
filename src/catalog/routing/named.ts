/** Finds the server of a tool or prompt, and its name there. */

import { isAllowedUnlisted } from "../../policy/item-policy.ts";
import type { Reply } from "../../protocol/json-rpc.ts";
import type { ClientKind } from "../../endpoint/client-kind.ts";
import type { Catalog } from "../catalog.ts";
import { currentCatalog, knownCatalog } from "../cache/catalogs.ts";
import { publicIndex, shows } from "../cache/lookups.ts";
import { type NamedKind, namingOf } from "../names/naming.ts";
import type { Server } from "../../endpoint/server.ts";
import { unavailable, unknownName } from "./routing-refusals.ts";
import type { RoutingScope } from "./routed.ts";

export type FoundName =
  | { readonly kind: "found"; readonly server: Server; readonly name: string }
  /** The item does not exist, or is forbidden. */
  | { readonly kind: "reply"; readonly reply: Reply };

/**
 * Forbidden and unknown names take the same path to its end: neither the answer nor its time
 * distinguishes them.
 *
 * @param publicName as the client sent it.
 */
export async function findNamed(
  place: RoutingScope,
  client: ClientKind,
  kind: NamedKind,
  publicName: string,
): Promise<FoundName> {
  const naming = namingOf(place.endpoint, place.limits.nameChars);
  const located = naming.locate(kind, publicName);
  if (located.kind === "unknown") return { kind: "reply", reply: unknownName(kind, publicName) };
  const { server } = located;
  // Servers hide tools that can be called all the same, so most names need no list.
  if (located.kind === "plain" && isAllowedUnlisted(server[kind], located.name)) {
    return { kind: "found", server, name: located.name };
  }

  const nameIn = (catalog: Catalog): string | undefined => {
    if (located.kind === "short") {
      return publicIndex(naming, server, kind, catalog).toServer.get(publicName);
    }
    return shows(server, catalog, kind, located.name) ? located.name : undefined;
  };
  let reply = unknownName(kind, publicName);
  for (const ask of [knownCatalog, currentCatalog]) {
    const { catalog, trouble } = await ask(place, server, client);
    const name = catalog && nameIn(catalog);
    if (name !== undefined) return { kind: "found", server, name };
    const isUntold = catalog === undefined && trouble !== undefined;
    reply = isUntold ? unavailable(server.slug, trouble) : unknownName(kind, publicName);
  }
  return { kind: "reply", reply };
}
