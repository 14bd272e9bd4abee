/** Routes a request: the same for both eras, and for lists and calls. */

import { isAllowedUnlisted } from "../../policy/item-policy.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import type { Call } from "../../protocol/exchange.ts";
import { errorReply } from "../../protocol/json-rpc.ts";
import { eraOf } from "../../protocol/revisions.ts";
import type { ClientKind } from "../../endpoint/client-kind.ts";
import { LIST_KINDS, type ListKind, LISTS } from "../catalog.ts";
import type { NamedKind } from "../names/naming.ts";
import type { Server } from "../../endpoint/server.ts";
import { routeCompletion } from "./completion.ts";
import { findNamed } from "./named.ts";
import { malformed, resourceNotFound } from "./routing-refusals.ts";
import { ownersOf, ResourceOwners } from "./resource-owners.ts";
import { type RoutingScope, type Routed, routeNameless } from "./routed.ts";

const LISTED = new Map<string, ListKind>(LIST_KINDS.map((kind) => [LISTS[kind].method, kind]));

/** @param call as the client sent it: a request of either era, or a notification. */
export async function route(place: RoutingScope, client: ClientKind, call: Call): Promise<Routed> {
  const { method } = call;
  const list = LISTED.get(method);
  if (list !== undefined) return { kind: "list", list };
  switch (method) {
    case "tools/call":
      return routeNamed(place, client, call, "tools");
    case "prompts/get":
      return routeNamed(place, client, call, "prompts");
    case "resources/read":
    case "resources/subscribe":
    case "resources/unsubscribe":
      return routeResource(place, client, call);
    case "completion/complete":
      return routeCompletion(place, client, call);
  }
  const { servers, isMerged } = place.endpoint;
  // An only server may know a method that the gateway does not.
  if (!isMerged) return { kind: "server", server: servers[0], call };
  if (method === "logging/setLevel" || method.startsWith("notifications/")) return { kind: "all" };
  return { kind: "reply", reply: errorReply(ErrorCode.MethodNotFound, "Method not found") };
}

/** @returns the owner of a resource; `undefined` when none lists it and no template fits it. */
export async function ownerOf(
  place: RoutingScope,
  client: ClientKind,
  uri: string,
): Promise<Server | undefined> {
  return (await ownersOf(place, client, [uri])).get(uri);
}

async function routeNamed(
  place: RoutingScope,
  client: ClientKind,
  call: Call,
  kind: NamedKind,
): Promise<Routed> {
  const sent = call.params?.["name"];
  if (typeof sent !== "string") return routeNameless(place, call, [kind], malformed("name"));
  const found = await findNamed(place, client, kind, sent);
  if (found.kind === "reply") return found;
  const { server, name } = found;
  const own = name === sent ? call : { ...call, params: { ...call.params, name } };
  return { kind: "server", server, call: own };
}

async function routeResource(place: RoutingScope, client: ClientKind, call: Call): Promise<Routed> {
  const uri = call.params?.["uri"];
  if (typeof uri !== "string") return routeNameless(place, call, ["resources"], malformed("uri"));
  if (place.endpoint.isMerged && call.method === "resources/read") {
    return routeRead(place, client, call, uri);
  }
  const server = await ownerOf(place, client, uri);
  return server === undefined ? notFound(client, uri) : { kind: "server", server, call };
}

/** At a merged endpoint, a server may have a resource that none lists. */
async function routeRead(
  place: RoutingScope,
  client: ClientKind,
  call: Call,
  uri: string,
): Promise<Routed> {
  const owners = await ResourceOwners.at(place, client);
  let server = owners.ownerOf(uri);
  if (server === undefined) {
    await owners.awaitAll();
    server = owners.ownerOf(uri);
  }
  // Others are simply asked for it; these only for what they list, which may be new.
  const isStrict = ({ resources }: Server): boolean => !isAllowedUnlisted(resources, uri);
  if (server === undefined && place.endpoint.servers.some(isStrict)) {
    await owners.refresh(isStrict);
    server = owners.ownerOf(uri);
  }
  if (server !== undefined) return { kind: "server", server, call };
  const servers = owners.candidatesFor(uri);
  return servers.length === 0 ? notFound(client, uri) : { kind: "search", servers, call };
}

function notFound({ revision }: ClientKind, uri: string): Routed {
  return { kind: "reply", reply: resourceNotFound(eraOf(revision), uri) };
}
