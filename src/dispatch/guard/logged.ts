/** Runs a call and writes its line in the log, also when it fails or is cancelled. */

import { jsonBytes } from "../../lib/json-bytes.ts";
import {
  callLine,
  type CallOutcome,
  EVERY_SERVER,
  loggableUri,
  type Refusal,
} from "../../observability/call-log.ts";
import type { Call } from "../../protocol/exchange.ts";
import { isObject, type Reply } from "../../protocol/json-rpc.ts";

export interface Answered {
  readonly reply: Reply;
  /** The reason why the gateway replied in place of the server. */
  readonly refusal?: Refusal;
  /** The size of the server's reply, if it is known already. */
  readonly bytes?: number;
}

interface Logged {
  readonly principal: string;
  /** A slug, or `EVERY_SERVER`. */
  readonly server: string;
  readonly call: Call;
}

/** @param act rejects only when the client has cancelled. */
export async function logged(
  { principal, server, call }: Logged,
  act: () => Promise<Answered>,
  now: () => number = () => Date.now(),
): Promise<Reply> {
  const startedAt = now();
  const { method, params } = call;
  const write = (outcome: CallOutcome, resultBytes: number): void => {
    const who = { principal, server, method, name: nameOf(call) };
    const ms = now() - startedAt;
    callLine({ ...who, ms, outcome, requestBytes: jsonBytes(params ?? {}), resultBytes });
  };
  let answered: Answered;
  try {
    answered = await act();
  } catch (error) {
    write("cancelled", 0);
    throw error;
  }
  const { reply, refusal, bytes } = answered;
  write(
    refusal === undefined ? outcomeOf(reply) : `refused:${refusal}`,
    bytes ?? replyBytes(reply),
  );
  return reply;
}

/** Logs a call that all servers answer together, or the gateway in their place. */
export function loggedForAll(
  principal: string,
  call: Call,
  answer: () => Promise<Reply>,
): Promise<Reply> {
  const act = async (): Promise<Answered> => ({ reply: await answer() });
  return logged({ principal, server: EVERY_SERVER, call }, act);
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
