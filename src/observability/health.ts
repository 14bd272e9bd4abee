/** The health of a server, as the operator reads it. Plain data. */

/** `failing`: the last catalog is served. `down`: there is no catalog to serve. */
export type HealthState = "unknown" | "healthy" | "failing" | "down";

/** Resources that two servers list: the server that is configured first keeps them. */
export interface ResourceConflict {
  /** A sentence that quotes no text of the servers. */
  readonly message: string;
  /** The first of the URIs and templates in conflict, as the servers spell them. */
  readonly uris: readonly string[];
}

export interface ServerHealth {
  readonly slug: string;
  readonly state: HealthState;
  /** The cause of a failure, in a sentence that quotes no text of the server. */
  readonly trouble?: { readonly reason: string; readonly message: string; readonly since: number };
  /** Why nothing of this is known of the server as a whole, where that is as it should be. */
  readonly note?: string;
  /** When its catalog was last read, in milliseconds since 1970. */
  readonly seenAt?: number;
  /** The number of items of each kind in the newest catalog. */
  readonly counts: Readonly<Record<"tools" | "resources" | "templates" | "prompts", number>>;
  /** The resources that it loses to servers that are configured earlier. */
  readonly conflicts?: readonly ResourceConflict[];
  /** The number of topics with subscribers; `isWatching` while the watch on them is up. */
  readonly watched: number;
  readonly isWatching: boolean;
}
