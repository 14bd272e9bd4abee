/**
 * Attempts as the operator reads them: with an application's steps come those of its attempts that do
 * not say which application they are for, what was said in its name at its address, and what the same
 * program looked up there just before. An address alone joins nothing.
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
  type Sender,
} from "../trace/trace-key.ts";

/** How long before its first step an application may have looked for how to begin: seconds do. */
const BEFORE_MS = 2 * 60_000;
/** And how long after its last one it may have been refused. */
const AFTER_MS = 2 * 60_000;
/** Of each kind. */
const MAX_KEYS = 4;

/** @param reference of any step of the attempt, as somebody typed it. */
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

/** Newest first: the attempts of applications, and whatever belongs to none of them. */
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
  return [...attempts, ...rest].toSorted((a, b) => b.updatedAt - a.updatedAt).slice(0, limit);
}

function joined(trace: LoginTrace, others: readonly TracedStep[]): LoginTrace {
  const [from] = timeOf(trace);
  const near = others.filter(isOf(trace));
  // It stands where it came last before the attempt began, not where it was seen an hour ago.
  const placed = near.map((other) => (other.at < from ? { ...other, at: other.lastAt } : other));
  return { ...trace, steps: [...placed, ...trace.steps].toSorted((a, b) => a.at - b.at) };
}

/** Where steps may be that belong to an application's attempt. */
function keysBeside({ steps }: LoginTrace): readonly string[] {
  const attempts = steps.flatMap(({ step }) => ("attempt" in step ? (step.attempt ?? []) : []));
  const lookups = steps.flatMap((sender: Sender) => lookupKey(sender) ?? []);
  const addresses = steps.map(({ address }) => addressKey(address));
  return [attempts.map(attemptKey), lookups, addresses].flatMap((keys) =>
    [...new Set(keys)].slice(0, MAX_KEYS),
  );
}

/** @returns whether a step that is kept beside an attempt belongs to it. */
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

/** Whoever only guesses at addresses is looking for another kind of server. */
function isOfNote({ steps }: LoginTrace): boolean {
  return steps.some(({ step }) => step.kind !== "probed" || step.isFound);
}
