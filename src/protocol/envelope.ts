/**
 * The per-request envelope of 2026-07-28: the keys of `params._meta` in a self-contained request, and
 * those of results and notifications.
 */

import { isObject, isRequestId, type JsonObject, type RequestId } from "./json-rpc.ts";
import type { MetaObject, Params, Result } from "./message-members.ts";

export const Meta = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  logLevel: "io.modelcontextprotocol/logLevel",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
} as const;

export interface Envelope {
  readonly protocolVersion: string;
  readonly clientCapabilities: JsonObject;
  /** Display and logging only: it may drive neither behaviour nor security. */
  readonly clientInfo?: JsonObject;
}

export type EnvelopeReading =
  | { readonly kind: "none" }
  | { readonly kind: "valid"; readonly envelope: Envelope }
  | { readonly kind: "malformed"; readonly problems: readonly string[] };

export function metaOf(params: Params | undefined): MetaObject {
  const meta = params?._meta;
  return isObject(meta) ? meta : {};
}

/** The `serverInfo` of a discovery, which servers of the last drafts have in the body. */
export function serverInfoOf(discovery: Result): unknown {
  return metaOf(discovery)[Meta.serverInfo] ?? discovery.serverInfo;
}

/** The same params with `_meta` replaced; an empty `_meta` is left out. */
export function withMeta(params: Params | undefined, meta: JsonObject): Params {
  const { _meta: _, ...rest } = params ?? {};
  return Object.keys(meta).length === 0 ? rest : { ...rest, _meta: meta };
}

/**
 * Reads the modern claim of a request. The claim is the presence of the protocol version key,
 * whatever its type; only then is the rest judged (2026-07-28, lifecycle: required keys).
 */
export function readEnvelope(params: Params | undefined): EnvelopeReading {
  const meta = metaOf(params);
  if (!Object.hasOwn(meta, Meta.protocolVersion)) return { kind: "none" };

  const problems: string[] = [];
  const protocolVersion = meta[Meta.protocolVersion];
  const clientCapabilities = meta[Meta.clientCapabilities];
  const clientInfo = meta[Meta.clientInfo];
  if (typeof protocolVersion !== "string") {
    problems.push(`_meta["${Meta.protocolVersion}"] must be a string`);
  }
  if (!isObject(clientCapabilities)) {
    problems.push(
      clientCapabilities === undefined
        ? `_meta["${Meta.clientCapabilities}"] is missing`
        : `_meta["${Meta.clientCapabilities}"] must be an object`,
    );
  }
  if (clientInfo !== undefined && !isImplementation(clientInfo)) {
    problems.push(`_meta["${Meta.clientInfo}"] must have a string "name" and "version"`);
  }
  if (typeof protocolVersion !== "string" || !isObject(clientCapabilities) || problems.length > 0) {
    return { kind: "malformed", problems };
  }
  const envelope = { protocolVersion, clientCapabilities };
  return {
    kind: "valid",
    envelope: isObject(clientInfo) ? { ...envelope, clientInfo } : envelope,
  };
}

/** True for a description of a client or a server that has what the schema requires. */
export function isImplementation(value: unknown): value is JsonObject {
  if (!isObject(value)) return false;
  const { name, version } = value;
  return typeof name === "string" && typeof version === "string";
}

/**
 * Replaces the sender's progress token, which belongs to one hop, with that of the next hop, if the sender has requested progress.
 *
 * @returns the params for the next hop, and the sender's token, with its JSON type.
 */
export function replaceProgressToken(
  params: Params | undefined,
  token: RequestId,
): { readonly params: Params | undefined; readonly original: RequestId | undefined } {
  const meta = metaOf(params);
  const original = meta.progressToken;
  if (!isRequestId(original)) return { params, original: undefined };
  return { params: withMeta(params, { ...meta, progressToken: token }), original };
}

const SHORT: ReadonlySet<string> = new Set(["name", "version", "title"]);

/** The members of an implementation that people read: icons may be whole images. */
export function shortInfo(info: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(info).filter(([name]) => SHORT.has(name)));
}
