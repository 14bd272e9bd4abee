/** Introduces an endpoint to a legacy client: as its only server does, or as several servers in one. */

import { toLegacyClient } from "../../protocol/capabilities.ts";
import type { ClientFacts, Opening } from "../../sessions/dispatch.ts";
import type { UpstreamTarget } from "../../upstream/target.ts";
import { clientKind } from "../../endpoint/client-kind.ts";
import { introduceEndpoint } from "../introduction/introduction.ts";
import type { RequestScope } from "../../catalog/request-scope.ts";

/** Gets the introduction of one server. */
export type IntroduceServer = (
  target: UpstreamTarget,
  client: ClientFacts,
  afterwards: (work: Promise<void>) => void,
) => Promise<Opening>;

export async function introduceTo(
  client: ClientFacts,
  requestScope: RequestScope,
  introduceServer: IntroduceServer,
): Promise<Opening> {
  const { endpoint, waitUntil } = requestScope;
  if (!endpoint.isMerged) return introduceServer(endpoint.servers[0].target, client, waitUntil);
  const { revision } = client;
  const kind = clientKind(revision, client.capabilities);
  const { capabilities, serverInfo, instructions } = await introduceEndpoint(requestScope, kind);
  return {
    capabilities: toLegacyClient(capabilities, revision),
    serverInfo,
    ...(instructions === undefined ? {} : { instructions }),
  };
}
