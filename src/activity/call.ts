/** A call as it is kept and listed: who, what, when, how it ended; never what was sent or what came back. */

import { cleanText } from "../lib/clean-text.ts";
import { tryJson } from "../lib/try-json.ts";
import { personIn } from "../lib/principal.ts";
import type { CallRecord } from "../observability/call-record.ts";

export interface KeptCall {
  /** When it ended, in milliseconds since 1970. */
  readonly at: number;
  /** The id of a user or service client, or `local`. */
  readonly person: string;
  /** The application's id, or `console`. */
  readonly client: string;
  /** As the client calls itself. */
  readonly clientName: string;
  readonly era: string;
  /** A slug, or `EVERY_SERVER`. */
  readonly server: string;
  readonly method: string;
  /** The server's own name of a tool or prompt, or the URI of a resource without its secrets. */
  readonly name: string;
  /** Of a tool: `read`, `write` or `destructive`; empty where it is not known. */
  readonly effect: string;
  readonly outcome: string;
  readonly ms: number;
  /** The sizes of the parameters, and of the result or error, as JSON. */
  readonly requestBytes: number;
  readonly resultBytes: number;
  readonly traceId: string;
}

/** A call in a list, with an id by which lists are paged. */
export interface ListedCall extends KeptCall {
  readonly id: string;
}

/** The version of the line that `writeCall` makes. A line only ever gets longer, at its end. */
export const LINE_FORMAT = 1;

/** A client's id may be a URL of any length; all other texts of a record are bounded. */
const MAX_CLIENT_CHARS = 200;

/** @returns one line of JSON. */
export function writeCall(record: CallRecord): string {
  const { at, client = "", clientName = "", clientEra = "", server, method, name = "" } = record;
  const { effect = "", outcome, ms, requestBytes, resultBytes, traceId = "" } = record;
  return JSON.stringify([
    at,
    personOf(record),
    cleanText(client, MAX_CLIENT_CHARS),
    clientName,
    clientEra,
    server,
    method,
    name,
    effect,
    outcome,
    Math.round(ms),
    requestBytes,
    resultBytes,
    traceId,
  ]);
}

export function personOf({ person, principal }: CallRecord): string {
  return person ?? personIn(principal);
}

/** @returns `undefined` for a line that is none. What an earlier version did not write is empty. */
export function readCall(line: string): KeptCall | undefined {
  const parts = tryJson(line);
  if (!Array.isArray(parts)) return undefined;
  const text = (index: number): string => (typeof parts[index] === "string" ? parts[index] : "");
  const number = (index: number): number => (typeof parts[index] === "number" ? parts[index] : 0);
  return {
    at: number(0),
    person: text(1),
    client: text(2),
    clientName: text(3),
    era: text(4),
    server: text(5),
    method: text(6),
    name: text(7),
    effect: text(8),
    outcome: text(9),
    ms: number(10),
    requestBytes: number(11),
    resultBytes: number(12),
    traceId: text(13),
  };
}

export const OUTCOMES = ["ok", "tool_error", "error", "refused", "cancelled"] as const;
export type OutcomeKind = (typeof OUTCOMES)[number];

/** @param outcome as the log has it: `error:-32602`, `refused:rate`. */
export function outcomeKind(outcome: string): OutcomeKind {
  const [word = ""] = outcome.split(":");
  return OUTCOMES.find((kind) => kind === word) ?? "error";
}

/** A client that cancels has got what it wanted, or wants it no more: nothing has failed. */
export function isFailure({ outcome }: Pick<KeptCall, "outcome">): boolean {
  const kind = outcomeKind(outcome);
  return kind !== "ok" && kind !== "cancelled";
}

/** What a list is narrowed to; what is absent narrows nothing. */
export interface CallFilter {
  readonly person?: string;
  readonly server?: string;
  /** The name of a tool, a prompt or a resource. */
  readonly name?: string;
  readonly outcome?: OutcomeKind;
  readonly traceId?: string;
}

export function matches(call: KeptCall, filter: CallFilter): boolean {
  const { person, server, name, outcome, traceId } = filter;
  return (
    (person === undefined || call.person === person) &&
    (server === undefined || call.server === server) &&
    (name === undefined || call.name === name) &&
    (outcome === undefined || outcomeKind(call.outcome) === outcome) &&
    (traceId === undefined || call.traceId === traceId)
  );
}

/** A place in a list; the list goes on with older calls. */
export interface CallPlace {
  readonly at: number;
  readonly id: string;
}

/** Orders a list, newest first. */
export function byAge(one: CallPlace, other: CallPlace): number {
  if (one.at !== other.at) return other.at - one.at;
  if (one.id === other.id) return 0;
  return one.id < other.id ? 1 : -1;
}
