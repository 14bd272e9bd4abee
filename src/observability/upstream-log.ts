/** Why a call, or the reading of a catalog, did not get through to its server: one line for each. */

export interface UpstreamLine {
  readonly server: string;
  /** One word of our own. */
  readonly reason: string;
  /** In a few words of our own, what the platform says of the connection. */
  readonly cause?: string | undefined;
  readonly status?: number | undefined;
}

export function logUpstream({ server, reason, cause, status }: UpstreamLine): void {
  const line = { event: "upstream_failed", server, reason, cause, status };
  // oxlint-disable-next-line no-console -- the log of a Worker is the console
  console.warn(JSON.stringify(line));
}
