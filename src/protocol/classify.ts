/**
 * Distinguishes the eras on one URL: the body decides, the headers confirm. The function is pure: it
 * takes a parsed body and three headers, and returns a route or a rejection. The order of its checks
 * lets a probing client learn the supported revisions first.
 * (2026-07-28, versioning and Streamable HTTP; the order is the official SDK's.)
 */

import { type Envelope, Meta, metaOf, readEnvelope } from "./envelope.ts";
import { ErrorCode } from "./error-codes.ts";
import { decodeHeaderValue } from "./header-value.ts";
import {
  type ErrorObject,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type Parsed,
  parseMessage,
  readableId,
  type RequestId,
} from "./json-rpc.ts";
import { isServed } from "./methods.ts";
import { mirroredNameOf } from "./mirrored-name.ts";
import { misshapenMember } from "./request-shape.ts";
import { claimsModernEra, isModernRevision, MODERN_REVISIONS } from "./revisions.ts";

export interface MirroredHeaders {
  readonly protocolVersion: string | null;
  readonly method: string | null;
  readonly name: string | null;
}

interface Rejection {
  readonly kind: "rejected";
  readonly status: 400 | 404;
  readonly id?: RequestId;
  readonly error: ErrorObject;
}

export type Classified =
  | { readonly kind: "modern"; readonly message: JsonRpcRequest; readonly envelope: Envelope }
  | { readonly kind: "modern-notification"; readonly message: JsonRpcNotification }
  | { readonly kind: "legacy"; readonly messages: readonly Parsed[]; readonly isBatch: boolean }
  | Rejection;

function reject(
  status: 400 | 404,
  id: RequestId | undefined,
  code: number,
  message: string,
  data?: unknown,
): Rejection {
  const error = data === undefined ? { code, message } : { code, message, data };
  return id === undefined
    ? { kind: "rejected", status, error }
    : { kind: "rejected", status, id, error };
}

/** Classifies the parsed body of a POST. */
export function classify(body: unknown, headers: MirroredHeaders): Classified {
  if (Array.isArray(body)) return classifyBatch(body);

  const parsed = parseMessage(body);
  if (parsed === undefined) {
    return reject(
      400,
      readableId(body),
      ErrorCode.InvalidRequest,
      "The body is not a JSON-RPC 2.0 request, notification or response",
    );
  }
  switch (parsed.kind) {
    case "response":
      return legacy(parsed);
    case "notification":
      return classifyNotification(parsed.message, headers);
    case "request":
      return classifyRequest(parsed.message, headers);
  }
}

function legacy(parsed: Parsed): Classified {
  return { kind: "legacy", messages: [parsed], isBatch: false };
}

function classifyBatch(body: readonly unknown[]): Classified {
  const messages: Parsed[] = [];
  for (const element of body) {
    const parsed = parseMessage(element);
    if (parsed === undefined || claimsModern(parsed)) {
      return reject(
        400,
        undefined,
        ErrorCode.InvalidRequest,
        parsed === undefined
          ? "The batch has an element that is not a JSON-RPC 2.0 message"
          : "2026-07-28 has no batches: send one message for each POST",
      );
    }
    messages.push(parsed);
  }
  if (messages.length === 0) {
    return reject(400, undefined, ErrorCode.InvalidRequest, "The batch is empty");
  }
  return { kind: "legacy", messages, isBatch: true };
}

function claimsModern(parsed: Parsed): boolean {
  return parsed.kind !== "response" && readEnvelope(parsed.message.params).kind !== "none";
}

function isModernHeader(headers: MirroredHeaders): boolean {
  return headers.protocolVersion !== null && claimsModernEra(headers.protocolVersion);
}

/** A claim in the notification's own `_meta` wins; without one the version header decides. */
function classifyNotification(message: JsonRpcNotification, headers: MirroredHeaders): Classified {
  const reading = readEnvelope(message.params);
  if (reading.kind === "none") {
    return isModernHeader(headers)
      ? { kind: "modern-notification", message }
      : legacy({ kind: "notification", message });
  }
  const claimed = metaOf(message.params)[Meta.protocolVersion];
  if (headers.protocolVersion !== null && headers.protocolVersion !== claimed) {
    return reject(400, undefined, ErrorCode.HeaderMismatch, versionMismatch);
  }
  return { kind: "modern-notification", message };
}

const versionMismatch = `MCP-Protocol-Version differs from _meta["${Meta.protocolVersion}"]`;

function classifyRequest(message: JsonRpcRequest, headers: MirroredHeaders): Classified {
  const { id, method } = message;
  const reading = readEnvelope(message.params);

  // `initialize` selects the legacy era. With a valid modern envelope it is a method that the
  // modern era does not have.
  if (method === "initialize" && !isModernEnvelope(reading)) {
    return isModernHeader(headers)
      ? reject(
          400,
          id,
          ErrorCode.HeaderMismatch,
          `initialize belongs to revisions before 2026-07-28, but MCP-Protocol-Version is ${headers.protocolVersion}`,
        )
      : legacy({ kind: "request", message });
  }

  switch (reading.kind) {
    case "malformed":
      return reject(
        400,
        id,
        ErrorCode.InvalidParams,
        `Bad request envelope: ${reading.problems.join("; ")}`,
      );
    case "none":
      return isModernHeader(headers)
        ? reject(
            400,
            id,
            ErrorCode.InvalidParams,
            `Revision ${headers.protocolVersion} needs _meta["${Meta.protocolVersion}"] and _meta["${Meta.clientCapabilities}"]`,
          )
        : legacy({ kind: "request", message });
    case "valid":
      return checkModern(message, reading.envelope, headers);
  }
}

function isModernEnvelope(reading: ReturnType<typeof readEnvelope>): boolean {
  return reading.kind === "valid" && claimsModernEra(reading.envelope.protocolVersion);
}

function checkModern(
  message: JsonRpcRequest,
  envelope: Envelope,
  headers: MirroredHeaders,
): Classified {
  const { id, method } = message;
  const requested = envelope.protocolVersion;

  if (headers.protocolVersion !== null && headers.protocolVersion !== requested) {
    return reject(400, id, ErrorCode.HeaderMismatch, versionMismatch);
  }
  if (headers.method !== null && headers.method.trim() !== method) {
    return reject(
      400,
      id,
      ErrorCode.HeaderMismatch,
      `Mcp-Method differs from the method "${method}"`,
    );
  }
  if (!isModernRevision(requested)) {
    return reject(400, id, ErrorCode.UnsupportedProtocolVersion, "Unsupported protocol version", {
      supported: MODERN_REVISIONS,
      requested,
    });
  }
  // After the revision check: a later revision may have other shapes, and its client must learn
  // which revisions are served.
  const misshapen = misshapenMember(method, message.params);
  if (misshapen !== undefined) return reject(400, id, ErrorCode.InvalidParams, misshapen);
  if (headers.protocolVersion === null) {
    return reject(400, id, ErrorCode.HeaderMismatch, "MCP-Protocol-Version is missing");
  }
  if (headers.method === null) {
    return reject(400, id, ErrorCode.HeaderMismatch, "Mcp-Method is missing");
  }
  const nameProblem = checkName(message, headers.name);
  if (nameProblem !== undefined) return reject(400, id, ErrorCode.HeaderMismatch, nameProblem);

  if (!isServed(method, "modern")) {
    return reject(404, id, ErrorCode.MethodNotFound, `Method not found: ${method}`);
  }
  return { kind: "modern", message, envelope };
}

function checkName(message: JsonRpcRequest, header: string | null): string | undefined {
  const member = mirroredNameOf(message.method);
  if (member === undefined) return undefined;
  if (header === null) return `Mcp-Name is missing; it mirrors params.${member}`;
  const decoded = decodeHeaderValue(header);
  if (decoded === undefined) return "Mcp-Name is not valid base64 of UTF-8";
  return decoded === message.params?.[member]
    ? undefined
    : `Mcp-Name differs from params.${member}`;
}
