/**
 * A session from nothing to its first answer: `initialize`, `notifications/initialized` and a call,
 * since some do their work at the first and some at the last.
 */

import { takeTurns } from "../turns.ts";
import { naming, withServers } from "../machinery/field.ts";
import { ask, legacyCall, openSession } from "../machinery/mcp.ts";
import {
  startHosting,
  startMcpAgent,
  startMcpProxy,
  startNodeServer,
} from "../machinery/servers.ts";
import { OURS, P50, type Result, SESSIONS } from "../row.ts";
import { percentile } from "../statistics.ts";
import type { Plan } from "./plan.ts";

const AT_ONCE = 4;

export function measureSetUp({ seconds, say, ...pace }: Plan): Promise<readonly Result[]> {
  const contenders = [
    { name: OURS, start: () => startHosting() },
    { name: "McpAgent", start: () => startMcpAgent() },
    { name: "SDK on Node", start: startNodeServer },
    { name: "mcp-proxy", start: startMcpProxy },
  ];
  return withServers(contenders, async (running) => {
    say("set-up");
    const participants = running.map(({ name, server: { url } }) => ({
      name,
      sample: async () => {
        const { sessions, p50 } = await openMany(url, seconds);
        return { sessions, p50 };
      },
    }));
    for (const { name, sample } of participants) await naming(name, sample); // it warms up
    const measured = await takeTurns(participants, pace);
    const variant = `${AT_ONCE} at once`;
    return [{ row: "set-up", variant, metrics: [SESSIONS, P50], measured, notes: [] }];
  });
}

/** @returns how many sessions were opened, how many each second, and what one took, in ms. */
export async function openMany(
  url: string,
  seconds: number,
): Promise<{ readonly count: number; readonly sessions: number; readonly p50: number }> {
  const times: number[] = [];
  const startedAt = performance.now();
  const work = async (): Promise<void> => {
    for (let now = startedAt; now < startedAt + seconds * 1000;) {
      const openedAt = performance.now();
      await openAndCall(url);
      now = performance.now();
      times.push(now - openedAt);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const elapsed = (performance.now() - startedAt) / 1000;
  return { count: times.length, sessions: times.length / elapsed, p50: percentile(times, 0.5) };
}

/** @returns the headers of the session. */
export async function openAndCall(url: string): Promise<Readonly<Record<string, string>>> {
  const session = await openSession(url);
  await ask(url, legacyCall(session));
  return session;
}
