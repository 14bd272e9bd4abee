/**
 * The log line of every call: caller, method, server, duration, outcome and sizes. Parameters and results
 * are in no line.
 */

import { cleanText } from "../lib/clean-text.ts";

/** The server in the line of a call that all servers answer together, or none does. */
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

export interface CallLine {
  readonly principal: string;
  /** A slug, or `EVERY_SERVER`. */
  readonly server: string;
  readonly method: string;
  /** The server's own name of a tool or prompt, or the URI of a resource (`loggableUri`). */
  readonly name?: string | undefined;
  readonly ms: number;
  readonly outcome: CallOutcome;
  /** The size of the parameters, and of the result or error, as JSON. */
  readonly requestBytes: number;
  readonly resultBytes: number;
}

const MAX_NAME_CHARS = 200;

export function callLine({ principal, method, name, ...facts }: CallLine): void {
  const line = {
    event: "call",
    principal: shorten(principal),
    method: shorten(method),
    ...(name === undefined ? {} : { name: shorten(name) }),
    ...facts,
  };
  // oxlint-disable-next-line no-console -- the log of a Worker is the console
  console.log(JSON.stringify(line));
}

/** Clients choose these texts and their length, so a text is cut before it is cleaned. */
function shorten(text: string): string {
  return cleanText(text.slice(0, 4 * MAX_NAME_CHARS), MAX_NAME_CHARS);
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
