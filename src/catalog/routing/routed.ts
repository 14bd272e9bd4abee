/** The outcomes of routing a request. */

import { isOpen } from "../../policy/item-policy.ts";
import type { Call } from "../../protocol/exchange.ts";
import type { Reply } from "../../protocol/json-rpc.ts";
import type { ListKind } from "../catalog.ts";
import type { Server } from "../../endpoint/server.ts";
import type { RequestScope } from "../request-scope.ts";

export type Routed =
  /** The call has the server's own names. */
  | { readonly kind: "server"; readonly server: Server; readonly call: Call }
  /** Merged by `listPage`; where there is one server, its own page, through `filterPage`. */
  | { readonly kind: "list"; readonly list: ListKind }
  /** A resource that no server lists: these may have it, and the first one that does answers. */
  | { readonly kind: "search"; readonly servers: readonly Server[]; readonly call: Call }
  /** Messages to all servers: `logging/setLevel`, and notifications. */
  | { readonly kind: "all" }
  /** No server gets the request. */
  | { readonly kind: "reply"; readonly reply: Reply };

/** The context in which a request is routed. */
export type RoutingScope = Pick<RequestScope, "endpoint" | "feeds" | "limits" | "waitUntil">;

/** The policies of a server. */
export type PolicyKind = "tools" | "prompts" | "resources";

/**
 * Routes a request without the name that the policy would judge. An only server judges it itself,
 * unless some of its items are forbidden: it might derive a name from any value.
 *
 * @param refusal the answer if the request is not passed on.
 */
export function routeNameless(
  { endpoint }: Pick<RequestScope, "endpoint">,
  call: Call,
  judged: readonly PolicyKind[],
  refusal: Reply,
): Routed {
  const [only] = endpoint.servers;
  const isPassed = !endpoint.isMerged && judged.every((list) => isOpen(only[list]));
  return isPassed ? { kind: "server", server: only, call } : { kind: "reply", reply: refusal };
}
