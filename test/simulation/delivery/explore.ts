/** Visits every state that can be reached, and says how one came to a state that must not be. */

import {
  type Action,
  actionsFrom,
  type Broken,
  type Budget,
  EVENTS,
  startWith,
  type State,
} from "./model.ts";

export interface Explored {
  readonly states: number;
  readonly steps: number;
  /** How one gets to the first state that breaks a rule, step by step, with the rule at the end. */
  readonly trace?: readonly string[];
}

interface Visited {
  readonly from: string | undefined;
  readonly action: string;
}

/** The shortest way comes first: states are visited in the order of their distance from the start. */
export function explore(budget: Budget, broken: Broken = {}): Explored {
  const start = startWith(budget);
  const visited = new Map<string, Visited>([[keyOf(start), { from: undefined, action: "start" }]]);
  const waiting: State[] = [start];
  let steps = 0;
  // The list grows while it is gone through.
  for (const state of waiting) {
    const key = keyOf(state);
    const actions = actionsFrom(state, broken);
    const rule = brokenRule(state, actions);
    if (rule !== undefined) {
      return { states: visited.size, steps, trace: [...wayTo(key, visited), rule] };
    }
    steps += actions.length;
    for (const { name, next } of actions) {
      const nextKey = keyOf(next);
      if (visited.has(nextKey)) continue;
      visited.set(nextKey, { from: key, action: name });
      waiting.push(next);
    }
  }
  return { states: visited.size, steps };
}

function brokenRule({ got, log }: State, actions: readonly Action[]): string | undefined {
  if (!isInOrder(got.filter(isOfServer)) || got.filter((event) => event === 0).length > 1)
    return `RULE: the client got ${got.join(", ")}`;
  if (!isInOrder(log.filter(isOfServer))) return `RULE: the log has ${log.join(", ")}`;
  if (actions.length === 0 && got.at(-1) !== EVENTS)
    return `RULE: nothing goes on, and the client has ${got.length}`;
  return undefined;
}

function isOfServer(event: number): boolean {
  return event !== 0;
}

/** Each event once, none left out. */
function isInOrder(events: readonly number[]): boolean {
  return events.every((event, index) => event === index + 1);
}

/** A short text for each state: what the exploration spends its time on. */
function keyOf(state: State): string {
  const { made, receiving, log, safe, isAsleep, hasNote, attached, sent, left, gone } = state;
  const { got, has, hears, opened, restartsLeft, clientCutsLeft, serverCutsLeft } = state;
  const readers = state.readers.map(
    ({ age, pipe, passed, state: its }) => `${age}${its[0]}${passed}:${pipe.join(";")}`,
  );
  const here = `${made} ${receiving} ${log.join("")} ${safe} ${isAsleep} ${hasNote} ${attached} ${sent}`;
  const there = `${readers.join("|")} ${left.join("")} ${gone.join("")} ${got.join("")} ${has} ${hears}`;
  return `${here} ${there} ${opened} ${restartsLeft}${clientCutsLeft}${serverCutsLeft}`;
}

function wayTo(key: string, visited: ReadonlyMap<string, Visited>): string[] {
  const way: string[] = [];
  for (let at: string | undefined = key; at !== undefined;) {
    const step: Visited | undefined = visited.get(at);
    if (step?.from !== undefined) way.unshift(step.action);
    at = step?.from;
  }
  return way;
}
