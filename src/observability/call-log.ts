/**
 * The line of every call: who, what, at which server, how long, how it ended, how large. What was
 * asked and what came back are in no line.
 */

import { cleanText } from "../lib/clean-text.ts";

/** The server of what all servers answer together, or none does. */
export const EVERY_SERVER = "*";

/** Why the gateway did not pass a request on, or did not pass on its result. */
export type Refusal = "concurrency" | "rate" | "paused" | "result_size";

export type CallOutcome =
  | "ok"
  /** The tool says that it failed. */
  | "tool_error"
  | `error:${number}`
  | `refused:${Refusal}`
  | "cancelled";

export interface CallLine {
  readonly principal: string;
  /** A slug, or `EVERY_SERVER`. */
  readonly server: string;
  readonly method: string;
  /** The server's own name of a tool or prompt, or where a resource is (`loggableUri`). */
  readonly name?: string | undefined;
  readonly ms: number;
  readonly outcome: CallOutcome;
  /** Of the parameters, and of the result or error, as JSON. */
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

/** Clients choose most of it, and how long it is; what is cut first need not be cleaned. */
function shorten(text: string): string {
  return cleanText(text.slice(0, 4 * MAX_NAME_CHARS), MAX_NAME_CHARS);
}

/** Schemes whose URIs are the thing itself. */
const SELF_CONTAINED = /^(?:data|blob|javascript):/i;

/** A URI without the parts in which secrets travel: user and password, query, fragment. */
export function loggableUri(uri: string): string {
  const [scheme] = SELF_CONTAINED.exec(uri) ?? [];
  if (scheme !== undefined) return scheme;
  const place = uri.slice(0, uri.search(/[?#]|$/));
  return place.replace(/^([^/\\]*[/\\]{2})[^/\\]*@/, "$1");
}
