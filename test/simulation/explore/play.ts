/** Plays one plan in one world, and checks the model. */

import { AccountHolder } from "../outside/account-holder.ts";
import { guard, SHARED } from "../outside/guarded.ts";
import { Door, SIGN_IN } from "../outside/door.ts";
import { Intruder } from "../outside/intruder.ts";
import { Laptop } from "../outside/laptop.ts";
import { LegacyClient } from "../outside/legacy-client.ts";
import { LegacyServer } from "../outside/legacy-server.ts";
import { Ledger } from "../outside/ledger.ts";
import { ModernClient } from "../outside/modern-client.ts";
import { ModernServer } from "../outside/modern-server.ts";
import { SseClient } from "../outside/sse-client.ts";
import { Vendor } from "../outside/vendor.ts";
import type { Program } from "../platform/isolate.ts";
import { Random } from "../platform/random.ts";
import type { Step } from "../platform/scheduler.ts";
import { World } from "../platform/world.ts";
import { befall } from "./befall.ts";
import { callOnce, publishedFacts } from "./calls-of-published.ts";
import { leftovers, PATIENCE_MS } from "./leftovers.ts";
import { isMoment } from "./moments.ts";
import { chooseBy, lagBy } from "./orders.ts";
import { hasPeople } from "./people.ts";
import type { FaultKind, Plan } from "./plan.ts";
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

const VENDORS = { url: "https://vend.example.com/mcp", auth: "oauth" };

/** A server may hold a call that it has forgotten until the gateway ends it, and so with the next. */
const END_MS = 1_800_000;
/** The time for which it is held, which begins anew with each life of the object that waits. */
const HOLD_MS = 300_000;
/** Many times what the largest plan takes. */
const MAX_STEPS = 300_000;
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
    findings.push(`a promise was rejected, and nobody waits for it: ${String(reason)}`);
  };
  process.on("unhandledRejection", onRejection);
  try {
    const played = await playIn(plan, program, watching);
    return { ...played, findings: [...played.findings, ...findings] };
  } finally {
    process.off("unhandledRejection", onRejection);
  }
}

async function playIn(plan: Plan, program: Program, { trace, observe }: Watching): Promise<Played> {
  const ledger = new Ledger(
    () => world.scheduler.now,
    plan.order?.kind === "slow" ? plan.order.ms : 0,
  );
  const upstreams: Record<string, object> = {};
  const lag = lagBy(plan.order, new Random(plan.seed + 2));
  const world = new World({
    seed: plan.seed,
    program,
    ...(lag === undefined ? {} : { lag }),
    choose: chooseBy(plan.order, new Random(plan.seed + 1)),
    objects: OBJECTS,
    vars: {
      ...(hasPeople(plan) ? SIGN_IN : { AUTH_MODE: "none" }),
      ...(plan.laptops === undefined ? {} : { PUBLISHING: "on" }),
      ...(plan.limits === undefined ? {} : { LIMITS: plan.limits }),
      get MCP_SERVERS() {
        return upstreams;
      },
    },
    ...(trace === undefined
      ? {}
      : { onStep: ({ label }: Step, at: number) => trace(label, at), onNote: trace }),
    ...(observe === undefined ? {} : { observe }),
    delayMs: plan.delayMs,
  });
  const quotas = watchQuotas(plan.limits, world, ledger);
  const servers = plan.servers.map((habits, index) => {
    const name = `server${index}`;
    const server =
      habits.era === "modern"
        ? new ModernServer(world, name, habits, ledger)
        : new LegacyServer(world, name, habits, ledger);
    upstreams[server.name] = { url: server.url };
    return server;
  });
  const doorOf = (person?: number): Door =>
    new Door(world, person === undefined ? undefined : `p${person}`);
  const laptops = (plan.laptops ?? []).map(
    (habits, index) =>
      new Laptop(world, `laptop${index}`, habits, { ledger, door: doorOf(habits.person) }),
  );
  const find = (finding: string): void => ledger.find(finding);
  const clients = plan.clients.map(({ server, person, ...habits }, index) => {
    const its = servers[server];
    if (its === undefined) throw new Error(`The plan has no server ${server}`);
    const { name, isKept } = its;
    const clientName = `client${index}`;
    const owner = plan.login === "oauth-shared" ? SHARED : `p${person}`;
    if (plan.login !== undefined || plan.laptops !== undefined)
      ledger.owners.of.set(clientName, owner);
    const prefix = servers.length === 1 ? "" : `${name}__`;
    // A server may forget, and so may the gateway, by a clock that says that the time for it has come.
    const mayForget = plan.faults.some(({ kind }) => kind === "server" || kind === "clock");
    const isModern = its.habits.era === "modern";
    const usual = {
      ...{ name, isModern, prefix },
      // An account may be gone when a stream is taken up.
      isKept: isKept && !mayForget && plan.login === undefined,
      isReady: () => holders.every((each) => each.name !== owner || each.isConnected),
      uris: servers.flatMap(({ changing }) => changing.uris),
      announcesLists: servers.length > 1 || isModern,
      isDone: () => servers.every(({ changing }) => changing.isDone),
    };
    const facts = plan.laptops === undefined ? usual : publishedFacts(usual, laptops, person);
    const parts = { ledger, server: facts, door: doorOf(person) };
    if (habits.era === "sse") return new SseClient(world, clientName, habits, parts);
    return habits.era === "modern"
      ? new ModernClient(world, clientName, habits, parts)
      : new LegacyClient(world, clientName, habits, parts);
  });
  const vendor = plan.vendor === undefined ? undefined : new Vendor(world, plan.vendor, find);
  if (vendor !== undefined && plan.login === undefined)
    upstreams["vend"] = { ...VENDORS, oauth: vendor.settings };
  for (const { name, url } of vendor === undefined || plan.login === undefined ? [] : servers) {
    upstreams[name] = { url, auth: plan.login, oauth: vendor?.settings };
    if (vendor !== undefined) guard(world.network, url, vendor, ledger);
  }
  const holders = (plan.holders ?? []).flatMap((habits, index) => {
    const name = plan.login === "oauth-shared" ? SHARED : `p${index}`;
    const slug = plan.login === undefined ? "vend" : "server0";
    return vendor === undefined
      ? []
      : [new AccountHolder(world, name, habits, { vendor, find, slug })];
  });
  const outsiders = [...servers, ...laptops, ...(vendor === undefined ? [] : [vendor])];
  for (const { changing } of servers) changing.start();
  const intruders = (plan.intruders ?? []).map(
    (habits, index) =>
      new Intruder(world, `client of an intruder${index}`, habits, {
        ledger,
        door: doorOf(habits.person),
      }),
  );
  for (const each of [...clients, ...holders, ...laptops, ...intruders]) each.start();
  const met: FaultKind[] = [];
  const waiting = new Set(plan.faults.map((fault, index) => ({ ...fault, index, after: "" })));
  world.onStep((label) => {
    for (const fault of waiting) {
      if (fault.count > 0) {
        if (!isMoment(label, fault.moment)) continue;
        fault.count -= 1;
        fault.after = label;
      } else if (fault.later > 0) fault.later -= 1;
      else {
        waiting.delete(fault);
        const { times } = fault;
        const planned = plan.faults[fault.index];
        if (times > 1 && planned !== undefined) {
          waiting.add({ ...planned, times: times - 1, index: fault.index, after: "" });
        }
        const broken = befall(fault, world, outsiders);
        if (broken.length === 0) continue;
        world.note(`FAULT ${fault.kind}: ${broken.join(", ")}`);
        ledger.broke(fault.kind, broken);
        met.push(fault.kind);
        if (!["cut-client", "cut-inside", "sleep", "clock"].includes(fault.kind))
          ledger.deaths.push(world.scheduler.now);
      }
    }
  });
  const isOver = (): boolean =>
    world.scheduler.steps > MAX_STEPS || [...clients, ...holders].every(({ isDone }) => isDone);
  await world.run({ untilMs: END_MS + HOLD_MS * deathsIn(plan), isOver });
  if (plan.laptops !== undefined) {
    waiting.clear();
    await callOnce({ world, ledger, door: doorOf(0), laptops });
  }
  await world.run({ untilMs: world.elapsed + REST_MS });
  // What was promised in that time is still read.
  const hasRead = (): boolean => ledger.changes.isSettled();
  await world.run({ untilMs: world.elapsed + READ_MS, isOver: hasRead });
  quotas?.look();
  const isCalm = met.length === 0 && !hasUpheaval(plan);
  ledger.close(isCalm);
  if (isCalm && vendor?.hasRepeated === true)
    ledger.find("a refresh token was sent twice, though nothing was broken");
  for (const { name, isDone } of [...clients, ...holders]) {
    if (!isDone) ledger.find(`${name} never came to an end`);
  }
  for (const { name, isLost } of holders) {
    // Where a spent token is never good again, an answer that broke on its way has taken it along.
    const mayBeLost = plan.vendor?.rotation === "strict" && met.length > 0;
    if (isLost && !mayBeLost) ledger.find(`${name} has to connect again`);
  }
  if (plan.isFollowed === true) {
    for (const each of [...clients, ...holders, ...laptops, ...intruders]) each.context.end();
    await world.run({ untilMs: world.elapsed + PATIENCE_MS });
    for (const left of leftovers(world)) {
      // A session that ends while its fan-out dies stays subscribed until there is news for it.
      const isWatched = ledger.deaths.length > 0 && left.startsWith("FeedObject");
      // An object whose clock is slow is woken for what is not due yet by that.
      const isEarly = ledger.hasClockJumped && left.includes("woken");
      if (!isWatched && !isEarly) ledger.find(`nobody is there, but ${left}`);
    }
  }
  // What breaks under a request is an error of that request, and of the log.
  const unexpected = world.log.find((line) => line.includes('"event":"unexpected_error"'));
  if (met.length === 0 && unexpected !== undefined) ledger.find(`the log says: ${unexpected}`);
  world.close();
  return { findings: ledger.findings, steps: world.scheduler.steps, met, ledger };
}

/** How often something may die, at the most. */
function deathsIn({ faults }: Plan): number {
  const deaths = faults.filter(({ kind }) => kind === "isolate" || kind === "crash");
  return deaths.reduce((sum, { times }) => sum + times, 0);
}

/** What people and vendors do ends calls, though nothing is broken: a second laptop takes the name of the first. */
function hasUpheaval({ holders = [], laptops = [], vendor }: Plan): boolean {
  const owners = new Set(laptops.map(({ person }) => person));
  const hasEnds = holders.some(({ ends }) => ends === true);
  return hasEnds || vendor?.isBusy === true || owners.size < laptops.length;
}
