/** What tests of subscriptions see of the objects that carry the news. */

import { listDurableObjectIds, runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { vi } from "vitest";

import type { ServerHealth } from "../../src/observability/health.ts";
import { until } from "./bounded.ts";
import type { Upstream } from "./upstream.ts";

/** How long the branches wait whether somebody who has left comes back. */
const LEAVE_MS = 30_000;

function healthOf({ slug }: Upstream): Promise<ServerHealth> {
  return env.FEEDS.get(env.FEEDS.idFromName(`shared ${slug}`)).health();
}

/** Waits until so many topics of a server are wanted by anybody. */
export async function wanted(upstream: Upstream, count: number): Promise<void> {
  const isSo = async (): Promise<true | undefined> =>
    (await healthOf(upstream)).watched === count ? true : undefined;
  await until(isSo, `${count} topics of ${upstream.slug} to be wanted`);
}

/** Waits until that is so once everybody who has left is taken to have left. */
export async function wantedAfterAll(upstream: Upstream, count: number): Promise<void> {
  vi.useFakeTimers({ toFake: ["Date"] });
  try {
    const isSo = async (): Promise<true | undefined> => {
      vi.setSystemTime(Date.now() + LEAVE_MS);
      for (const id of await listDurableObjectIds(env.FAN_OUT)) {
        await runDurableObjectAlarm(env.FAN_OUT.get(id));
      }
      return (await healthOf(upstream)).watched === count ? true : undefined;
    };
    await until(isSo, `${count} topics of ${upstream.slug} to be wanted after all`);
  } finally {
    vi.useRealTimers();
  }
}
