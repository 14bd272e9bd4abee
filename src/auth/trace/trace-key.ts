/**
 * The key under which a step is stored: with the other steps of its application; or of its attempt,
 * while its application is unknown. Look-ups, which name neither, are stored with those of the same
 * program at the same address. An address alone joins nothing: a whole office shares one.
 */

import type { LoginStep, StepKind } from "./trace.ts";

const CLIENT = "client:";
const ATTEMPT = "attempt:";
const LOOKUP = "lookup:";
const ADDRESS = "address:";

/** The length of the part of an attempt's id that is in its cookie. */
const ATTEMPT_CHARS = 8;

/** The steps of a program before it names its application. */
export const PRELIMINARY: ReadonlySet<StepKind> = new Set(["probed", "challenged"]);

/** The `User-Agent` and the address of a program. */
export interface Requester {
  readonly address: string;
  readonly agent: string;
}

export function traceKey(step: LoginStep, sender: Requester): string {
  const { client, attempt } = { client: undefined, attempt: undefined, ...step };
  if (client !== undefined && isProved(step)) return CLIENT + client;
  if (client === undefined && attempt !== undefined) return attemptKey(attempt);
  const lookup = PRELIMINARY.has(step.kind) ? lookupKey(sender) : undefined;
  return lookup ?? addressKey(sender.address);
}

/** @returns the application that a step claims. */
export function claimedBy(step: LoginStep): string | undefined {
  return "client" in step ? step.client : undefined;
}

/** Anyone can request a token in the name of a client; only the client has a grant of it. */
function isProved(step: LoginStep): boolean {
  return step.kind !== "token_refused" || step.grant !== undefined;
}

/** @param id the id of the attempt, or the part of it in its cookie. */
export function attemptKey(id: string): string {
  return ATTEMPT + id.slice(0, ATTEMPT_CHARS);
}

/** @returns `undefined` for a program without a `User-Agent`: it could be any. */
export function lookupKey({ address, agent }: Requester): string | undefined {
  return agent === "" ? undefined : `${LOOKUP}${address} ${agent}`;
}

/** The key of steps that are joined to no other, but may claim a client. */
export function addressKey(address: string): string {
  return ADDRESS + address;
}

/** @returns whether each step of a key is an attempt of its own. */
export function isAlone(key: string): boolean {
  return key.startsWith(ADDRESS);
}

/** @returns `undefined` for a key that is not a client's. */
export function clientOf(key: string): string | undefined {
  return key.startsWith(CLIENT) ? key.slice(CLIENT.length) : undefined;
}
