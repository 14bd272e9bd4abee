/**
 * Where a step is kept: with the other steps of its application; or, while it is not known which
 * application it is, with those of the same address. Anybody can say that they are any.
 */

import type { AskRefusal, LoginStep } from "./trace.ts";

const CLIENT = "client:";
const ADDRESS = "address:";

/** Nobody was found by that name, or nobody has looked. */
const NOT_FOUND: ReadonlySet<AskRefusal> = new Set(["unknown-client", "document", "limited"]);

export function traceKey(step: LoginStep, address: string): string {
  const client = claimedBy(step);
  return client === undefined || !isKnown(step) ? addressKey(address) : CLIENT + client;
}

/** @returns the application that a step is said to be of. */
export function claimedBy(step: LoginStep): string | undefined {
  return "client" in step ? step.client : undefined;
}

function isKnown(step: LoginStep): boolean {
  if (step.kind === "ask_refused") return !NOT_FOUND.has(step.reason);
  return step.kind !== "token_refused" || step.grant !== undefined;
}

export function addressKey(address: string): string {
  return ADDRESS + address;
}

/** @returns `undefined` for the key of an address. */
export function clientOf(key: string): string | undefined {
  return key.startsWith(CLIENT) ? key.slice(CLIENT.length) : undefined;
}
