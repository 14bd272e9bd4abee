/**
 * JSON-RPC 2.0 as MCP uses it: the message shapes, and the one parser that turns
 * unknown JSON into them. Knows nothing of methods, revisions or transports.
 */

import { normalForm } from "../lib/decimal.ts";
import {
  isJsonInteger,
  isJsonNumber,
  type JsonNumber,
  nearest,
  textOfNumber,
} from "../lib/lossless-json.ts";
import type { ErrorData, Params, Result } from "./message-members.ts";

export type JsonObject = { readonly [key: string]: unknown };
/** A string or an integer of any size (all revisions). Any other number of a sender is returned to it as it is. */
export type RequestId = string | JsonNumber;

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
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value)
  );
}

export function isRequestId(value: unknown): value is RequestId {
  return typeof value === "string" || Number.isFinite(value) || JSON.isRawJSON(value);
}

/** A key for maps: the same for equal ids, as `1` and `1.0`, and never for a string and a number. */
export function idKey(id: RequestId): string {
  if (typeof id === "string") return `"${id}`;
  const text = textOfNumber(id);
  return normalForm(text) ?? text;
}

/** The characters of an id or a progress token; 0 for any other value. */
export function lengthOfId(value: unknown): number {
  if (typeof value === "string") return value.length;
  return isJsonNumber(value) ? textOfNumber(value).length : 0;
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
  const failure = result === undefined ? readError(error) : undefined;
  if (failure === undefined) return undefined;
  // Servers of the field send `id: null` when they could not read ours; take it as absent.
  if (id === null || id === undefined) {
    return { kind: "response", message: { jsonrpc, error: failure } };
  }
  if (!isRequestId(id)) return undefined;
  return { kind: "response", message: { ...value, jsonrpc, id, error: failure } };
}

/**
 * Parses a message or a batch.
 *
 * @returns `undefined` for anything else, and for an empty batch.
 */
export function parseMessages(value: unknown): readonly Parsed[] | undefined {
  const messages: Parsed[] = [];
  for (const element of Array.isArray(value) ? (value as unknown[]) : [value]) {
    const parsed = parseMessage(element);
    if (parsed === undefined) return undefined;
    messages.push(parsed);
  }
  return messages.length === 0 ? undefined : messages;
}

/**
 * Reads an error object. The gateway judges errors by their codes, so a code becomes a JavaScript number:
 * `-32601.0` is `-32601`.
 *
 * @returns `undefined` also for a code that is no integer of this size (all revisions).
 */
export function readError(value: unknown): ErrorObject | undefined {
  if (!isObject(value)) return undefined;
  const { code, message } = value;
  if (!isJsonNumber(code) || typeof message !== "string") return undefined;
  if (typeof code === "number") return value as unknown as ErrorObject;
  if (!isJsonInteger(code) || !Number.isSafeInteger(nearest(code))) return undefined;
  return { ...value, code: nearest(code), message };
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

/** An error response; it has no id where none could be read, because no MCP schema allows `null`. */
export function errorResponse(error: ErrorObject, id: RequestId | undefined): JsonRpcResponse {
  return id === undefined ? { jsonrpc: "2.0", error } : { jsonrpc: "2.0", id, error };
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
