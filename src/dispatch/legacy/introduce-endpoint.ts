/** Introduces an endpoint to a legacy client: as its only server does, or as several servers in one. */

import { toLegacyClient } from "../../protocol/capabilities.ts";
import type { ClientFacts, Opening } from "../../sessions/dispatch.ts";
import { introduce } from "../../relay/introduce.ts";
import { clientKind } from "../../endpoint/client-kind.ts";
import { introduceEndpoint } from "../introduction/introduction.ts";
import { isIntroducedHere } from "../../endpoint/endpoint.ts";
import type { RequestScope } from "../../catalog/request-scope.ts";

export async function introduceTo(
  client: ClientFacts,
  requestScope: RequestScope,
): Promise<Opening> {
  const { endpoint, waitUntil } = requestScope;
  if (!isIntroducedHere(endpoint)) return introduce(endpoint.servers[0].target, client, waitUntil);
  const { revision } = client;
  const kind = clientKind(revision, client.capabilities);
  const { capabilities, serverInfo, instructions } = await introduceEndpoint(requestScope, kind);
  return {
    capabilities: toLegacyClient(capabilities, revision),
    serverInfo,
    ...(instructions === undefined ? {} : { instructions }),
  };
}
