/** What a relay is told by the command line. */
export interface RelayOptions {
  /** How long what the host sends waits for a gateway that is away, in milliseconds. */
  readonly deadlineMs: number;
  /** Tells the person at stderr. */
  readonly notice: (text: string) => void;
}

/** Not the wall clock: a laptop that was asleep has not waited. */
export function deadlineOf({ deadlineMs }: Pick<RelayOptions, "deadlineMs">): number {
  return performance.now() + deadlineMs;
}
