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
  /** The names of those that it needs and that are not set. */
  readonly missingSecrets?: readonly string[];
}

/**
 * `unknown`: it is being looked at for the first time. `failing`: the last catalog is served. `down`: there is no
 * catalog to serve. `unconnected`: nobody has connected the account that all share. `personal`: each person has an
 * account of their own there, and the gateway has none to look with.
 */
export type HealthState = "unknown" | "healthy" | "failing" | "down" | "unconnected" | "personal";

/** Why a server is unavailable, in a sentence that quotes no text of the server. */
export interface ServerTrouble {
  readonly reason: string;
  readonly message: string;
  /** Why there was no connection, in a few words of our own. */
  readonly cause?: string;
  readonly since: number;
}

/** A trouble that is over has its end. */
export interface PastTrouble extends ServerTrouble {
  readonly until?: number;
}

/** One look at a server: all that it lists was read, or it failed for a reason. */
export interface Look {
  readonly at: number;
  readonly ms: number;
  readonly failure?: string;
}

/** How a server was found to be spoken to. */
export interface FoundServer {
  readonly era: string;
  readonly revision: string;
  readonly transport: "streamable-http" | "sse";
}

/** All that is known of one server, whoever asks. */
export interface ServerReport {
  readonly health: ServerHealth;
  readonly found?: FoundServer;
  /** The server's own words about itself: `serverInfo`, and its capabilities. */
  readonly info?: Readonly<Record<string, unknown>>;
  readonly capabilities?: Readonly<Record<string, unknown>>;
  /** The newest ones first. */
  readonly looks: readonly Look[];
  readonly troubles: readonly PastTrouble[];
}

/** Resources that two servers list: the server that is configured first keeps them. */
export interface ResourceConflict {
  /** A sentence that quotes no text of the servers. */
  readonly message: string;
  /** The first of the URIs and templates in conflict, as the servers spell them. */
  readonly uris: readonly string[];
  /** When the lists of the two servers last changed, which is when it can have begun at the latest. */
  readonly since?: number;
}

export interface ServerHealth {
  readonly slug: string;
  /** The operator's name for it, where that is no slug. */
  readonly label?: string;
  readonly state: HealthState;
  readonly trouble?: ServerTrouble;
  /** Why nothing of this is known of the server as a whole, where that is as it should be. */
  readonly note?: string;
  /** When its catalog was last read, in milliseconds since 1970. */
  readonly seenAt?: number;
  /** When it was looked at for the first time. */
  readonly knownSince?: number;
  /** When something in its catalog last changed. */
  readonly changedAt?: number;
  /** The number of items of each kind in the newest catalog. */
  readonly counts: Readonly<Record<"tools" | "resources" | "templates" | "prompts", number>>;
  /** The resources that it loses to servers that are configured earlier. */
  readonly conflicts?: readonly ResourceConflict[];
  /** The number of topics with subscribers; `isWatching` while the watch on them is up. */
  readonly watched: number;
  readonly isWatching: boolean;
}
