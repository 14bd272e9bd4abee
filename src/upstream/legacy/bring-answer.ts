/**
 * Brings a server the answer to one of its questions. A person may have given it, and nobody will give
 * it again: where the connection breaks it is brought once more. The server knows it by its id, so
 * one that it has already means nothing to it.
 */

import type { JsonRpcResponse } from "../../protocol/json-rpc.ts";
import { UpstreamError, type UpstreamFailure } from "../upstream-error.ts";
import type { Wire } from "./wire.ts";

const ATTEMPTS = 4;
const FIRST_PAUSE_MS = 100;
/** Nothing is known of what was sent. */
const BROKEN: ReadonlySet<UpstreamFailure> = new Set(["unreachable", "lost"]);

/**
 * Never rejects.
 *
 * @returns `true` when the server has it, or has refused it: then it will not have it later either.
 *   Else its own time-out tells it.
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
    await new Promise((resolve) => setTimeout(resolve, FIRST_PAUSE_MS * 2 ** (attempt - 1)));
  }
}
