/** Plays one plan in one world, and checks the model. */

import { SIGN_IN } from "../outside/door.ts";
import { Ledger } from "../outside/ledger.ts";
import type { Program } from "../platform/isolate.ts";
import { Random } from "../platform/random.ts";
import type { Step } from "../platform/scheduler.ts";
import { World } from "../platform/world.ts";
import { callOnce } from "./calls-of-published.ts";
import { leftovers, PATIENCE_MS } from "./leftovers.ts";
import { chooseBy, lagBy } from "./orders.ts";
import { Parties } from "./parties.ts";
import { hasPeople } from "./people.ts";
import { type FaultKind, JUMPS } from "./faults.ts";
import type { Plan } from "./plan.ts";
import { PlannedFaults } from "./planned-faults.ts";
import { watchQuotas } from "./quotas.ts";

export interface Played {
  readonly findings: readonly string[];
  readonly steps: number;
  /** Kinds of faults that found something to break. */
  readonly met: readonly FaultKind[];
  readonly ledger: Ledger;
}

const OBJECTS = {
  SESSIONS: "SessionObject",
  AUTH: "AuthShardObject",
  REGISTRY: "RegistryObject",
  FEEDS: "FeedObject",
  FAN_OUT: "FanOutObject",
  BRIDGES: "BridgeObject",
  VAULTS: "VaultObject",
  ACTIVITIES: "ActivityObject",
  CONNECTORS: "ConnectorObject",
};

/** A server may hold a call that it has forgotten until the gateway ends it, and so with the next. */
const END_MS = 1_800_000;
/** The time for which it is held, which begins anew with each life of the object that waits. */
const HOLD_MS = 300_000;
/** Many times what the largest plan takes, and more than half a dozen objects whose clock is an hour slow. */
const MAX_STEPS = 3_000_000;
/** What could still come too late, or twice, has come by then. */
const REST_MS = 5000;
/** A read may be tried again, and wait for what died meanwhile. */
const READ_MS = 60_000;

export interface Watching {
  /** Called for each step and each message outside. @param at in milliseconds from the start. */
  readonly trace?: ((text: string, at: number) => void) | undefined;
  readonly observe?: ((what: string) => void) | undefined;
}

export async function play(plan: Plan, program: Program, watching: Watching = {}): Promise<Played> {
  const findings: string[] = [];
  const onRejection = (reason: unknown): void => {
    findings.push(`nobody catches the error: ${String(reason)}`);
  };
  process.on("unhandledRejection", onRejection);
  try {
    const played = await playIn(plan, program, watching);
    return { ...played, findings: [...played.findings, ...findings] };
  } finally {
    process.off("unhandledRejection", onRejection);
  }
}

async function playIn(plan: Plan, program: Program, watching: Watching): Promise<Played> {
  const slowMs = plan.order?.kind === "slow" ? plan.order.ms : 0;
  const ledger = new Ledger(() => world.scheduler.now, slowMs);
  const upstreams: Record<string, object> = {};
  const world = worldOf(plan, program, watching, upstreams);
  const quotas = watchQuotas(plan.limits, world, ledger);
  const parties = new Parties(plan, world, ledger, upstreams);
  parties.start();
  const { outsiders, busy } = parties;
  const faults = new PlannedFaults(plan, { world, ledger, outsiders });
  const isOver = (): boolean =>
    world.scheduler.steps > MAX_STEPS || busy.every(({ isDone }) => isDone);
  await world.run({ untilMs: endOf(plan), isOver });
  if (plan.laptops !== undefined) {
    faults.stop();
    await callOnce({ world, ledger, door: parties.doorOf(0), server: parties.factsOf(0, 0) });
  }
  await world.run({ untilMs: world.elapsed + REST_MS });
  // What was promised in that time is still read.
  const hasRead = (): boolean => ledger.changes.isSettled();
  await world.run({ untilMs: world.elapsed + READ_MS, isOver: hasRead });
  quotas?.look();
  const { met } = faults;
  const isCalm = met.length === 0 && !hasUpheaval(plan);
  ledger.close(isCalm);
  judge(parties, { ledger, isCalm, isBroken: met.length > 0 });
  if (plan.isFollowed === true) {
    parties.leave();
    await world.run({ untilMs: world.elapsed + PATIENCE_MS });
    judgeLeftovers(world, ledger);
  }
  // What breaks under a request is an error of that request, and of the log.
  const unexpected = world.log.find((line) => line.includes('"event":"unexpected_error"'));
  if (met.length === 0 && unexpected !== undefined) ledger.find(`the log says: ${unexpected}`);
  world.close();
  return { findings: ledger.findings, steps: world.scheduler.steps, met, ledger };
}

/** @param upstreams the servers, which are not known yet. */
function worldOf(
  plan: Plan,
  program: Program,
  { trace, observe }: Watching,
  upstreams: object,
): World {
  const { seed, order, limits, delayMs } = plan;
  const lag = lagBy(order, new Random(seed + 2));
  return new World({
    ...{ seed, program, delayMs, objects: OBJECTS },
    choose: chooseBy(order, new Random(seed + 1)),
    ...(lag === undefined ? {} : { lag }),
    vars: {
      ...(hasPeople(plan) ? SIGN_IN : { AUTH_MODE: "none" }),
      ...(plan.laptops === undefined ? {} : { PUBLISHING: "on" }),
      ...(limits === undefined ? {} : { LIMITS: limits }),
      MCP_SERVERS: upstreams,
    },
    ...(trace === undefined
      ? {}
      : { onStep: ({ label }: Step, at: number) => trace(label, at), onNote: trace }),
    ...(observe === undefined ? {} : { observe }),
  });
}

/** Everybody came to an end, and nobody lost an account. */
function judge(
  { busy, holders, vendor }: Parties,
  parts: { readonly ledger: Ledger; readonly isCalm: boolean; readonly isBroken: boolean },
): void {
  const { ledger, isCalm, isBroken } = parts;
  if (isCalm && vendor?.hasRepeated === true)
    ledger.find("a refresh token was sent twice, though nothing was broken");
  for (const { name, isDone } of busy) {
    if (!isDone) ledger.find(`${name} never came to an end`);
  }
  for (const { name, isLost } of holders) {
    // Where a spent token is never good again, an answer that broke on its way has taken it along.
    const mayBeLost = vendor?.habits.rotation === "strict" && isBroken;
    if (isLost && !mayBeLost) ledger.find(`${name} has to connect again`);
  }
}

/** Nobody is there any more. */
function judgeLeftovers(world: World, ledger: Ledger): void {
  for (const left of leftovers(world)) {
    // A session that ends while its fan-out dies stays subscribed until there is news for it.
    const isWatched = ledger.deaths.length > 0 && left.startsWith("FeedObject");
    // An object whose clock is slow is woken for what is not due yet by that.
    const isEarly = ledger.hasClockJumped && left.includes("woken");
    if (!isWatched && !isEarly) ledger.find(`nobody is there, but ${left}`);
  }
}

/** @returns when everybody has come to an end at the latest, in milliseconds from the start. */
function endOf({ faults }: Plan): number {
  const deaths = faults.filter(({ kind }) => kind === "isolate" || kind === "crash");
  const most = deaths.reduce((sum, { times }) => sum + times, 0);
  // What is to be done at a time is done when the clock of its machine, which was set back, says so.
  const behindMs = faults.some(({ kind }) => kind === "clock") ? -Math.min(...JUMPS) : 0;
  return END_MS + HOLD_MS * most + behindMs;
}

/**
 * What people, vendors and operators do ends calls, though nothing is broken: a second laptop takes the name of the
 * first.
 */
function hasUpheaval({ holders = [], laptops = [], operator, publishers, vendor }: Plan): boolean {
  const owners = new Set(laptops.map(({ person }) => person));
  const hasEnds = holders.some(({ ends = 0 }) => ends > 0);
  const isChanged = vendor?.isBusy === true || (operator ?? publishers) !== undefined;
  return hasEnds || isChanged || owners.size < laptops.length;
}
