/** `initialize` towards a legacy server: the request, and the judgement of its response. */

import { isModernErrorCode } from "../../protocol/error-codes.ts";
import { dataOf, type ErrorObject, isObject, type JsonObject } from "../../protocol/json-rpc.ts";
import {
  isLegacyRevision,
  isModernRevision,
  type LegacyRevision,
} from "../../protocol/revisions.ts";

/** The client of the handshake, which fixes its capabilities for the whole session. */
export interface LegacyClient {
  readonly revision: LegacyRevision;
  readonly capabilities: JsonObject;
  readonly clientInfo: JsonObject;
}

export interface Handshake {
  readonly revision: LegacyRevision;
  readonly capabilities: JsonObject;
  readonly serverInfo: JsonObject;
  readonly instructions?: string;
}

/** @returns `undefined` for a result that is not an InitializeResult of a legacy revision. */
export function parseHandshake(result: JsonObject): Handshake | undefined {
  const { protocolVersion, capabilities, serverInfo, instructions } = result;
  if (!isLegacyRevision(protocolVersion) || !isObject(serverInfo)) return undefined;
  return {
    revision: protocolVersion,
    capabilities: isObject(capabilities) ? capabilities : {},
    serverInfo,
    ...(typeof instructions === "string" ? { instructions } : {}),
  };
}

/**
 * True when an error response to `initialize` shows a server without the legacy era: it names
 * supported revisions, none of them legacy (2026-07-28, versioning), or has a code of the modern era.
 */
export function showsModernOnly(error: ErrorObject): boolean {
  const { supported: listed } = dataOf(error);
  const supported: readonly unknown[] = Array.isArray(listed) ? listed : [];
  if (supported.some(isLegacyRevision)) return false;
  return isModernErrorCode(error.code) || supported.some(isModernRevision);
}
