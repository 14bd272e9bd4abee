/** What becomes of a request. */

import { isOpen } from "../../policy/item-policy.ts";
import type { Call } from "../../protocol/exchange.ts";
import type { Reply } from "../../protocol/json-rpc.ts";
import type { ListKind } from "../catalog.ts";
import type { Server } from "../../endpoint/server.ts";
import type { RequestScope } from "../request-scope.ts";

export type Routed =
  /** In the server's own names. */
  | { readonly kind: "server"; readonly server: Server; readonly call: Call }
  /** Merged by `listPage`; where there is one server, its own page, through `filterPage`. */
  | { readonly kind: "list"; readonly list: ListKind }
  /** A resource that nobody lists: these may have it, in this order, and the first that does answers. */
  | { readonly kind: "search"; readonly servers: readonly Server[]; readonly call: Call }
  /** What is said to all servers: `logging/setLevel`, and notifications. */
  | { readonly kind: "all" }
  /** It is nobody's. */
  | { readonly kind: "reply"; readonly reply: Reply };

/** Where a request is to be routed. */
export type RoutingScope = Pick<RequestScope, "endpoint" | "feeds" | "limits" | "waitUntil">;

/** By what the things of a server are judged. */
export type PolicyKind = "tools" | "prompts" | "resources";

/**
 * A request without the name that the policy would judge. A server alone judges it itself, unless
 * some of what it has is forbidden: it might read a name out of anything.
 *
 * @param refusal what is wrong with it.
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
