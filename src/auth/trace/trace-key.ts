/**
 * Where a step is kept: with the other steps of its application; or of its attempt, while it is not
 * known which application that is for. Look-ups, which name neither, are kept with those of the same
 * program at the same address. An address alone joins nothing: a whole office has one.
 */

import type { LoginStepView, StepKind } from "./trace.ts";

const CLIENT = "client:";
const ATTEMPT = "attempt:";
const LOOKUP = "lookup:";
const ADDRESS = "address:";

/** As much of an attempt's id as its cookie tells. */
const ATTEMPT_CHARS = 8;

/** What a program does before it says which application it is. */
export const PRELIMINARY: ReadonlySet<StepKind> = new Set(["probed", "challenged"]);

/** What a program calls itself, and where it is. */
export interface Sender {
  readonly address: string;
  readonly agent: string;
}

export function traceKey(step: LoginStepView, sender: Sender): string {
  const { client, attempt } = { client: undefined, attempt: undefined, ...step };
  if (client !== undefined && isProved(step)) return CLIENT + client;
  if (client === undefined && attempt !== undefined) return attemptKey(attempt);
  const lookup = PRELIMINARY.has(step.kind) ? lookupKey(sender) : undefined;
  return lookup ?? addressKey(sender.address);
}

/** @returns the application that a step is said to be of. */
export function claimedBy(step: LoginStepView): string | undefined {
  return "client" in step ? step.client : undefined;
}

/** Anybody can ask for a token in the name of a client; who has a grant of it is that client. */
function isProved(step: LoginStepView): boolean {
  return step.kind !== "token_refused" || step.grant !== undefined;
}

/** @param id of the attempt, or as much of it as its cookie tells. */
export function attemptKey(id: string): string {
  return ATTEMPT + id.slice(0, ATTEMPT_CHARS);
}

/** @returns `undefined` for a program without a name: it could be any. */
export function lookupKey({ address, agent }: Sender): string | undefined {
  return agent === "" ? undefined : `${LOOKUP}${address} ${agent}`;
}

/** For steps that are joined to no other, but may be said to be of a client. */
export function addressKey(address: string): string {
  return ADDRESS + address;
}

/** @returns whether the steps of a key stand for themselves, each an attempt of its own. */
export function isAlone(key: string): boolean {
  return key.startsWith(ADDRESS);
}

/** @returns `undefined` for another key than a client's. */
export function clientOf(key: string): string | undefined {
  return key.startsWith(CLIENT) ? key.slice(CLIENT.length) : undefined;
}
