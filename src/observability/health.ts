/** How an upstream is, as the operator reads it. Plain data. */

/** `failing` is served from what was known; `down` has nothing to be served from. */
export type HealthState = "unknown" | "healthy" | "failing" | "down";

export interface ServerHealth {
  readonly slug: string;
  readonly state: HealthState;
  /** Why it is not healthy, in a sentence that quotes nothing of the server's. */
  readonly trouble?: { readonly reason: string; readonly message: string; readonly since: number };
  /** When its catalog was last had, in milliseconds since 1970. */
  readonly seenAt?: number;
  /** How many of each it lists, in the newest catalog. */
  readonly counts: Readonly<Record<"tools" | "resources" | "templates" | "prompts", number>>;
  /** How many topics clients want to hear of, and whether the watch on them stands. */
  readonly watched: number;
  readonly isWatching: boolean;
}
