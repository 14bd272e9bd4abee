/**
 * The servers that operators have added at `/admin/servers`, and the switches that narrow any server, as they are
 * stored and shown. Plain data; what is secret is sealed.
 */

import type { JsonObject } from "../protocol/json-rpc.ts";

/** `draft`: it was looked at, and serves nobody yet. */
export type AddedState = "draft" | "live" | "paused";

/** Where an entry was taken from. */
export interface Provenance {
  readonly kind: "url" | "map" | "server.json";
  /** The name and the version in a `server.json`. */
  readonly name?: string;
  readonly version?: string;
}

/** What was found at a server when it was looked at. */
export interface ProbeReport {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** `login`: it answers nobody without one. */
  readonly outcome: "reached" | "login" | "failed";
  /** A sentence that quotes no text of the server. */
  readonly message?: string;
  readonly era?: "modern" | "legacy";
  readonly transport?: string;
  /** The names of what it offers, the first of each list, and how many there are. */
  readonly offers?: Readonly<Record<"tools" | "resources" | "templates" | "prompts", OfferedNames>>;
}

export interface OfferedNames {
  readonly count: number;
  readonly names: readonly string[];
}

/** One server that an operator has added. */
export interface AddedServer {
  readonly slug: string;
  /** A name for people, where it is not the slug. */
  readonly label?: string;
  readonly state: AddedState;
  /** As in `MCP_SERVERS`: secrets stand in it as `${NAME}`. */
  readonly entry: JsonObject;
  /** The names of its secrets. */
  readonly secretNames: readonly string[];
  /** Their values by name, as one sealed text; absent where there are none. */
  readonly sealed?: string;
  readonly provenance: Provenance;
  readonly probe?: ProbeReport;
  /** The id of the operator who changed it last, and when, in milliseconds since 1970. */
  readonly changedBy: string;
  readonly changedAt: number;
}

/** Narrows what a server is configured to serve. It never adds to it. */
export interface ServerSwitch {
  readonly off?: boolean;
  /** The server's own names of tools, as they are. */
  readonly deniedTools?: readonly string[];
}

/** With the number of its last change: whoever changes it says which one they saw. */
export type Revised<Value> = Value & { readonly revision: number };

/** All of it, in the order in which it was added. */
export interface AddedServers {
  /** Grows with each change. */
  readonly version: number;
  /** When it has grown last, in milliseconds since 1970; 0 where that is not known. */
  readonly changedAt: number;
  readonly servers: readonly Revised<AddedServer>[];
  readonly switches: Readonly<Record<string, Revised<ServerSwitch>>>;
}

/** As tables of `MCP_SERVERS` in wrangler.toml. */
export interface ExportedServers {
  readonly toml: string;
  /** The names of the secrets to be set. */
  readonly secrets: readonly string[];
}

export type ChangeOutcome =
  | { readonly kind: "changed"; readonly version: number }
  /** Somebody else has changed it since, or removed it. */
  | { readonly kind: "clash" }
  /** There are as many as there may be. */
  | { readonly kind: "full"; readonly most: number }
  | { readonly kind: "too-large"; readonly mostBytes: number };

/** Of servers that are added together. */
export type AddOutcome = ChangeOutcome & { readonly slug?: string };

/**
 * The store of added servers and switches. Every isolate serves what is in it within ten seconds.
 *
 * `revision` is that of what the operator saw; 0 where there was nothing.
 */
export interface ServerStore {
  addedServers(): Promise<AddedServers>;
  /** All of them, or none. @returns the first one that is refused, where it is about one. */
  addServers(servers: readonly AddedServer[]): Promise<AddOutcome>;
  putServer(server: AddedServer, revision: number): Promise<ChangeOutcome>;
  /**
   * Replaces its sealed secrets by the same ones, sealed anew: nothing has changed for anybody.
   *
   * @returns whether the server still had those that were sealed before.
   */
  resealServer(slug: string, before: string, after: string): Promise<boolean>;
  removeServer(slug: string, revision: number): Promise<ChangeOutcome>;
  /** A switch that narrows nothing is removed. */
  putSwitch(slug: string, change: ServerSwitch, revision: number): Promise<ChangeOutcome>;
}
