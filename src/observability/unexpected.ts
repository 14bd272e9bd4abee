/**
 * What is nobody's fault but ours. It is logged whole; whoever asked is told a reference and
 * nothing else.
 */

/** @returns the reference that joins the answer and the log. */
export function logUnexpected(error: unknown): string {
  const reference = crypto.randomUUID();
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  // oxlint-disable-next-line no-console -- the log of a Worker is the console
  console.error({ event: "unexpected_error", reference, error: detail });
  return reference;
}
