/** Runs a call and makes its record, also when it fails or is cancelled. */

import type { RequestScope } from "../../catalog/request-scope.ts";
import { jsonBytes } from "../../lib/json-bytes.ts";
import {
  type CallOutcome,
  type CallRecord,
  EVERY_SERVER,
  loggable,
  loggableUri,
  recordCall,
  type Refusal,
} from "../../observability/call-record.ts";
import { inServerSpan } from "../../observability/spans.ts";
import type { CallSpan } from "../../protocol/call-span.ts";
import type { Call } from "../../protocol/exchange.ts";
import { isObject, type Reply } from "../../protocol/json-rpc.ts";
import type { ToolEffect } from "../../protocol/tool-effect.ts";

export interface Answered {
  readonly reply: Reply;
  /** The reason why the gateway replied in place of the server. */
  readonly refusal?: Refusal;
  /** The size of the server's reply, if it is known already. */
  readonly bytes?: number;
}

export type RecordScope = Pick<RequestScope, "principal" | "sinks" | "waitUntil">;

interface Logged {
  /** Of the client's request that the call belongs to. */
  readonly span: CallSpan | undefined;
  /** A slug, or `EVERY_SERVER`. */
  readonly server: string;
  readonly call: Call;
  /** Asked when the call has ended. */
  readonly effect?: () => ToolEffect | undefined;
}

/** @param act rejects only when the client has cancelled. */
export function logged(
  scope: RecordScope,
  asked: Logged,
  act: () => Promise<Answered>,
  now: () => number = () => Date.now(),
): Promise<Reply> {
  const { span, call, effect } = asked;
  const startedAt = now();
  const tool = (): string | undefined => (effect?.() === undefined ? undefined : nameOf(call));
  return inServerSpan(span, { method: loggable(call.method), tool }, async (end) => {
    const finish = (outcome: CallOutcome, resultBytes: number): void => {
      const record = recordOf(scope, asked, { outcome, resultBytes, startedAt, at: now() });
      recordCall(record, scope);
      end(record);
    };
    let answered: Answered;
    try {
      answered = await act();
    } catch (error) {
      finish("cancelled", 0);
      throw error;
    }
    const { reply, refusal, bytes } = answered;
    const outcome = refusal === undefined ? outcomeOf(reply) : (`refused:${refusal}` as const);
    finish(outcome, bytes ?? replyBytes(reply));
    return reply;
  });
}

interface Ended extends Pick<CallRecord, "at" | "outcome" | "resultBytes"> {
  readonly startedAt: number;
}

function recordOf(
  { principal }: RecordScope,
  { span, server, call, effect }: Logged,
  { at, startedAt, outcome, resultBytes }: Ended,
): CallRecord {
  const { method, params } = call;
  const name = nameOf(call);
  const clientName = span?.clientName;
  return {
    at,
    principal: loggable(principal),
    person: span?.person,
    client: span?.application,
    clientName: clientName === undefined ? undefined : loggable(clientName),
    clientEra: span?.era,
    serverEra: span?.serverEra,
    server,
    method: loggable(method),
    name: name === undefined ? undefined : loggable(name),
    effect: effect?.(),
    outcome,
    ms: at - startedAt,
    upstreamMs: span?.upstreamMs,
    requestBytes: jsonBytes(params ?? {}),
    resultBytes,
    traceId: span?.trace.traceId,
  };
}

/** Logs a call that all servers answer together, or the gateway in their place. */
export function loggedForAll(
  scope: RecordScope,
  span: CallSpan | undefined,
  call: Call,
  answer: () => Promise<Reply>,
): Promise<Reply> {
  const act = async (): Promise<Answered> => ({ reply: await answer() });
  return logged(scope, { span, server: EVERY_SERVER, call }, act);
}

/** The size of a reply's result or error as JSON. */
export function replyBytes(reply: Reply): number {
  return jsonBytes("error" in reply ? reply.error : reply.result);
}

function outcomeOf(reply: Reply): CallOutcome {
  if ("error" in reply) return `error:${reply.error.code}`;
  return reply.result.isError === true ? "tool_error" : "ok";
}

function nameOf({ method, params = {} }: Call): string | undefined {
  const ref = isObject(params.ref) ? params.ref : {};
  const { name, uri } = method === "completion/complete" ? ref : params;
  if (typeof name === "string") return name;
  return typeof uri === "string" ? loggableUri(uri) : undefined;
}
