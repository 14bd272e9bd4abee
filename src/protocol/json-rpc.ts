/**
 * JSON-RPC 2.0 as MCP uses it: the message shapes, and the one parser that turns
 * unknown JSON into them. Knows nothing of methods, revisions or transports.
 */

import type { ErrorData, Params, Result } from "./message-members.ts";

export type JsonObject = { readonly [key: string]: unknown };
export type RequestId = string | number;

export interface JsonRpcRequest {
  readonly jsonrpc: "2.0";
  readonly id: RequestId;
  readonly method: string;
  readonly params?: Params;
}

export interface JsonRpcNotification {
  readonly jsonrpc: "2.0";
  readonly method: string;
  readonly params?: Params;
}

export interface ErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

interface JsonRpcResult {
  readonly jsonrpc: "2.0";
  readonly id: RequestId;
  readonly result: Result;
}

/** An error may lack an id: it could not be read, and `null` is valid in no MCP schema. */
interface JsonRpcError {
  readonly jsonrpc: "2.0";
  readonly id?: RequestId;
  readonly error: ErrorObject;
}

export type JsonRpcResponse = JsonRpcResult | JsonRpcError;
export type JsonRpcMessage = JsonRpcRequest | JsonRpcNotification | JsonRpcResponse;

/**
 * A request's end without its envelope: ids belong to one hop and never cross it. `own` is of an
 * error that the gateway made itself (`ownError`), and goes no further than it. `refusedWith` is the HTTP status
 * that a modern client gets for a request that did not run: 400, when its modern server refused it at the
 * door with that; 429, when the server has more requests than it may be given.
 */
export type Reply =
  | { readonly result: Result }
  | { readonly error: ErrorObject; readonly own?: JsonObject; readonly refusedWith?: 400 | 429 };

/** A message tagged by its kind, so that callers switch instead of probing for members. */
export type Parsed =
  | { readonly kind: "request"; readonly message: JsonRpcRequest }
  | { readonly kind: "notification"; readonly message: JsonRpcNotification }
  | { readonly kind: "response"; readonly message: JsonRpcResponse };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isRequestId(value: unknown): value is RequestId {
  return typeof value === "string" || (typeof value === "number" && Number.isFinite(value));
}

/**
 * Parses one message.
 *
 * @returns the tagged message, or `undefined` when the value is not a JSON-RPC message.
 *   Unknown members are kept: every legacy schema is open.
 */
export function parseMessage(value: unknown): Parsed | undefined {
  if (!isObject(value)) return undefined;
  const { jsonrpc, id, method, params, result, error } = value;
  if (jsonrpc !== "2.0") return undefined;

  if (method !== undefined) {
    if (typeof method !== "string") return undefined;
    if (params !== undefined && !isObject(params)) return undefined;
    // `id` 0 and "" are legal, so only its absence makes a notification.
    if (id === undefined) {
      return { kind: "notification", message: value as unknown as JsonRpcNotification };
    }
    if (!isRequestId(id)) return undefined;
    return { kind: "request", message: value as unknown as JsonRpcRequest };
  }

  if (isObject(result) && error === undefined && isRequestId(id)) {
    return { kind: "response", message: value as unknown as JsonRpcResult };
  }
  if (isErrorObject(error) && result === undefined) {
    // Servers of the field send `id: null` when they could not read ours; take it as absent.
    if (id === null || id === undefined) {
      return { kind: "response", message: { jsonrpc, error } };
    }
    if (!isRequestId(id)) return undefined;
    return { kind: "response", message: value as unknown as JsonRpcError };
  }
  return undefined;
}

export function isErrorObject(value: unknown): value is ErrorObject {
  if (!isObject(value)) return false;
  const { code, message } = value;
  return typeof code === "number" && typeof message === "string";
}

/** @returns an empty object for an error without data, or with data that is no object. */
export function dataOf({ data }: ErrorObject): ErrorData {
  return isObject(data) ? data : {};
}

/** The id of something that may be a broken request: errors echo it whenever it can be read. */
export function readableId(value: unknown): RequestId | undefined {
  const { id } = isObject(value) ? value : {};
  return isRequestId(id) ? id : undefined;
}

export function requestsOf(messages: readonly Parsed[]): JsonRpcRequest[] {
  const requests: JsonRpcRequest[] = [];
  for (const { kind, message } of messages) if (kind === "request") requests.push(message);
  return requests;
}

/** Puts a reply back into the envelope of the hop that asked. */
export function respond(id: RequestId, reply: Reply): JsonRpcResponse {
  return "result" in reply
    ? { jsonrpc: "2.0", id, result: reply.result }
    : { jsonrpc: "2.0", id, error: reply.error };
}

/** Takes a response out of the envelope of the hop that answered. */
export function replyOf(response: JsonRpcResponse): Reply {
  return "result" in response ? { result: response.result } : { error: response.error };
}

export function errorReply(code: number, message: string, data?: unknown): { error: ErrorObject } {
  return { error: data === undefined ? { code, message } : { code, message, data } };
}

export function notification(method: string, params?: Params): JsonRpcNotification {
  return params === undefined ? { jsonrpc: "2.0", method } : { jsonrpc: "2.0", method, params };
}
