/**
 * A modern request as the holder of a legacy session takes it: a call of its own, or the answers to
 * the questions of one. What is wrong with it is said here, and reaches nobody.
 */

import { Meta, metaOf } from "../../protocol/envelope.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import {
  errorReply,
  isObject,
  isRequestId,
  type JsonObject,
  type JsonRpcRequest,
  type Params,
  type Reply,
} from "../../protocol/json-rpc.ts";
import { isServed, mayHaveRounds } from "../../protocol/methods.ts";
import { toLegacyRequest } from "../../protocol/revisions/requests.ts";
import { isAnswerTo } from "./answer-shape.ts";
import type { CallCommand, BridgeCommand } from "./bridge.ts";
import { boundInfo } from "./client-info.ts";
import { pageKey } from "./finish.ts";
import { isLogLevel, LOG_LEVEL_NAMES, type LogLevel } from "../../protocol/log-levels.ts";
import { digestOf, readBridgeState } from "./bridge-state.ts";

export type Ordering =
  | { readonly kind: "order"; readonly command: BridgeCommand }
  | { readonly kind: "refused"; readonly reply: Reply };

interface Asking {
  readonly message: JsonRpcRequest;
  readonly clientInfo: JsonObject | undefined;
  readonly digest: string;
  readonly logLevel?: LogLevel;
}

/** It is written down with what takes up a call, time and again; sessions have the same limit. */
const MAX_TOKEN_CHARS = 1024;

/** @param declared how the client names itself. */
export async function makeCommand(
  message: JsonRpcRequest,
  declared: JsonObject | undefined,
): Promise<Ordering> {
  const { method, params = {} } = message;
  const isKnown = method === "server/discover" || isServed(method, "legacy");
  if (!isKnown || !isServed(method, "modern")) {
    return refuse(ErrorCode.MethodNotFound, "Method not found");
  }
  const { progressToken, [Meta.logLevel]: logLevel } = metaOf(params);
  if (typeof progressToken === "string" && progressToken.length > MAX_TOKEN_CHARS) {
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
  const asking = { message, clientInfo, digest: await digestOf(message), ...level };
  return mayHaveRounds(method)
    ? ofRound(asking, params)
    : { kind: "order", command: callOrder(asking) };
}

/** A request of a method that has rounds: which one is it? */
function ofRound(asking: Asking, params: Params): Ordering {
  const { digest, logLevel, message } = asking;
  const { requestState, inputResponses = {} } = params;
  if (!isObject(inputResponses)) {
    return refuse(ErrorCode.InvalidParams, "inputResponses must be an object");
  }
  // A retry brings the requestState that was given with the questions (MUST). What comes without one is a first
  // request: its answers fit no question, and the server asks for what it misses (SEP-2322: SHOULD).
  if (requestState === undefined) return { kind: "order", command: callOrder(asking) };
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
    return ofVisits(asking, state.pages, inputResponses);
  }
  const { object, exchange, round } = state;
  const { uri } = params;
  return {
    kind: "order",
    command: {
      ...{ kind: "answer", object, exchange, round, responses: inputResponses, digest },
      ...{ method: message.method, ...wishes(params, logLevel) },
      ...(uri === undefined ? {} : { uri }),
    },
  };
}

/** A call again, once pages were visited; of one that nothing is said of, that is for the server to see. */
function ofVisits(asking: Asking, pages: number, inputResponses: JsonObject): Ordering {
  const keys = Array.from({ length: pages }, (_, index) => pageKey(index));
  for (const key of keys) {
    const response = inputResponses[key];
    if (response === undefined) continue;
    if (!isAnswerTo("elicitation/create", response)) {
      const sentence = `inputResponses.${key} is no answer to elicitation/create`;
      return refuse(ErrorCode.InvalidParams, sentence);
    }
    // It was declined or dismissed: the server would only ask for it again.
    if (response["action"] !== "accept") {
      const sentence = "The server needs a page to be visited first, which was declined";
      return refuse(ErrorCode.InternalError, sentence);
    }
  }
  return { kind: "order", command: callOrder(asking) };
}

function callOrder({ message, clientInfo, digest, logLevel }: Asking): CallCommand {
  const { method, params } = toLegacyRequest(message);
  // Tasks of 2025-11-25 are nothing that a modern client could ask for.
  const { task: _, ...rest } = params ?? {};
  return {
    ...{ kind: "call", call: { method, params: rest }, digest },
    ...wishes(message.params, logLevel),
    ...(clientInfo === undefined ? {} : { clientInfo }),
  };
}

function wishes(
  params: Params | undefined,
  logLevel: LogLevel | undefined,
): Pick<CallCommand, "progressToken" | "logLevel"> {
  const { progressToken } = metaOf(params);
  return {
    ...(isRequestId(progressToken) ? { progressToken } : {}),
    ...(logLevel === undefined ? {} : { logLevel }),
  };
}

function refuse(code: number, sentence: string): Ordering {
  return { kind: "refused", reply: errorReply(code, sentence) };
}
