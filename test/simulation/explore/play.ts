/** Plays one plan in one world, and checks the model. */

import { AccountHolder } from "../outside/account-holder.ts";
import type { Actor } from "../outside/actor.ts";
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
import { chooseBy } from "./orders.ts";
import { type FaultKind, JUMPS, type Plan } from "./plan.ts";

export interface Played {
  readonly findings: readonly string[];
  readonly steps: number;
  /** Kinds of faults that found something to break. */
  readonly met: readonly FaultKind[];
  readonly ledger: Ledger;
  readonly world: World;
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

/** Accounts are people's, who sign in. */
const SIGN_IN = {
  AUTH_MODE: "oauth",
  PUBLIC_ORIGIN: "https://gw.example.com",
  OWNER_CODE: "an owner's code of the simulation",
  VAULT_SECRET: "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY",
};
const VENDORS = { url: "https://vend.example.com/mcp", auth: "oauth" };

/** A server may hold a call that it has forgotten until the gateway ends it, and so with the next. */
const END_MS = 1_800_000;
/** What could still come too late, or twice, has come by then. */
const REST_MS = 5000;

export interface Watching {
  /** Called for each step and each message outside. @param at in milliseconds from the start. */
  readonly trace?: ((text: string, at: number) => void) | undefined;
  readonly observe?: ((what: string) => void) | undefined;
}

export async function play(
  plan: Plan,
  program: Program,
  { trace, observe }: Watching = {},
): Promise<Played> {
  const ledger = new Ledger();
  const upstreams: Record<string, object> = {};
  const world = new World({
    seed: plan.seed,
    program,
    choose: chooseBy(plan.order, new Random(plan.seed + 1)),
    objects: OBJECTS,
    vars: {
      ...(plan.vendor === undefined ? { AUTH_MODE: "none" } : SIGN_IN),
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
  const servers = plan.servers.map((habits, index) => {
    const name = `server${index}`;
    const server =
      habits.era === "modern"
        ? new ModernServer(world, name, habits, ledger)
        : new LegacyServer(world, name, habits, ledger);
    upstreams[server.name] = { url: server.url };
    return server;
  });
  const clients = plan.clients.map(({ server, ...habits }, index) => {
    const its = servers[server];
    if (its === undefined) throw new Error(`The plan has no server ${server}`);
    const { name, isKept } = its;
    const prefix = servers.length === 1 ? "" : `${name}__`;
    const hasRestart = plan.faults.some(({ kind }) => kind === "server");
    const isModern = its.habits.era === "modern";
    const facts = {
      ...{ name, isKept: isKept && !hasRestart, isModern, prefix },
      uris: servers.flatMap(({ changing }) => changing.uris),
      announcesLists: servers.length > 1 || isModern,
      isDone: () => servers.every(({ changing }) => changing.isDone),
    };
    const parts = { ledger, server: facts };
    if (habits.era === "sse") return new SseClient(world, `client${index}`, habits, parts);
    return habits.era === "modern"
      ? new ModernClient(world, `client${index}`, habits, parts)
      : new LegacyClient(world, `client${index}`, habits, parts);
  });
  const find = (finding: string): void => ledger.find(finding);
  const vendor = plan.vendor === undefined ? undefined : new Vendor(world, plan.vendor, find);
  if (vendor !== undefined) upstreams["vend"] = { ...VENDORS, oauth: vendor.settings };
  const holders = (plan.holders ?? []).flatMap((habits, index) =>
    vendor === undefined ? [] : [new AccountHolder(world, `p${index}`, habits, { vendor, find })],
  );
  const outsiders = [...servers, ...(vendor === undefined ? [] : [vendor])];
  for (const { changing } of servers) changing.start();
  for (const each of [...clients, ...holders]) each.start();
  const met: FaultKind[] = [];
  const waiting = new Set(plan.faults.map((fault, index) => ({ ...fault, index })));
  world.onStep((label) => {
    for (const fault of waiting) {
      if (fault.count > 0) fault.count -= label.includes(fault.moment) ? 1 : 0;
      else if (fault.later > 0) fault.later -= 1;
      else {
        waiting.delete(fault);
        const { times } = fault;
        const planned = plan.faults[fault.index];
        if (times > 1 && planned !== undefined) {
          waiting.add({ ...planned, times: times - 1, index: fault.index });
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
  const isOver = (): boolean => [...clients, ...holders].every(({ isDone }) => isDone);
  await world.run({ untilMs: END_MS, isOver });
  await world.run({ untilMs: world.elapsed + REST_MS });
  ledger.close(met.length === 0);
  for (const { name, isDone, isLost } of holders) {
    if (!isDone) ledger.find(`${name} never came to an end`);
    // Where a spent token is never good again, an answer that broke on its way has taken it along.
    const mayBeLost = plan.vendor?.rotation === "strict" && met.length > 0;
    if (isLost && !mayBeLost) ledger.find(`${name} has to connect again`);
  }
  // What breaks under a request is an error of that request, and of the log.
  const unexpected = world.log.find((line) => line.includes('"event":"unexpected_error"'));
  if (met.length === 0 && unexpected !== undefined) ledger.find(`the log says: ${unexpected}`);
  return { findings: ledger.findings, steps: world.scheduler.steps, met, ledger, world };
}

/** @returns what broke, if there was anything of the kind. */
function befall(
  { kind, where = "" }: Plan["faults"][number],
  world: World,
  outsiders: readonly Actor[],
): readonly string[] {
  const { random, network } = world;
  switch (kind) {
    case "cut-client":
    case "cut-inside": {
      const isClients = kind === "cut-client";
      const open = [...network.open].filter(
        ({ label }) => label.startsWith("client") === isClients,
      );
      if (open.length === 0) return [];
      const connection = random.pick(preferred(open, ({ label }) => label.includes(where)));
      connection.cut();
      return [connection.label];
    }
    case "crash": {
      const lives = [...world.lives()];
      if (lives.length === 0) return [];
      const life = random.pick(preferred(lives, ({ name }) => name.includes(where)));
      life.die();
      return [life.name];
    }
    case "sleep": {
      const idle = [...world.lives()].filter(({ isIdle }) => isIdle);
      if (idle.length === 0) return [];
      const life = random.pick(preferred(idle, ({ name }) => name.includes(where)));
      life.slot.sleep();
      return [life.name];
    }
    case "isolate": {
      const alive = world.isolates.filter(({ isAlive }) => isAlive);
      if (alive.length === 0) return [];
      const isolate = random.pick(alive);
      const names = [...isolate.contexts].map(({ name }) => name);
      isolate.end();
      return [`isolate ${isolate.name}`, ...names];
    }
    case "clock": {
      const alive = world.isolates.filter(({ isAlive }) => isAlive);
      if (alive.length === 0) return [];
      const isolate = random.pick(alive);
      const ms = random.pick(JUMPS);
      world.jump(isolate, ms);
      return [`isolate ${isolate.name} is off by ${ms} ms`];
    }
    case "server": {
      const server = random.pick(outsiders);
      server.restart();
      return [server.name];
    }
  }
}

/** @returns those of the items, or all where there are none. */
function preferred<T>(items: readonly T[], isPreferred: (item: T) => boolean): readonly T[] {
  const some = items.filter(isPreferred);
  return some.length > 0 ? some : items;
}
