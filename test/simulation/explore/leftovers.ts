/** What is left when everybody has gone and every limit has passed: nothing that runs, and no events. */

import type { World } from "../platform/world.ts";
import { keptTooLong } from "./quotas.ts";

/** Longer than a session stays subscribed after its last message, and than anything waits. */
export const PATIENCE_MS = 3 * 3_600_000;
/** A feed that has subscribers, and a session whose calls run, wake every 30 seconds. */
const SOON_MS = 20_000;

/** @returns what should not be there. */
export function leftovers(world: World): readonly string[] {
  const lives = [...world.lives()].flatMap(({ name, busy, hasTimers }) => [
    ...(busy > 0 ? [`${name} waits for something`] : []),
    ...(hasTimers ? [`${name} has a timer`] : []),
  ]);
  // Time stands still where nothing is left to do.
  const elapsedMs = Math.max(world.elapsed, PATIENCE_MS);
  const wakeful = [...world.slots()]
    .filter(({ alarm }) => alarm.times > elapsedMs / SOON_MS)
    .map(({ name, alarm }) => `${name} has woken ${alarm.times} times`);
  const workers = world.isolates.flatMap(({ contexts }) =>
    [...contexts].filter(({ name }) => name.startsWith("Worker")).map(({ name }) => name),
  );
  // The stream of a server of HTTP+SSE is its session, which lasts as long as the client's.
  const connections = [...world.network.open].filter(({ label }) => !label.includes(" /sse "));
  return [
    ...lives,
    ...wakeful,
    ...workers,
    ...connections.map(({ label }) => label),
    ...keptTooLong(world),
  ];
}
