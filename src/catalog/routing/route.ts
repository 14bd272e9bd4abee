/** Routes a request: the same for both eras, and for lists and calls. */

import { isAllowedUnlisted, isOpen } from "../../policy/item-policy.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import type { Call } from "../../protocol/exchange.ts";
import { errorReply, isObject, type JsonObject, type Reply } from "../../protocol/json-rpc.ts";
import { eraOf } from "../../protocol/revisions.ts";
import { attributedAt } from "../../endpoint/attribution.ts";
import type { ClientKind } from "../../endpoint/client-kind.ts";
import { isIntroducedHere } from "../../endpoint/endpoint.ts";
import { hasDefaultPrefix, type Server } from "../../endpoint/server.ts";
import { currentCatalog, knownCatalog } from "../cache/catalogs.ts";
import { publicIndex, shows } from "../cache/lookups.ts";
import { type Catalog, LIST_KINDS, type ListKind, LISTS } from "../catalog.ts";
import { type NamedKind, namingOf } from "../names/naming.ts";
import { isOfPublished } from "../../publishing/publisher.ts";
import type { RoutingScope } from "../request-scope.ts";
import { mayMeetDeny } from "../uris/judge-uri.ts";
import { ownersOf, ResourceOwners } from "./resource-owners.ts";
import {
  malformed,
  noCompletions,
  resourceNotFound,
  serversUnknown,
  unavailable,
  unknownName,
  unknownReference,
} from "./routing-refusals.ts";

export type Routed =
  /** The call has the server's own names. */
  | { readonly kind: "server"; readonly server: Server; readonly call: Call }
  /** Merged by `listPage`; where there is one server, its own page, through `listServer`. */
  | { readonly kind: "list"; readonly list: ListKind }
  /** A resource that no server lists: these may have it, and the first one that does answers. */
  | { readonly kind: "search"; readonly servers: readonly Server[]; readonly call: Call }
  /** Messages to all servers: `logging/setLevel`, and notifications. */
  | { readonly kind: "all" }
  /** No server gets the request. */
  | { readonly kind: "reply"; readonly reply: Reply };

const LISTED = new Map<string, ListKind>(LIST_KINDS.map((kind) => [LISTS[kind].method, kind]));

/** @param call as the client sent it: a request of either era, or a notification. */
export async function route(scope: RoutingScope, client: ClientKind, call: Call): Promise<Routed> {
  const { method } = call;
  const list = LISTED.get(method);
  if (list !== undefined) return { kind: "list", list };
  switch (method) {
    case "tools/call":
      return routeNamed(scope, client, call, "tools");
    case "prompts/get":
      return routeNamed(scope, client, call, "prompts");
    case "resources/read":
    case "resources/subscribe":
    case "resources/unsubscribe":
      return routeResource(scope, client, call);
    case "completion/complete":
      return routeCompletion(scope, client, call);
  }
  const { servers, isMerged } = scope.endpoint;
  // Clients set the level as soon as they are connected, when there may be no account at an only server yet.
  if (method === "logging/setLevel" && isIntroducedHere(scope.endpoint)) return { kind: "all" };
  const isNotice = method.startsWith("notifications/");
  if (isMerged) return isNotice ? { kind: "all" } : reply(methodNotFound());
  if (isNotice || namesNoItem(method)) return { kind: "server", server: servers[0], call };
  // An only server may know a method that the gateway does not, and such a method may name any item.
  return routeNameless(scope, call, ["tools", "prompts", "resources"], methodNotFound());
}

/** True for a request that uses none of the items that a policy judges; a task is of a call that was judged. */
function namesNoItem(method: string): boolean {
  return method === "ping" || method === "logging/setLevel" || method.startsWith("tasks/");
}

function methodNotFound(): Reply {
  return errorReply(ErrorCode.MethodNotFound, "Method not found");
}

async function routeNamed(
  scope: RoutingScope,
  client: ClientKind,
  call: Call,
  kind: NamedKind,
): Promise<Routed> {
  const { name: sent } = call.params ?? {};
  if (typeof sent !== "string") return routeNameless(scope, call, [kind], malformed("name"));
  const found = await findNamed(scope, client, kind, sent);
  if (found.kind === "reply") return found;
  const { server, name } = found;
  const own = name === sent ? call : { ...call, params: { ...call.params, name } };
  return { kind: "server", server, call: own };
}

type FoundName =
  | { readonly kind: "found"; readonly server: Server; readonly name: string }
  /** The item does not exist, or is forbidden. */
  | { readonly kind: "reply"; readonly reply: Reply };

/**
 * Finds the server of a tool or prompt, and its name there. Forbidden and unknown names take the same
 * path to its end: neither the answer nor its time distinguishes them.
 *
 * @param publicName as the client sent it.
 */
async function findNamed(
  scope: RoutingScope,
  client: ClientKind,
  kind: NamedKind,
  publicName: string,
): Promise<FoundName> {
  const naming = namingOf(scope.endpoint, scope.limits.nameChars);
  const located = naming.locate(kind, publicName);
  const unknown =
    scope.endpoint.isPartial === true ? serversUnknown() : unknownName(kind, publicName);
  if (located.kind === "unknown") return reply(unknown);
  const { server } = located;
  if (located.kind === "plain" && !mayBeOfAnother(scope, naming.prefixOf(server), publicName)) {
    // Servers hide tools that can be called all the same, so most names need no list.
    const { name } = located;
    if (isAllowedUnlisted(server[kind], name)) return { kind: "found", server, name };
  }

  const nameIn = (catalog: Catalog): string | undefined => {
    if (located.kind === "short") {
      return publicIndex(naming, server, kind, catalog).toServer.get(publicName);
    }
    return shows(server, catalog, kind, located.name) ? located.name : undefined;
  };
  let refusal = unknown;
  for (const ask of [knownCatalog, currentCatalog]) {
    const { catalog, trouble, isUnconnected } = await ask(scope, server, client);
    // Any call is answered by how to connect an account: the client may have an older list.
    if (isUnconnected === true) {
      return { kind: "found", server, name: located.kind === "plain" ? located.name : publicName };
    }
    const name = catalog && nameIn(catalog);
    if (name !== undefined) return { kind: "found", server, name };
    const isUnavailable = catalog === undefined && trouble !== undefined;
    refusal = isUnavailable ? unavailable(server.slug, trouble) : unknown;
  }
  return reply(refusal);
}

/**
 * True where a name may be meant for a server that is not known here, or no more: a call for it goes to the server that
 * keeps its names only if that lists it, since it may hold what is meant for nobody else.
 *
 * @param prefix of the server that has the name here.
 */
function mayBeOfAnother(
  { endpoint, publisher }: RoutingScope,
  prefix: string,
  publicName: string,
): boolean {
  const { isMerged, isPartial, keepsNames, version = 0 } = endpoint;
  if (keepsNames || prefix !== "" || !hasDefaultPrefix(publicName)) return false;
  if (isPartial === true || (isMerged && version > 0)) return true;
  return publisher !== undefined && isOfPublished(publicName);
}

/**
 * Routes a request without a name that the policy could judge. An only server judges it itself,
 * unless some of its items are forbidden: it might derive a name from any value.
 *
 * @param refusal the answer if the request is not passed on.
 */
function routeNameless(
  { endpoint }: RoutingScope,
  call: Call,
  judged: readonly (NamedKind | "resources")[],
  refusal: Reply,
): Routed {
  const [only] = endpoint.servers;
  const isPassed = !endpoint.isMerged && judged.every((list) => isOpen(only[list]));
  return isPassed ? { kind: "server", server: only, call } : reply(refusal);
}

async function routeResource(scope: RoutingScope, client: ClientKind, call: Call): Promise<Routed> {
  const { uri } = call.params ?? {};
  if (typeof uri !== "string") return routeNameless(scope, call, ["resources"], malformed("uri"));
  if (scope.endpoint.isMerged && call.method === "resources/read") {
    return routeRead(scope, client, call, uri);
  }
  const server = (await ownersOf(scope, client, [uri])).get(uri);
  return server === undefined ? notFound(client, uri) : { kind: "server", server, call };
}

/** At a merged endpoint, a server may have a resource that none lists. */
async function routeRead(
  scope: RoutingScope,
  client: ClientKind,
  call: Call,
  uri: string,
): Promise<Routed> {
  const owners = await ResourceOwners.at(scope, client);
  let server = owners.ownerOf(uri);
  if (server === undefined) {
    await owners.awaitAll();
    server = owners.ownerOf(uri);
  }
  // These are asked only for resources that they list, and the list may be new; others are asked for any.
  const isStrict = ({ resources }: Server): boolean => !isAllowedUnlisted(resources, uri);
  if (server === undefined && scope.endpoint.servers.some(isStrict)) {
    await owners.refresh(isStrict);
    server = owners.ownerOf(uri);
  }
  if (server !== undefined) return { kind: "server", server, call };
  const servers = owners.candidatesFor(uri);
  return servers.length === 0 ? notFound(client, uri) : { kind: "search", servers, call };
}

/** A completion goes to the server of its prompt, template or resource. */
async function routeCompletion(
  scope: RoutingScope,
  client: ClientKind,
  call: Call,
): Promise<Routed> {
  const ref = call.params?.ref;
  const { type, name, uri }: JsonObject = isObject(ref) ? ref : {};
  if (type === "ref/prompt" && typeof name === "string") {
    const found = await findNamed(scope, client, "prompts", name);
    if (found.kind === "reply") return found;
    if (found.name === name) return routeToCompleting(scope, client, found.server, call);
    const named = { ...call.params, ref: { ...(ref as JsonObject), name: found.name } };
    return routeToCompleting(scope, client, found.server, { ...call, params: named });
  }
  if (type === "ref/resource" && typeof uri === "string") {
    const server = (await ownersOf(scope, client, [uri], true)).get(uri);
    if (server === undefined) return reply(unknownReference(uri));
    // The server would also offer the names of forbidden items.
    return mayMeetDeny(server.resources, uri)
      ? noCompletionsOf(scope, client, server)
      : routeToCompleting(scope, client, server, call);
  }
  const refusal = malformed("ref", "a reference to a prompt or a resource");
  return routeNameless(scope, call, ["prompts", "resources"], refusal);
}

async function routeToCompleting(
  scope: RoutingScope,
  client: ClientKind,
  server: Server,
  call: Call,
): Promise<Routed> {
  return scope.endpoint.isMerged && (await lacksCompletions(scope, client, server))
    ? noCompletionsOf(scope, client, server)
    : { kind: "server", server, call };
}

/**
 * Servers of 2024-11-05 could not advertise completions, and servers of 2026-07-28 in the field do
 * not, so these are asked (`settled` is for those that have none).
 */
async function lacksCompletions(
  scope: RoutingScope,
  client: ClientKind,
  server: Server,
): Promise<boolean> {
  const { revision } = client;
  if (eraOf(revision) === "modern" || revision < "2025-03-26") return false;
  const { catalog } = await knownCatalog(scope, server, client);
  if (catalog === undefined) return false;
  const { completions } = catalog.about.capabilities;
  return completions === undefined;
}

function noCompletionsOf(
  { endpoint }: RoutingScope,
  { revision }: ClientKind,
  { slug }: Server,
): Routed {
  return reply(attributedAt(endpoint, slug, noCompletions(eraOf(revision))));
}

function notFound({ revision }: ClientKind, uri: string): Routed {
  return reply(resourceNotFound(eraOf(revision), uri));
}

function reply(answer: Reply): { readonly kind: "reply"; readonly reply: Reply } {
  return { kind: "reply", reply: answer };
}
