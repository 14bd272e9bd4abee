/**
 * The front door of the console: what a page wants of the servers goes the way of every modern client's
 * request. A page has no rights of its own; it is one more application of the person who looks at it.
 */

import { labelOf } from "../accounts/settings.ts";
import { type Catalog, type Item, LIST_KINDS, type ListKind, SLOW } from "../catalog/catalog.ts";
import { currentCatalog, type Known } from "../catalog/cache/catalogs.ts";
import { policyOf, publicIndex } from "../catalog/cache/lookups.ts";
import { namingOf } from "../catalog/names/naming.ts";
import { toolFactsOf } from "../catalog/cache/tool-facts.ts";
import { dispatchModern } from "../dispatch/modern/dispatch-modern.ts";
import { GATEWAY_CLIENT } from "../endpoint/client-kind.ts";
import { type Configured, type Endpoint, pickEndpoint, type Picked } from "../endpoint/endpoint.ts";
import { endpointFor, type PersonalScope } from "../endpoint/personal-endpoint.ts";
import { type Publishing, withPublished } from "../endpoint/published-endpoint.ts";
import type { Server } from "../endpoint/server.ts";
import type { Console, ConsoleRun, ConsoleServer } from "../pages/console/console.ts";
import { settleWithin } from "../lib/time-out.ts";
import { isAllowed, isOpen } from "../policy/item-policy.ts";
import { Meta, withMeta } from "../protocol/envelope.ts";
import { ErrorCode } from "../protocol/error-codes.ts";
import { startSpan } from "../protocol/call-span.ts";
import type { Call, Peer } from "../protocol/exchange.ts";
import { type ErrorObject, errorReply, isObject, type Reply } from "../protocol/json-rpc.ts";
import { paramHeaders } from "../protocol/param-headers.ts";
import { slugOfPublished } from "../protocol/publishing.ts";
import { LATEST_MODERN } from "../protocol/revisions.ts";
import type { ReceivedRequest } from "../relay/modern-context.ts";
import type { FrontDoorContext } from "./front-door.ts";
import { limitRate } from "./rate-limit.ts";
import { inStreamPlace } from "./stream-places.ts";
import { version } from "../../package.json";

export interface ConsoleScope extends Pick<
  FrontDoorContext,
  "feeds" | "fanOut" | "bridges" | "keys" | "limits" | "sinks" | "tracer" | "waitUntil"
> {
  readonly configured: Configured;
  /** The browser's. */
  readonly request: Request;
  readonly personal: PersonalScope;
  /** Of the gateway. */
  readonly origin: string;
  readonly person: string;
  /** What the person publishes, if anything. */
  readonly own: Publishing | undefined;
}

/** The application's name, where servers, sessions and the log have the id of another client. */
const APPLICATION = "console";
const { capabilities: CAPABILITIES } = GATEWAY_CLIENT;
const CLIENT_INFO = { name: APPLICATION, version };

export function consoleOf(scope: ConsoleScope): Console {
  return {
    slugs: [...scope.configured.servers.keys(), ...(scope.own?.names ?? []).map(slugOfPublished)],
    async server(slug, isOneOfMany) {
      const endpoint = endpointAt(scope, slug);
      if (endpoint === undefined) return undefined;
      const [server] = endpoint.servers;
      const asking = currentCatalog(scope, server, GATEWAY_CLIENT);
      if (isOneOfMany === undefined) return consoleServer(scope, await asking);
      // The answer is for the next page, if it is too late for this one.
      scope.waitUntil(asking);
      const known = await settleWithin(asking, scope.limits.catalogWaitMilliseconds / 3);
      const trouble = { reason: SLOW, message: "", since: 0 };
      return consoleServer(scope, known ?? { server, catalog: undefined, trouble, freshMs: 0 });
    },
    call: (slug, call, run) => sendCall(scope, slug, call, run),
  };
}

/** The checks of every client's request, in their order (`src/app.ts`), and then its way. */
async function sendCall(
  scope: ConsoleScope,
  slug: string,
  call: Call,
  { onNotice, signal }: ConsoleRun,
): Promise<Reply> {
  const { request, person, limits } = scope;
  const endpoint = endpointAt(scope, slug);
  if (endpoint === undefined) return errorReply(ErrorCode.InvalidParams, "There is no such server");
  const principal = `${person}.${APPLICATION}`;
  const sender = { person, principal, application: APPLICATION };
  const refusal = limitRate(request, sender, limits, scope);
  if (refusal !== undefined) return refusedWith(refusal);
  const route = `/mcp/${slug}`;
  const context = { ...scope, endpoint, route, principal, application: APPLICATION };
  const span = startSpan({
    ...sender,
    params: call.params,
    trace: undefined,
    tracer: scope.tracer?.(),
    era: "modern",
    clientInfo: CLIENT_INFO,
  });
  const peer: Peer = {
    span,
    notify: onNotice,
    // 2026-07-28 has no server requests: questions come in results.
    ask: () =>
      Promise.resolve(errorReply(ErrorCode.MethodNotFound, "The console takes no requests")),
  };
  let reply: Reply | undefined;
  const response = await inStreamPlace(request, person, limits, async () => {
    const inbound = await inboundOf(scope, endpoint, call);
    reply = await dispatchModern(context, inbound, peer, signal);
    return new Response();
  });
  return reply ?? refusedWith(response);
}

/** The request as a client would have sent it, with the arguments that its tool wants in headers. */
async function inboundOf(
  scope: ConsoleScope,
  { servers: [server] }: Endpoint,
  { method, params = {} }: Call,
): Promise<ReceivedRequest> {
  const meta = {
    [Meta.protocolVersion]: LATEST_MODERN,
    [Meta.clientCapabilities]: CAPABILITIES,
    [Meta.clientInfo]: CLIENT_INFO,
    progressToken: 1,
  };
  const { name, arguments: args } = params;
  const facts = await toolFactsOf(scope, server, GATEWAY_CLIENT)(String(name), false);
  const mirrored = paramHeaders(facts?.bindings ?? [], isObject(args) ? args : undefined);
  return {
    message: { jsonrpc: "2.0", id: 1, method, params: withMeta(params, meta) },
    envelope: {
      protocolVersion: LATEST_MODERN,
      clientCapabilities: CAPABILITIES,
      clientInfo: CLIENT_INFO,
    },
    headers: new Headers(mirrored),
  };
}

/** @param refusal of a front door's: a JSON-RPC error. */
async function refusedWith(refusal: Response): Promise<Reply> {
  const { error } = await refusal.json<{ readonly error: ErrorObject }>();
  return { error };
}

/** @returns `/mcp/<slug>` as this person has it. */
function endpointAt(scope: ConsoleScope, slug: string): Endpoint | undefined {
  const { personal, person, origin } = scope;
  const picked = endpointOf(scope, slug);
  if (picked.kind !== "endpoint") return undefined;
  const caller = { person, application: APPLICATION, origin };
  return endpointFor(picked.endpoint, caller, personal);
}

function endpointOf(scope: ConsoleScope, slug: string | undefined): Picked {
  const picked = pickEndpoint(scope.configured, slug);
  return scope.own === undefined ? picked : withPublished(picked, slug, scope.own);
}

function consoleServer(scope: ConsoleScope, known: Known): ConsoleServer {
  const { server, catalog, trouble } = known;
  const state = stateOf(known);
  const lists = LIST_KINDS.map((list) => [list, visible(known, list)] as const);
  const faults = catalog?.faults ?? [];
  return {
    slug: server.slug,
    label: labelOf(server),
    info: catalog?.about.serverInfo,
    instructions: known.isUnconnected === true ? undefined : catalog?.about.instructions,
    lists: Object.fromEntries(lists) as Record<ListKind, readonly Item[]>,
    notes: [
      ...(trouble === undefined || state === "asked" ? [] : [trouble.message]),
      ...faults.map(({ message }) => message),
      ...(catalog?.flaws ?? []),
    ],
    state,
    isOwn: server.target.publisher !== undefined,
    publicName: (tool) => catalog && publicNameOf(scope, server, catalog, tool),
  };
}

function stateOf({ catalog, trouble, isUnconnected }: Known): ConsoleServer["state"] {
  if (isUnconnected === true) return "unconnected";
  if (catalog === undefined) return trouble?.reason === SLOW ? "asked" : "down";
  return trouble !== undefined || catalog.faults.length > 0 ? "failing" : "well";
}

function visible({ server, catalog, isUnconnected }: Known, list: ListKind): readonly Item[] {
  // The tool by which clients connect an account is no tool of the server's.
  if (catalog === undefined || isUnconnected === true) return [];
  const policy = policyOf(server, list);
  const items = catalog.lists[list];
  return isOpen(policy) ? items : items.filter(({ name }) => isAllowed(policy, name));
}

function publicNameOf(
  scope: ConsoleScope,
  server: Server,
  catalog: Catalog,
  tool: string,
): string | undefined {
  const whole = endpointOf(scope, undefined);
  if (whole.kind !== "endpoint") return undefined;
  const naming = namingOf(whole.endpoint, scope.limits.nameChars);
  return publicIndex(naming, server, "tools", catalog).toPublic.get(tool);
}
