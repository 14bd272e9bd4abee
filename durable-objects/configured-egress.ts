/** The egress of URLs that strangers give: requests are counted, and the gateway's own host is refused. */

import type { Config } from "../src/config/config.ts";
import type { EgressPolicy, LoadOptions } from "../src/lib/egress.ts";
import { count } from "../src/observability/costs.ts";

export function egressOf({ publicOrigin }: Config): {
  readonly fetch: LoadOptions["fetch"];
  readonly policy: EgressPolicy;
} {
  const ownHosts = new Set(publicOrigin === undefined ? [] : [new URL(publicOrigin).hostname]);
  return { fetch: overNetwork, policy: { ownHosts } };
}

function overNetwork(url: URL, init: RequestInit): Promise<Response> {
  count("outgoingRequests");
  return fetch(url, init);
}
