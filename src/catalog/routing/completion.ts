/** Routes a completion to the server of its prompt, template or resource. */

import type { Call } from "../../protocol/exchange.ts";
import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";
import { eraOf } from "../../protocol/revisions.ts";
import { attributedAt } from "../../endpoint/attribution.ts";
import type { ClientKind } from "../../endpoint/client-kind.ts";
import { knownCatalog } from "../cache/catalogs.ts";
import type { Server } from "../../endpoint/server.ts";
import { mayMeetDeny } from "../uris/judge-uri.ts";
import { findNamed } from "./named.ts";
import { malformed, noCompletions, unknownReference } from "./routing-refusals.ts";
import { ownersOf } from "./resource-owners.ts";
import { type RoutingScope, type Routed, routeNameless } from "./routed.ts";

export async function routeCompletion(
  place: RoutingScope,
  client: ClientKind,
  call: Call,
): Promise<Routed> {
  const ref = call.params?.["ref"];
  const { type, name, uri }: JsonObject = isObject(ref) ? ref : {};
  if (type === "ref/prompt" && typeof name === "string") {
    const found = await findNamed(place, client, "prompts", name);
    if (found.kind === "reply") return found;
    if (found.name === name) return routeTo(place, client, found.server, call);
    const named = { ...call.params, ref: { ...(ref as JsonObject), name: found.name } };
    return routeTo(place, client, found.server, { ...call, params: named });
  }
  if (type === "ref/resource" && typeof uri === "string") {
    const server = (await ownersOf(place, client, [uri], true)).get(uri);
    if (server === undefined) return { kind: "reply", reply: unknownReference(uri) };
    // The server would also offer the names of forbidden items.
    return mayMeetDeny(server.resources, uri)
      ? noneOf(place, client, server)
      : routeTo(place, client, server, call);
  }
  const refusal = malformed("ref", "a reference to a prompt or a resource");
  return routeNameless(place, call, ["prompts", "resources"], refusal);
}

async function routeTo(
  place: RoutingScope,
  client: ClientKind,
  server: Server,
  call: Call,
): Promise<Routed> {
  return place.endpoint.isMerged && (await lacksCompletions(place, client, server))
    ? noneOf(place, client, server)
    : { kind: "server", server, call };
}

function noneOf({ endpoint }: RoutingScope, { revision }: ClientKind, { slug }: Server): Routed {
  return { kind: "reply", reply: attributedAt(endpoint, slug, noCompletions(eraOf(revision))) };
}

/**
 * Servers of 2024-11-05 could not advertise completions, and servers of 2026-07-28 in the field do
 * not, so these are asked (`settled` is for those that have none).
 */
async function lacksCompletions(
  place: RoutingScope,
  client: ClientKind,
  server: Server,
): Promise<boolean> {
  const { revision } = client;
  if (eraOf(revision) === "modern" || revision < "2025-03-26") return false;
  const { catalog } = await knownCatalog(place, server, client);
  return catalog !== undefined && catalog.about.capabilities["completions"] === undefined;
}
