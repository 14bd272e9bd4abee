/**
 * A modern client that listens receives resource updates from the feeds, like every client. But some
 * legacy servers send the updates that a client causes in that client's session alone; so that
 * session, which the bridge holds, is subscribed as well for as long as the client listens.
 */

import { type Backoff, pauseMs } from "../../lib/backoff.ts";
import { sleep } from "../../lib/sleep.ts";
import type { JsonObject } from "../../protocol/json-rpc.ts";
import { discover } from "../../upstream/modern/discover.ts";
import type { UpstreamTarget } from "../../upstream/target.ts";
import type { Bridge, BridgeScope, ResourceUpdates } from "./bridge.ts";

const BACKOFF: Backoff = { firstMs: 50, maxMs: 5000 };
/** Updates that end sooner than this count as one more failure. */
const MIN_LIFE_MS = 1000;

/**
 * Listens for resource updates in the client's session at a legacy server, if it has one there.
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
    // A modern server has no sessions.
    return era === "legacy" ? bridges.at(principal, target, capabilities) : undefined;
  };
  // It rejects when the client has disconnected.
  waitUntil(listenForResources(reach, uris, onUpdated, signal).catch(() => undefined));
}

async function listenForResources(
  reach: () => Promise<Bridge | undefined>,
  uris: readonly string[],
  onUpdated: (uri: string) => void,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; ; failures++) {
    if (failures > 0) await sleep(pauseMs(BACKOFF, failures - 1), signal);
    signal.throwIfAborted();
    try {
      const bridge = await reach();
      if (bridge === undefined) return;
      const updates = await bridge.listenForResources(uris);
      const openedAt = Date.now();
      await listenTo(updates, onUpdated, signal);
      if (Date.now() - openedAt >= MIN_LIFE_MS) failures = 0;
    } catch {
      // The server cannot be reached, or the holder is being restarted.
    }
  }
}

/** Returns when the updates have ended or the signal is aborted. */
async function listenTo(
  updates: ResourceUpdates,
  onUpdated: (uri: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const hangUp = (): void => updates.close();
  signal.addEventListener("abort", hangUp, { once: true });
  // The client may have disconnected before the updates were there to be closed.
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
