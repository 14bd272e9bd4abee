/**
 * Attempts as the operator reads them. An application's steps are shown with those of its attempts
 * that do not name an application, with those that claim its client id at its address, and with the
 * look-ups by the same program there just before. An address alone joins nothing.
 */

import type { AuthStore } from "../context/auth-store.ts";
import type { LoginTrace, TracedStep } from "../trace/trace.ts";
import {
  addressKey,
  attemptKey,
  claimedBy,
  clientOf,
  lookupKey,
  PRELIMINARY,
  type Requester,
} from "../trace/trace-key.ts";

/**
 * The time before its first step in which an application may have looked up how to begin: usually
 * seconds.
 */
const BEFORE_MS = 2 * 60_000;
/** The time after its last step in which it may have been refused. */
const AFTER_MS = 2 * 60_000;
/** The limit for each kind of key. */
const MAX_KEYS = 4;

/** @param reference the reference of any step of the attempt, as a person entered it. */
export async function findLogin(
  store: Pick<AuthStore, "ephemeral">,
  reference: string,
): Promise<LoginTrace | undefined> {
  const trace = await store.ephemeral(reference).traces.find(reference);
  if (trace === undefined || clientOf(trace.key) === undefined) return trace;
  const [from, to] = timeOf(trace);
  const found = await Promise.all(
    keysBeside(trace).map((key) => store.ephemeral(key).traces.during(key, from, to)),
  );
  return joined(trace, found.flat());
}

/**
 * Newest first: the attempts of applications, and those that belong to none.
 *
 * @param limit for each of the two kinds: anyone can make any number of the second, and displaces none of the first.
 */
export async function recentLogins(
  store: Pick<AuthStore, "allEphemeral">,
  limit: number,
): Promise<readonly LoginTrace[]> {
  const lists = await Promise.all(store.allEphemeral().map(({ traces }) => traces.list(limit)));
  const all = lists.flat().toSorted((a, b) => b.updatedAt - a.updatedAt);
  const ofClients = all.filter(({ key }) => clientOf(key) !== undefined);
  const others = all.filter(({ key }) => clientOf(key) === undefined);
  const taken = new Set<LoginTrace>();
  const attempts = ofClients.map((trace) => {
    const keys = new Set(keysBeside(trace));
    const near = others.filter(({ key }) => keys.has(key));
    for (const other of near) if (other.steps.every(isOf(trace))) taken.add(other);
    return joined(
      trace,
      near.flatMap(({ steps }) => steps),
    );
  });
  const rest = others.filter((trace) => !taken.has(trace) && isOfNote(trace));
  return [...attempts.slice(0, limit), ...rest.slice(0, limit)].toSorted(
    (a, b) => b.updatedAt - a.updatedAt,
  );
}

function joined(trace: LoginTrace, others: readonly TracedStep[]): LoginTrace {
  const [from] = timeOf(trace);
  const near = others.filter(isOf(trace));
  // It is placed at its last occurrence before the attempt began, not where it was seen an hour
  // ago.
  const placed = near.map((other) => (other.at < from ? { ...other, at: other.lastAt } : other));
  return { ...trace, steps: [...placed, ...trace.steps].toSorted((a, b) => a.at - b.at) };
}

/** @returns the keys under which further steps of an application's attempt may be stored. */
function keysBeside({ steps }: LoginTrace): readonly string[] {
  const attempts = steps.flatMap(({ step }) => ("attempt" in step ? (step.attempt ?? []) : []));
  const lookups = steps.flatMap((sender: Requester) => lookupKey(sender) ?? []);
  const addresses = steps.map(({ address }) => addressKey(address));
  return [attempts.map(attemptKey), lookups, addresses].flatMap((keys) =>
    [...new Set(keys)].slice(0, MAX_KEYS),
  );
}

/** @returns whether a step that is stored beside an attempt belongs to it. */
function isOf(trace: LoginTrace): (traced: TracedStep) => boolean {
  const client = clientOf(trace.key);
  const [from, to] = timeOf(trace);
  return ({ step, at, lastAt, agent }) => {
    if (lastAt < from || at > to) return false;
    if (claimedBy(step) !== undefined) return claimedBy(step) === client;
    if (PRELIMINARY.has(step.kind)) return agent !== "";
    return "attempt" in step && step.attempt !== undefined;
  };
}

function timeOf({ startedAt, updatedAt }: LoginTrace): readonly [from: number, to: number] {
  return [startedAt - BEFORE_MS, updatedAt + AFTER_MS];
}

/** A client that only guesses addresses is looking for another kind of server. */
function isOfNote({ steps }: LoginTrace): boolean {
  return steps.some(({ step }) => step.kind !== "probed" || step.isFound);
}
