/**
 * A modern client that listens hears of resources by the feeds, as everybody does. But some legacy
 * servers tell of what a client does in that client's session alone; so that session, which the
 * bridge holds, is subscribed as well for as long as the client listens.
 */

import { sleep } from "../../lib/sleep.ts";
import type { JsonObject } from "../../protocol/json-rpc.ts";
import { discover } from "../../upstream/modern/discover.ts";
import type { UpstreamTarget } from "../../upstream/target.ts";
import type { BridgeScope } from "./bridge-scope.ts";
import type { Bridge, ResourceUpdates } from "./bridge.ts";

const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 5000;
/** Of the way to the session, one after the other: what a client hears by the feeds is not lost. */
const MAX_FAILURES = 12;
/** One that breaks sooner than this is one more that failed. */
const MIN_LIFE_MS = 1000;

/**
 * Hears of resources in the session that the client has at a legacy server, if it has one there.
 * Returns at once, never throws, and ends with its signal.
 *
 * @param capabilities as the client declared them.
 */
export function listenInSession(
  { bridges, principal, waitUntil }: BridgeScope,
  target: UpstreamTarget,
  capabilities: JsonObject,
  uris: readonly string[],
  onUpdated: (uri: string) => void,
  signal: AbortSignal,
): void {
  const reach = async (): Promise<Bridge | undefined> => {
    const { era } = await discover(target);
    // A modern server has no sessions in which it could tell anything.
    return era === "legacy" ? bridges.at(principal, target, capabilities) : undefined;
  };
  // Whoever listens has hung up.
  waitUntil(listenForResources(reach, uris, onUpdated, signal).catch(() => undefined));
}

async function listenForResources(
  reach: () => Promise<Bridge | undefined>,
  uris: readonly string[],
  onUpdated: (uri: string) => void,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; failures < MAX_FAILURES; failures++) {
    if (failures > 0) await sleep(pauseMs(failures), signal);
    signal.throwIfAborted();
    try {
      const bridge = await reach();
      if (bridge === undefined) return;
      const updates = await bridge.listenForResources(uris);
      const openedAt = Date.now();
      await listenTo(updates, onUpdated, signal);
      if (Date.now() - openedAt >= MIN_LIFE_MS) failures = 0;
    } catch {
      // The server is not to be had, or the holder is being restarted.
    }
  }
}

/** Until nothing is told any more, or nobody wants to hear it. */
async function listenTo(
  updates: ResourceUpdates,
  onUpdated: (uri: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const hangUp = (): void => updates.close();
  signal.addEventListener("abort", hangUp, { once: true });
  // Who has hung up meanwhile found nothing to close.
  if (signal.aborted) hangUp();
  try {
    for (;;) {
      const uri = await updates.next();
      if (uri === undefined || signal.aborted) return;
      onUpdated(uri);
    }
  } finally {
    signal.removeEventListener("abort", hangUp);
    updates.close();
  }
}

function pauseMs(failures: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), MAX_PAUSE_MS);
}
