/** The health of a server, as the operator reads it. Plain data. */

/**
 * How an entry of `MCP_SERVERS` is not served as it is written. `misconfigured`: it has mistakes. `stdio`: it
 * starts a program, which the gateway cannot. `off`: it is switched off. `partly-read`: it is served, but has
 * keys that nobody knows.
 */
export type EntryState = "misconfigured" | "stdio" | "off" | "partly-read";

/** What an operator reads about such an entry. */
export interface EntryNotice {
  /** As the configuration has it. */
  readonly name: string;
  /** `undefined` where no slug can be made of the name. */
  readonly slug?: string;
  readonly state: EntryState;
  /** They quote no secret. */
  readonly sentences: readonly string[];
}

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
  /** The operator's name for it, where that is no slug. */
  readonly label?: string;
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
