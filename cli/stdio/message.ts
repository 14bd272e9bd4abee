/** One line of stdio: a message of JSON-RPC, or a batch of 2025-03-26. Its text is passed on as it is. */

import { tryJson } from "../../src/lib/try-json.ts";
import { isObject, type JsonObject } from "../../src/protocol/json-rpc.ts";
import { memberText, onOneLine, partsOf } from "./json-text.ts";

/** Methods that several files know. */
export const CANCELLED = "notifications/cancelled";
export const DISCOVER = "server/discover";
export const INITIALIZED = "notifications/initialized";
export const LISTEN = "subscriptions/listen";

export interface Request {
  readonly kind: "request";
  /** As JSON, with the digits of its sender. */
  readonly id: string;
  readonly method: string;
  readonly params: JsonObject;
}

export interface Notification {
  readonly kind: "notification";
  readonly method: string;
  readonly params: JsonObject;
}

export interface Response {
  readonly kind: "response";
  /** `undefined` for an error whose request could not be read. */
  readonly id: string | undefined;
  readonly result: JsonObject | undefined;
  /** The code of the error. */
  readonly code: unknown;
}

type Part = Request | Notification | Response;

export interface Message {
  readonly text: string;
  /** One, or the elements of a batch. */
  readonly parts: readonly Part[];
  readonly isBatch: boolean;
}

/** @returns `undefined` for text that is no message of JSON-RPC 2.0. */
export function readMessage(written: string): Message | undefined {
  const text = onOneLine(written.trim());
  const value = tryJson(text);
  const isBatch = Array.isArray(value);
  const parts: Part[] = [];
  const texts = isBatch ? partsOf(text) : [text];
  for (const [index, element] of (isBatch ? (value as unknown[]) : [value]).entries()) {
    const part = readPart(element, texts[index] ?? "");
    if (part === undefined) return undefined;
    parts.push(part);
  }
  return parts.length === 0 ? undefined : { text, parts, isBatch };
}

function readPart(value: unknown, text: string): Part | undefined {
  if (!isObject(value) || value["jsonrpc"] !== "2.0") return undefined;
  const { method, id } = value;
  const params = isObject(value["params"]) ? value["params"] : {};
  if (method === undefined) {
    const { result, error } = value;
    if (result === undefined && error === undefined) return undefined;
    return {
      kind: "response",
      id: idText(id, text),
      result: isObject(result) ? result : undefined,
      code: isObject(error) ? error["code"] : undefined,
    };
  }
  if (typeof method !== "string") return undefined;
  if (id === undefined) return { kind: "notification", method, params };
  const written = idText(id, text);
  return written === undefined ? undefined : { kind: "request", id: written, method, params };
}

/** The same for equal ids: strings in one spelling, numbers as they were written. */
function idText(id: unknown, text: string): string | undefined {
  if (typeof id === "string" || Number.isSafeInteger(id)) return JSON.stringify(id);
  return typeof id === "number" ? memberText(text, "id") : undefined;
}

/** The id that `params` of a notification names, as `idText` writes it. */
export function requestIdOf({ text, isBatch }: Message): string | undefined {
  if (isBatch) return undefined;
  const params = memberText(text, "params");
  const id = params?.startsWith("{") === true ? memberText(params, "requestId") : undefined;
  return id?.startsWith('"') === true ? JSON.stringify(JSON.parse(id)) : id;
}

/** The messages of a batch, each for itself. */
export function singlesOf(message: Message): readonly Message[] {
  if (!message.isBatch) return [message];
  return partsOf(message.text).flatMap((text) => readMessage(text) ?? []);
}

export function requestsOf({ parts }: Message): readonly Request[] {
  return parts.filter((part) => part.kind === "request");
}

/**
 * A request of the command's own, with an id that no host uses: its answer is no news to the host.
 *
 * @param params as JSON.
 */
export function requestText(method: string, params: string): string {
  return `{"jsonrpc":"2.0","id":"edgeway","method":"${method}","params":${params}}`;
}

/** @param params as JSON. */
export function notificationText(method: string, params: string): string {
  return `{"jsonrpc":"2.0","method":"${method}","params":${params}}`;
}

function responseText(id: string, outcome: "result" | "error", value: string): string {
  return `{"jsonrpc":"2.0","id":${id},"${outcome}":${value}}`;
}

/** The answer that says no more than that it was done. @param id as JSON. */
export function emptyResultText(id: string): string {
  return responseText(id, "result", "{}");
}

/** A cancellation of the command's own. @param id of the request, as JSON. */
export function cancellationText(id: string, reason: string): string {
  return notificationText(CANCELLED, `{"requestId":${id},"reason":"${reason}"}`);
}

/** An error answer of the command's own. @param id as JSON. */
export function errorText(id: string, code: number, message: string): string {
  return responseText(id, "error", JSON.stringify({ code, message }));
}

/** The error answer of a gateway that did not name the request. @param text of a response without an id. */
export function withId(text: string, id: string): string {
  return responseText(id, "error", memberText(text, "error") ?? "{}");
}
