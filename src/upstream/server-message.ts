/**
 * The one place where a server's JSON becomes a message. The members that the gateway itself sets are
 * removed, and the texts that people are shown are cleaned, so that no later code has to do it.
 */

import { isLoopback } from "../lib/loopback.ts";
import { ErrorCode } from "../protocol/error-codes.ts";
import type { Call } from "../protocol/exchange.ts";
import { withoutGatewayData, withoutGatewayMeta } from "../protocol/gateway-members.ts";
import {
  dataOf,
  type ErrorObject,
  isObject,
  type JsonObject,
  type JsonRpcResponse,
  type Parsed,
  parseMessage,
} from "../protocol/json-rpc.ts";
import { hasForbiddenUrl, showElicitation } from "../protocol/shown-questions.ts";
import { mapMember } from "../protocol/revisions/map-member.ts";
import type { UpstreamTarget } from "./target.ts";

type Server = Pick<UpstreamTarget, "slug" | "endpoint">;

const ELICITATION = "elicitation/create";

/** @returns `undefined` for a value that is not a JSON-RPC message. */
export function parseServerMessage(server: Server, value: unknown): Parsed | undefined {
  const parsed = parseMessage(value);
  switch (parsed?.kind) {
    case "request":
      return { kind: "request", message: readCall(parsed.message) };
    case "notification":
      return { kind: "notification", message: readCall(parsed.message) };
    case "response":
      return { kind: "response", message: readResponse(server, parsed.message) };
    case undefined:
      return undefined;
  }
}

/** @returns the error for a server request that no client is asked; `undefined` for one that may be. */
export function refusalOf(server: Server, { method, params = {} }: Call): ErrorObject | undefined {
  const isBad = method === ELICITATION && hasForbiddenUrl(params, isLocal(server));
  return isBad ? { code: ErrorCode.InvalidParams, message: notAsked(server) } : undefined;
}

function readCall<T extends Call>(message: T): T {
  const { method, params } = message;
  if (params === undefined) return message;
  const own = withoutGatewayMeta(params);
  return { ...message, params: method === ELICITATION ? showElicitation(own) : own };
}

/** A result or an error with an elicitation of a forbidden URL is replaced by an error. */
function readResponse(server: Server, response: JsonRpcResponse): JsonRpcResponse {
  const elicitations =
    "result" in response ? elicitationsIn(response.result) : requiredElicitations(response.error);
  if (elicitations.some((params) => hasForbiddenUrl(params, isLocal(server)))) {
    const { jsonrpc, id } = response;
    const data = { upstream: server.slug, reason: "malformed" };
    const error = { code: ErrorCode.InternalError, message: notAsked(server), data };
    return id === undefined ? { jsonrpc, error } : { jsonrpc, id, error };
  }
  return "result" in response
    ? { ...response, result: readResult(response.result) }
    : { ...response, error: readError(response.error) };
}

function readResult(result: JsonObject): JsonObject {
  const own = withoutGatewayMeta(result);
  const { inputRequests } = own;
  if (!isObject(inputRequests)) return own;
  const read = Object.entries(inputRequests).map(([key, request]) => {
    const params = elicitationIn(request);
    if (params === undefined || !isObject(request)) return [key, request];
    return [key, { ...request, params: showElicitation(params) }];
  });
  return { ...own, inputRequests: Object.fromEntries(read) };
}

function readError(error: ErrorObject): ErrorObject {
  const own = withoutGatewayData(error);
  return isObject(own.data)
    ? { ...own, data: mapMember(own.data, "elicitations", showElicitation) }
    : own;
}

/** The elicitations among the input requests of a result (2026-07-28, multi round-trip requests). */
function elicitationsIn({ inputRequests }: JsonObject): readonly JsonObject[] {
  if (!isObject(inputRequests)) return [];
  return Object.values(inputRequests)
    .map(elicitationIn)
    .filter((params) => params !== undefined);
}

/** @returns the params of an input request that is an elicitation. */
function elicitationIn(request: unknown): JsonObject | undefined {
  if (!isObject(request)) return undefined;
  const { method, params } = request;
  return method === ELICITATION && isObject(params) ? params : undefined;
}

/** The URL elicitations that the request needs first (2025-11-25, elicitation, -32042). */
function requiredElicitations(error: ErrorObject): readonly JsonObject[] {
  const { elicitations } = dataOf(error);
  return Array.isArray(elicitations) ? elicitations.filter(isObject) : [];
}

function isLocal({ endpoint }: Server): boolean {
  return isLoopback(endpoint.hostname);
}

function notAsked({ slug }: Server): string {
  return `Upstream "${slug}" asks for a visit to a URL that is not https:, so nobody is asked; have it name an https: URL`;
}
