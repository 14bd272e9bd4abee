/** The fixtures of the tests of `classify`: requests and headers that agree, unless a test changes them. */

import type { MirroredHeaders } from "../../../src/protocol/classify.ts";

export const NO_HEADERS: MirroredHeaders = { protocolVersion: null, method: null, name: null };
export const VERSION = "io.modelcontextprotocol/protocolVersion";
export const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
export const CLIENT_INFO = "io.modelcontextprotocol/clientInfo";
export const MODERN = "2026-07-28";

export function meta(version: unknown = MODERN): Record<string, unknown> {
  return { [VERSION]: version, [CAPABILITIES]: {} };
}

/** A request with a whole envelope, unless `params` overrides it. */
export function request(method: string, params: object = {}, id: unknown = 7): object {
  return { jsonrpc: "2.0", id, method, params: { _meta: meta(), ...params } };
}

export function mirrored(method: string, name: string | null = null): MirroredHeaders {
  return { protocolVersion: MODERN, method, name };
}
