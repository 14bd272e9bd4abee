/**
 * Logs a defect of the gateway with all details; the client gets only a reference.
 */

/** @returns the reference that joins the answer and the log. */
export function logUnexpected(error: unknown): string {
  const reference = crypto.randomUUID();
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  // oxlint-disable-next-line no-console -- the log of a Worker is the console
  console.error({ event: "unexpected_error", reference, error: detail });
  return reference;
}
