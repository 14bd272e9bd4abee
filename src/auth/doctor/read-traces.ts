/**
 * Attempts as the operator reads them. Before an application says which one it is, it looks for
 * metadata and is told to sign in: those steps are kept by address, and are joined here with what
 * the application did from the same address at the time. So is what was said in its name there.
 */

import type { AuthStore } from "../store/auth-store.ts";
import type { LoginTrace, TracedStep } from "./trace.ts";
import { addressKey, claimedBy, clientOf } from "./trace-key.ts";

/** How long before its first step an application may have looked for how to begin. */
const BEFORE_MS = 10 * 60_000;
/** And how long after its last one it may have been refused. */
const AFTER_MS = 2 * 60_000;
const MAX_ADDRESSES = 4;

/** @param reference of any step of the attempt, as somebody typed it. */
export async function findLogin(
  store: Pick<AuthStore, "passing">,
  reference: string,
): Promise<LoginTrace | undefined> {
  const trace = await store.passing(reference).traces.find(reference);
  if (trace === undefined || clientOf(trace.key) === undefined) return trace;
  const [from, to] = timeOf(trace);
  const found = await Promise.all(
    addressesOf(trace)
      .map(addressKey)
      .map((key) => store.passing(key).traces.during(key, from, to)),
  );
  return joined(trace, found.flat());
}

/** Newest first: the attempts of applications, and of addresses what belongs to none of them. */
export async function recentLogins(
  store: Pick<AuthStore, "allPassing">,
  limit: number,
): Promise<readonly LoginTrace[]> {
  const lists = await Promise.all(store.allPassing().map(({ traces }) => traces.list(limit)));
  const all = lists.flat().toSorted((a, b) => b.updatedAt - a.updatedAt);
  const ofClients = all.filter(({ key }) => clientOf(key) !== undefined);
  const ofAddresses = all.filter(({ key }) => clientOf(key) === undefined);
  const taken = new Set<LoginTrace>();
  const attempts = ofClients.map((trace) => {
    const near = ofAddresses.filter((other) => isBeside(trace, other));
    for (const other of near) if (other.steps.every(isAbout(trace))) taken.add(other);
    return joined(
      trace,
      near.flatMap(({ steps }) => steps),
    );
  });
  const rest = ofAddresses.filter((trace) => !taken.has(trace) && isOfNote(trace));
  return [...attempts, ...rest].toSorted((a, b) => b.updatedAt - a.updatedAt).slice(0, limit);
}

function joined(trace: LoginTrace, others: readonly TracedStep[]): LoginTrace {
  const [from, to] = timeOf(trace);
  const near = others.filter(isAbout(trace)).filter(({ at, lastAt }) => lastAt >= from && at <= to);
  // It stands where it came last before the attempt began, not where it was seen an hour ago.
  const placed = near.map((other) => (other.at < from ? { ...other, at: other.lastAt } : other));
  return { ...trace, steps: [...placed, ...trace.steps].toSorted((a, b) => a.at - b.at) };
}

/** Several applications may come from one address: a step that names another is none of this one. */
function isAbout({ key }: LoginTrace): (traced: TracedStep) => boolean {
  const client = clientOf(key);
  return ({ step }) => (claimedBy(step) ?? client) === client;
}

function timeOf({ startedAt, updatedAt }: LoginTrace): readonly [from: number, to: number] {
  return [startedAt - BEFORE_MS, updatedAt + AFTER_MS];
}

function addressesOf({ steps }: LoginTrace): readonly string[] {
  return [...new Set(steps.map(({ address }) => address))].slice(0, MAX_ADDRESSES);
}

function isBeside(trace: LoginTrace, other: LoginTrace): boolean {
  const [from, to] = timeOf(trace);
  if (other.updatedAt < from || other.startedAt > to) return false;
  return addressesOf(trace).some((address) => addressKey(address) === other.key);
}

/** Whoever only guesses at addresses is looking for another kind of server. */
function isOfNote({ steps }: LoginTrace): boolean {
  return steps.some(({ step }) => step.kind !== "probed" || step.isFound);
}
