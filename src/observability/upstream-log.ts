/** Logs why a call or a catalog read did not reach its server, with one line for each. */

export interface UpstreamLine {
  readonly server: string;
  /** One word of the gateway's. */
  readonly reason: string;
  /** The platform's error of the connection, in a few words of the gateway's. */
  readonly cause?: string | undefined;
  readonly status?: number | undefined;
}

export function logUpstream({ server, reason, cause, status }: UpstreamLine): void {
  const line = { event: "upstream_failed", server, reason, cause, status };
  // oxlint-disable-next-line no-console -- the log of a Worker is the console
  console.warn(JSON.stringify(line));
}
