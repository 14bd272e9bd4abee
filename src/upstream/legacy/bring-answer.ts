/**
 * Sends a server the answer to one of its requests. A person may have given the answer and will not
 * give it again, so it is sent once more when the connection breaks. The server matches answers by
 * their id and ignores one that it already has.
 */

import { type Backoff, pauseMs } from "../../lib/backoff.ts";
import type { JsonRpcResponse } from "../../protocol/json-rpc.ts";
import { UpstreamError, type UpstreamFailure } from "../upstream-error.ts";
import type { Wire } from "./wire.ts";

const ATTEMPTS = 4;
const BACKOFF: Backoff = { firstMs: 100 };
/** The server may or may not have received the message. */
const BROKEN: ReadonlySet<UpstreamFailure> = new Set(["unreachable", "lost"]);

/**
 * Never rejects.
 *
 * @returns `true` when the server has the answer or has refused it, which no later attempt would
 *   change. On `false` the server's own time-out ends its request.
 */
export async function bringAnswer(wire: Wire, answer: JsonRpcResponse): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      await wire.post(answer);
      return true;
    } catch (error) {
      const isBroken = error instanceof UpstreamError && BROKEN.has(error.failure);
      if (!isBroken) return true;
      if (attempt === ATTEMPTS) return false;
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs(BACKOFF, attempt - 1)));
  }
}
