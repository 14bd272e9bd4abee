/** Opens a watch in the era that the server is of. */

import { discover, type EraVerdict } from "../../upstream/modern/discover.ts";
import type { UpstreamTarget } from "../../upstream/target.ts";
import { UpstreamError } from "../../upstream/upstream-error.ts";
import { LegacyWatch } from "./legacy-watch.ts";
import { ModernWatch } from "./modern-watch.ts";
import type { OpenWatch, WatchEvents, WatchRequest } from "./watch-port.ts";

/** Timeout of a watch's requests. A call may take minutes, but these requests have no effects. */
const TIMEOUT_MS = 15_000;

/**
 * @returns a watch that has begun, and may be closed at once: its caller need not wait for it.
 * @throws UpstreamError when the era of the server cannot be determined, or is not supported.
 */
export async function openWatch(request: WatchRequest, events: WatchEvents): Promise<OpenWatch> {
  const timeoutMs = Math.min(request.target.timeoutMs, TIMEOUT_MS);
  const hasty: WatchRequest = { ...request, target: { ...request.target, timeoutMs } };
  const { era } = await eraOf(hasty.target);
  switch (era) {
    case "modern":
      return new ModernWatch(hasty, events);
    case "legacy":
      return new LegacyWatch(hasty, events);
    case "unknown-modern": {
      const sentence = "speaks no revision that the gateway knows";
      throw new UpstreamError(request.target.slug, "other-era", sentence);
    }
  }
}

/** A server of both eras is watched in the modern one: it takes one request. */
function eraOf(target: UpstreamTarget): Promise<EraVerdict> | EraVerdict {
  if (target.transport === "sse") return { era: "legacy" };
  return target.era === "modern" ? { era: "modern" } : discover(target);
}
