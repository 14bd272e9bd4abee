/**
 * The record of a call, made at its end: the caller, the request, its server, its outcome, its duration and its
 * sizes. Arguments and results are no part of it. A log line is made of each record, and what else the
 * gateway is given a sink for.
 */

import { cleanText } from "../lib/clean-text.ts";
import type { Era } from "../protocol/revisions.ts";
import type { ToolEffect } from "../protocol/tool-effect.ts";
import { callLine } from "./call-log.ts";
import { logUnexpected } from "./unexpected.ts";

/** Stands for texts that a caller has made up, where their number must stay bounded. */
export const OTHER = "_other";

/** The server in the record of a call that all servers answer together, or none does. */
export const EVERY_SERVER = "*";

/** The reason why the gateway did not pass on a request, or its result. */
export type Refusal = "concurrency" | "rate" | "paused" | "result_size";

export type CallOutcome =
  | "ok"
  /** The tool reported a failure. */
  | "tool_error"
  | `error:${number}`
  | `refused:${Refusal}`
  | "cancelled";

/** Texts that others choose are cut and cleaned (`loggable`). Plain data. */
export interface CallRecord {
  /** When the call ended, in milliseconds since 1970. */
  readonly at: number;
  readonly principal: string;
  readonly person?: string | undefined;
  /** The id of the person's application; `console` for the gateway's own pages. */
  readonly client?: string | undefined;
  /** As the client calls itself. */
  readonly clientName?: string | undefined;
  readonly clientEra?: Era | undefined;
  /** Absent where the request did not get to a server. */
  readonly serverEra?: Era | undefined;
  /** A slug, or `EVERY_SERVER`. */
  readonly server: string;
  readonly method: string;
  /** The server's own name of a tool or prompt, or the URI of a resource (`loggableUri`). */
  readonly name?: string | undefined;
  /** Of a tool that the catalog at hand has, by its annotations. */
  readonly effect?: ToolEffect | undefined;
  readonly outcome: CallOutcome;
  readonly ms: number;
  /** The part of it at the server, without that of questions to the client. */
  readonly upstreamMs?: number | undefined;
  /** The size of the parameters, and of the result or error, as JSON. */
  readonly requestBytes: number;
  readonly resultBytes: number;
  /** 32 hexadecimal digits. */
  readonly traceId?: string | undefined;
}

/** Takes the records of calls. */
export interface CallSink {
  /** Called before the answer goes out: it notes the record, and gives all other work to `waitUntil`. */
  record(record: CallRecord, waitUntil: (promise: Promise<unknown>) => void): void;
}

export interface CallSinks {
  /** None is the rule: nothing is done for it then. */
  readonly sinks?: readonly CallSink[] | undefined;
  readonly waitUntil: (promise: Promise<unknown>) => void;
}

/** Called when the answer is made. A sink that fails harms neither the call nor other sinks. */
export function recordCall(record: CallRecord, { sinks = [], waitUntil }: CallSinks): void {
  callLine(record);
  for (const sink of sinks) {
    try {
      sink.record(record, waitUntil);
    } catch (error) {
      logUnexpected(error);
    }
  }
}

const MAX_TEXT_CHARS = 200;

/** Clients choose these texts and their length, so a text is cut before it is cleaned. */
export function loggable(text: string): string {
  return cleanText(text.slice(0, 4 * MAX_TEXT_CHARS), MAX_TEXT_CHARS);
}

/** Schemes whose URIs contain the resource itself. */
const SELF_CONTAINED = /^(?:data|blob|javascript):/i;

/** A URI without the parts that may hold secrets: user and password, query, fragment. */
export function loggableUri(uri: string): string {
  const [scheme] = SELF_CONTAINED.exec(uri) ?? [];
  if (scheme !== undefined) return scheme;
  const place = uri.slice(0, uri.search(/[?#]|$/));
  return place.replace(/^([^/\\]*[/\\]{2})[^/\\]*@/, "$1");
}
