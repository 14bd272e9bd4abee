/**
 * Plans near to those in which something was found once: the same cast, with another order of events, other habits
 * and other faults. Where one defect was, there may be another, and what is told there is short.
 */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { Random } from "../platform/random.ts";
import type { PlannedFault } from "./faults.ts";
import { orderOf } from "./orders.ts";
import { type Plan, planOf } from "./plan.ts";

/** Plans in which something was found, at the version that had the fault. */
const FOUND = join(import.meta.dirname, "../found");

/** @returns every plan in which something was found, by the name of its file. */
export function foundPlans(): ReadonlyMap<string, Plan> {
  const plans = readdirSync(FOUND).map((file) => {
    const plan = JSON.parse(readFileSync(join(FOUND, file), "utf8")) as Plan;
    return [file, plan] as const;
  });
  return new Map(plans);
}

/** @returns for each seed the same plan, near to one of these. */
export function nearTo(plans: readonly Plan[]): (seed: number) => Plan {
  return (seed) => {
    const random = new Random(seed * 6089 + 47);
    let plan: Plan = { ...random.pick(plans), seed };
    for (let changes = 1 + random.below(4); changes > 0; changes -= 1) {
      plan = random.pick(CHANGES)(plan, random);
    }
    return plan;
  };
}

type Change = (plan: Plan, random: Random) => Plan;

const CHANGES: readonly Change[] = [
  withOtherFault,
  withOtherFault,
  withFaultOnceMore,
  withFaultOfAnother,
  withFaultOfAnother,
  withOtherClient,
  withOtherServer,
  withOtherOrder,
  (plan, random) => ({ ...plan, delayMs: random.pick([0, 2, 30, 400]) }),
];

/** It happens sooner or later, more or less often, or anywhere. */
function withOtherFault(plan: Plan, random: Random): Plan {
  const { faults } = plan;
  const index = random.below(faults.length);
  const fault = faults[index];
  return fault === undefined
    ? plan
    : { ...plan, faults: faults.with(index, otherTime(fault, random)) };
}

function otherTime(fault: PlannedFault, random: Random): PlannedFault {
  const { count } = fault;
  switch (random.below(4)) {
    case 0:
      return { ...fault, count: 1 + random.below(2 * count + 2) };
    case 1:
      return { ...fault, later: random.below(6) };
    case 2:
      return { ...fault, times: random.pick([1, 2, 3, 5, 8]) };
    default: {
      const { where: _anywhere, ...rest } = fault;
      return rest;
    }
  }
}

function withFaultOnceMore(plan: Plan, random: Random): Plan {
  if (plan.faults.length === 0) return plan;
  const fault = otherTime(random.pick(plan.faults), random);
  return { ...plan, faults: [...plan.faults, fault] };
}

/** Clocks jump in plans of their own. */
function withFaultOfAnother(plan: Plan, random: Random): Plan {
  const others = planOf(random.bits()).faults.filter(({ kind }) => kind !== "clock");
  return others.length === 0 ? plan : { ...plan, faults: [...plan.faults, random.pick(others)] };
}

function withOtherClient(plan: Plan, random: Random): Plan {
  const { clients } = plan;
  const index = random.below(clients.length);
  const client = clients[index];
  if (client === undefined) return plan;
  const habits = random.pick([
    { calls: 1 + random.below(4) },
    { reconnectMs: random.pick([0, 9, 1000]) },
    { isHasty: random.chance(0.5) },
    ...("subscribes" in client ? [{ wavers: random.chance(0.5) }] : []),
  ]);
  if (random.chance(0.8))
    return { ...plan, clients: clients.with(index, { ...client, ...habits }) };
  return clients.length > 2 ? plan : { ...plan, clients: [...clients, { ...client, ...habits }] };
}

function withOtherServer(plan: Plan, random: Random): Plan {
  const { servers } = plan;
  const index = random.below(servers.length);
  const server = servers[index];
  if (server === undefined) return plan;
  const habits = random.pick([
    { pauseMs: random.pick([0, 5, 20, 800]) },
    // Where nothing changes, nobody may be able to subscribe.
    ...((server.changes ?? 0) > 0
      ? [{ changes: 1 + random.below(10) }, { changeMs: random.pick([50, 1500, 10_000, 20_000]) }]
      : []),
  ]);
  return { ...plan, servers: servers.with(index, { ...server, ...habits }) };
}

function withOtherOrder(plan: Plan, random: Random): Plan {
  const { order: _before, ...rest } = plan;
  const order = orderOf(random);
  return order === undefined ? rest : { ...rest, order };
}
