/**
 * The requests that change nothing, so that one whose outcome is unknown is sent once more. All others are
 * answered with an error then: nothing runs twice.
 */

import { pauseMs } from "../../src/lib/backoff.ts";
import { sleep } from "../../src/lib/sleep.ts";
import { Broken } from "../http/failures.ts";
import { DISCOVER } from "../stdio/message.ts";
import type { Call } from "./calls.ts";

const REPEATABLE: ReadonlySet<string> = new Set([
  "initialize",
  "ping",
  DISCOVER,
  "tools/list",
  "resources/list",
  "resources/templates/list",
  "prompts/list",
  "completion/complete",
  "logging/setLevel",
  "resources/subscribe",
  "resources/unsubscribe",
  "tasks/get",
  "tasks/list",
]);

const MOST_ATTEMPTS = 6;
const PAUSES = { firstMs: 100, maxMs: 2000 } as const;

/**
 * @param asked the requests that are sent; without one it is a notification or an answer, which mean nothing the
 *   second time.
 * @throws what the last attempt throws.
 */
export async function repeated(
  asked: readonly Call[],
  signal: AbortSignal,
  attempt: () => Promise<void>,
): Promise<void> {
  const isRepeatable = asked.every(({ request }) => REPEATABLE.has(request.method));
  for (let attempts = 1; ; attempts++) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (!(error instanceof Broken) || !isRepeatable || attempts === MOST_ATTEMPTS) throw error;
    }
    await sleep(pauseMs(PAUSES, attempts - 1), signal);
  }
}
