/**
 * Prepares to read a server's lists for one kind of client: in the client's era if the server has
 * it, else in the other era, as a client with the same capabilities.
 */

import {
  legacyClientToModernServer,
  modernClientToLegacyServer,
} from "../../protocol/revisions/translate-capabilities.ts";
import { isLegacyRevision, LATEST_LEGACY } from "../../protocol/revisions.ts";
import type { JsonObject } from "../../protocol/json-rpc.ts";
import type { LegacyClient } from "../../upstream/legacy/handshake.ts";
import { discover, forgetVerdict } from "../../upstream/modern/discover.ts";
import type { UpstreamTarget } from "../../upstream/target.ts";
import { isOtherEra } from "../../upstream/upstream-error.ts";
import { CLIENT_INFO } from "../../protocol/gateway-info.ts";
import { askLegacy } from "./ask-legacy.ts";
import { askModern } from "./ask-modern.ts";
import type { ClientKind } from "../../endpoint/client-kind.ts";
import type { ListSource } from "./list-source.ts";

/** @throws UpstreamError when the server is unavailable; the reason of the signal. */
export async function askServer(
  target: UpstreamTarget,
  { revision, capabilities }: ClientKind,
  signal: AbortSignal,
): Promise<ListSource> {
  if (!isLegacyRevision(revision)) {
    const { era } = await discover(target);
    if (era !== "legacy") return askModern(target, capabilities, signal);
    const declared = modernClientToLegacyServer(capabilities);
    const client = { revision: LATEST_LEGACY, capabilities: declared, clientInfo: CLIENT_INFO };
    return askEither(target, client, capabilities, signal);
  }
  const client = { revision, capabilities, clientInfo: CLIENT_INFO };
  return askEither(target, client, legacyClientToModernServer(client), signal);
}

/** @param declared the client's capabilities for a server that turns out to be modern. */
async function askEither(
  target: UpstreamTarget,
  client: LegacyClient,
  declared: JsonObject,
  signal: AbortSignal,
): Promise<ListSource> {
  try {
    return await askLegacy(target, client, signal);
  } catch (error) {
    if (!isOtherEra(error)) throw error;
    // The known era may be an hour old.
    if ((await discover(target)).era === "legacy") forgetVerdict(target);
    return askModern(target, declared, signal);
  }
}
