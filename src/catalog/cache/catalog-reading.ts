/** One reading of a catalog within a time limit, and its failure in words for the user. */

import { logUnexpected } from "../../observability/unexpected.ts";
import { UpstreamError } from "../../upstream/upstream-error.ts";
import type { Trouble } from "../catalog.ts";
import type { ReadCatalog } from "../read/read-catalog.ts";

/**
 * Ends in time even if `read` ignores the signal.
 *
 * @throws UpstreamError as `read` does, and when the time is over.
 */
export async function readWithin(
  slug: string,
  seconds: number,
  read: (signal: AbortSignal) => Promise<ReadCatalog>,
): Promise<ReadCatalog> {
  const controller = new AbortController();
  const { promise: isOver, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const sentence = `did not list everything that it has within ${seconds} s`;
    const late = new UpstreamError(slug, "timeout", sentence);
    reject(late);
    controller.abort(late);
  }, seconds * 1000);
  try {
    return await Promise.race([read(controller.signal), isOver]);
  } finally {
    clearTimeout(timer);
  }
}

export function troubleFrom(slug: string, error: unknown): Omit<Trouble, "since"> {
  if (error instanceof UpstreamError) return { reason: error.failure, message: error.message };
  const reference = logUnexpected(error);
  const message = `The gateway failed on the way to upstream "${slug}" (reference ${reference})`;
  return { reason: "internal", message };
}
