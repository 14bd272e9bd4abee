/** How an upstream is, as the operator reads it. Plain data. */

/** `failing` is served from what was known; `down` has nothing to be served from. */
export type HealthState = "unknown" | "healthy" | "failing" | "down";

/** Resources that two servers speak for: the one that is configured earlier has them. */
export interface ResourceConflict {
  /** A sentence that quotes nothing of the servers'. */
  readonly message: string;
  /** The first of the URIs and templates that it is about, as the servers spell them. */
  readonly uris: readonly string[];
}

export interface ServerHealth {
  readonly slug: string;
  readonly state: HealthState;
  /** Why it is not healthy, in a sentence that quotes nothing of the server's. */
  readonly trouble?: { readonly reason: string; readonly message: string; readonly since: number };
  /** When its catalog was last had, in milliseconds since 1970. */
  readonly seenAt?: number;
  /** How many of each it lists, in the newest catalog. */
  readonly counts: Readonly<Record<"tools" | "resources" | "templates" | "prompts", number>>;
  /** What it gives up to servers that are configured earlier. */
  readonly conflicts?: readonly ResourceConflict[];
  /** How many topics clients want to hear of, and whether the watch on them stands. */
  readonly watched: number;
  readonly isWatching: boolean;
}
