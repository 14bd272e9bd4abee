/**
 * Turns a modern request into a command for the holder of a legacy session: a call, or the answers to
 * the questions of one. An invalid request is refused here and does not reach the holder.
 */

import { jsonBytes } from "../../lib/json-bytes.ts";
import { Meta, metaOf, shortInfo } from "../../protocol/envelope.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import {
  errorReply,
  isObject,
  isRequestId,
  type JsonObject,
  type JsonRpcRequest,
  lengthOfId,
  type Reply,
} from "../../protocol/json-rpc.ts";
import type { Params } from "../../protocol/message-members.ts";
import { isServed, mayHaveRounds } from "../../protocol/methods.ts";
import { toLegacyRequest } from "../../protocol/revisions/requests.ts";
import type { TraceContext } from "../../protocol/trace-context.ts";
import { isAnswerTo } from "./answer-shape.ts";
import type { CallCommand, BridgeCommand } from "./bridge.ts";

import { pageKey } from "./finish.ts";
import { isLogLevel, LOG_LEVEL_NAMES, type LogLevel } from "../../protocol/log-levels.ts";
import { digestOf, readBridgeState } from "./bridge-state.ts";

export type CommandReading =
  | { readonly kind: "command"; readonly command: BridgeCommand }
  | { readonly kind: "refused"; readonly reply: Reply };

interface CheckedRequest {
  readonly message: JsonRpcRequest;
  readonly clientInfo: JsonObject | undefined;
  readonly digest: string;
  readonly logLevel?: LogLevel;
  readonly trace: TraceContext | undefined;
}

/** The token is stored with each resume token of a call; sessions have the same limit. */
const MAX_TOKEN_CHARS = 1024;
/** Of the `clientInfo`, which the holder of the session stores. */
const MAX_INFO_BYTES = 2048;

/** @param declared the client's `clientInfo`. */
export async function makeCommand(
  message: JsonRpcRequest,
  declared: JsonObject | undefined,
  trace?: TraceContext,
): Promise<CommandReading> {
  const { method, params = {} } = message;
  const isKnown = method === "server/discover" || isServed(method, "legacy");
  if (!isKnown || !isServed(method, "modern")) {
    return refuse(ErrorCode.MethodNotFound, "Method not found");
  }
  const { progressToken, [Meta.logLevel]: logLevel } = metaOf(params);
  if (lengthOfId(progressToken) > MAX_TOKEN_CHARS) {
    const sentence = `_meta.progressToken has more than ${MAX_TOKEN_CHARS} characters`;
    return refuse(ErrorCode.InvalidParams, sentence);
  }
  const clientInfo = boundInfo(declared);
  if (typeof clientInfo === "string") return refuse(ErrorCode.InvalidParams, clientInfo);
  if (logLevel !== undefined && !isLogLevel(logLevel)) {
    const sentence = `_meta["${Meta.logLevel}"] must be one of ${LOG_LEVEL_NAMES}`;
    return refuse(ErrorCode.InvalidParams, sentence);
  }
  const level = logLevel === undefined ? {} : { logLevel };
  const request = { message, clientInfo, digest: await digestOf(message), trace, ...level };
  return mayHaveRounds(method)
    ? ofRound(request, params)
    : { kind: "command", command: callCommand(request) };
}

/** A request of a method that has rounds is a call or the answers to a round, by its requestState. */
function ofRound(request: CheckedRequest, params: Params): CommandReading {
  const { digest, logLevel, message } = request;
  const { requestState, inputResponses = {} } = params;
  if (!isObject(inputResponses)) {
    return refuse(ErrorCode.InvalidParams, "inputResponses must be an object");
  }
  // A retry has the requestState that was given with the questions (MUST). A request without one is a
  // first request: its answers fit no question, and the server asks again (SEP-2322: SHOULD).
  if (requestState === undefined) return { kind: "command", command: callCommand(request) };
  const state = readBridgeState(requestState);
  if (state === undefined) {
    return refuse(
      ErrorCode.InvalidParams,
      "requestState is none of this server's; call without it",
    );
  }
  if (state.digest !== digest) {
    const sentence = "requestState was given for a request with other params; call without it";
    return refuse(ErrorCode.InvalidParams, sentence);
  }
  if (state.kind === "again") {
    return ofVisits(request, state.pages, inputResponses);
  }
  const { object, exchange, round } = state;
  const { uri } = params;
  return {
    kind: "command",
    command: {
      kind: "answer",
      object,
      exchange,
      round,
      responses: inputResponses,
      digest,
      method: message.method,
      ...declarationsOf(params, logLevel),
      ...(uri === undefined ? {} : { uri }),
    },
  };
}

/** A repeated call, once its pages were visited. A page without an answer is left to the server. */
function ofVisits(
  request: CheckedRequest,
  pages: number,
  inputResponses: JsonObject,
): CommandReading {
  const keys = Array.from({ length: pages }, (_, index) => pageKey(index));
  for (const key of keys) {
    const response = inputResponses[key];
    if (response === undefined) continue;
    if (!isAnswerTo("elicitation/create", response)) {
      const sentence = `inputResponses.${key} is no answer to elicitation/create`;
      return refuse(ErrorCode.InvalidParams, sentence);
    }
    // The page was declined or dismissed: the server would only ask for it again.
    if (response.action !== "accept") {
      const sentence = "The server needs a page to be visited first, which was declined";
      return refuse(ErrorCode.InternalError, sentence);
    }
  }
  return { kind: "command", command: callCommand(request) };
}

function callCommand({
  message,
  clientInfo,
  digest,
  logLevel,
  trace,
}: CheckedRequest): CallCommand {
  const { method, params } = toLegacyRequest(message);
  // A modern client cannot request tasks of 2025-11-25.
  const { task: _, ...rest } = params ?? {};
  return {
    kind: "call",
    call: { method, params: rest },
    digest,
    ...declarationsOf(message.params, logLevel),
    ...(clientInfo === undefined ? {} : { clientInfo }),
    ...(trace === undefined ? {} : { trace }),
  };
}

function declarationsOf(
  params: Params | undefined,
  logLevel: LogLevel | undefined,
): Pick<CallCommand, "progressToken" | "logLevel"> {
  const { progressToken } = metaOf(params);
  return {
    ...(isRequestId(progressToken) ? { progressToken } : {}),
    ...(logLevel === undefined ? {} : { logLevel }),
  };
}

/** @returns a `clientInfo` short enough to be stored; or a sentence on why it cannot be. */
function boundInfo(clientInfo: JsonObject | undefined): JsonObject | string | undefined {
  if (clientInfo === undefined || jsonBytes(clientInfo) <= MAX_INFO_BYTES) return clientInfo;
  const short = shortInfo(clientInfo);
  const bytes = jsonBytes(short);
  if (bytes <= MAX_INFO_BYTES) return short;
  return `The client's name, version and title come to ${bytes} bytes of JSON; at most ${MAX_INFO_BYTES} are allowed`;
}

function refuse(code: number, sentence: string): CommandReading {
  return { kind: "refused", reply: errorReply(code, sentence) };
}
