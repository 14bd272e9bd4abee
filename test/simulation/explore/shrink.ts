/** Makes a plan that ends in a finding smaller, for as long as it still does. */

import type { Plan } from "./plan.ts";

/** @param fails plays a plan. */
export async function shrink(plan: Plan, fails: (plan: Plan) => Promise<boolean>): Promise<Plan> {
  let smallest = plan;
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false;
    for (const candidate of smaller(smallest)) {
      if (!(await fails(candidate))) continue;
      smallest = candidate;
      isSmaller = true;
      break;
    }
  }
  return smallest;
}

/** Each plan differs in one thing, and the largest differences come first. */
function* smaller(plan: Plan): Generator<Plan> {
  const { clients, faults, servers } = plan;
  for (const index of clients.keys()) {
    if (clients.length > 1) yield { ...plan, clients: clients.toSpliced(index, 1) };
  }
  for (const index of servers.keys()) {
    // An operator changes one of two servers.
    if (plan.operator !== undefined) break;
    if (servers.length === 1 || clients.some(({ server }) => server === index)) continue;
    const moved = clients.map((client) => ({
      ...client,
      server: client.server > index ? client.server - 1 : client.server,
    }));
    yield { ...plan, servers: servers.toSpliced(index, 1), clients: moved };
  }
  for (const index of (plan.intruders ?? []).keys()) {
    yield { ...plan, intruders: plan.intruders?.toSpliced(index, 1) ?? [] };
  }
  for (const index of (plan.laptops ?? []).keys()) {
    if (index > 1) yield { ...plan, laptops: plan.laptops?.toSpliced(index, 1) ?? [] };
  }
  for (const index of (plan.publishers ?? []).keys()) {
    yield { ...plan, publishers: plan.publishers?.toSpliced(index, 1) ?? [] };
  }
  const { operator } = plan;
  if (operator !== undefined && operator.changes > 0)
    yield { ...plan, operator: { ...operator, changes: operator.changes - 1 } };
  for (const index of faults.keys()) yield { ...plan, faults: faults.toSpliced(index, 1) };
  for (const [index, fault] of faults.entries()) {
    if (fault.times > 1) yield { ...plan, faults: faults.with(index, { ...fault, times: 1 }) };
  }
  for (const [index, client] of clients.entries()) {
    for (const change of [
      ...(client.calls > 1 ? [{ calls: client.calls - 1 }] : []),
      ...(client.events > 0 ? [{ events: client.events >> 1 }] : []),
      ...(client.isHasty ? [{ isHasty: false }] : []),
      ...(client.era === "legacy" && client.listens ? [{ listens: false }] : []),
    ]) {
      yield { ...plan, clients: clients.with(index, { ...client, ...change }) };
    }
  }
  for (const name of Object.keys(plan.limits ?? {})) {
    const limits = Object.entries(plan.limits ?? {}).filter(([each]) => each !== name);
    yield { ...plan, limits: Object.fromEntries(limits) };
  }
  if (plan.order !== undefined) {
    const { order: _none, ...rest } = plan;
    yield rest;
  }
  if (plan.delayMs > 0) yield { ...plan, delayMs: 0 };
  for (const [index, server] of servers.entries()) {
    if (server.pauseMs > 0) {
      yield { ...plan, servers: servers.with(index, { ...server, pauseMs: 0 }) };
    }
  }
}
