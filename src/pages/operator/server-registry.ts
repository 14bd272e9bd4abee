/** The port to the servers that operators add: what they paste is read and judged, looked at, and kept. */

import type {
  AddedServer,
  AddedServers,
  AddOutcome,
  ChangeOutcome,
  ExportedServers,
  ProbeReport,
} from "../../observability/added-servers.ts";
import type { Editable, Edited, ServerEdit } from "../../observability/edited-servers.ts";
import type { Candidate, Filled, Pasted } from "../../observability/pasted-servers.ts";
import type { JsonObject } from "../../protocol/json-rpc.ts";

type Secrets = Readonly<Record<string, string>>;

/** An entry with the values of its `${NAME}`. */
export interface NewEntry {
  readonly slug: string;
  readonly label?: string | undefined;
  readonly entry: JsonObject;
  readonly secrets: Secrets;
}

/** A server that is to be added, and its secrets, which are to be sealed. */
export interface NewServer {
  readonly server: AddedServer;
  readonly secrets: Secrets;
}

export interface ServerRegistry {
  all(): Promise<AddedServers>;
  /** True for the slug of an entry of `MCP_SERVERS`, which wins. */
  isConfigured(slug: string): boolean;

  /** The gateway runs on this machine, so added servers may, too. */
  readonly allowsLoopback: boolean;
  read(text: string): Pasted;
  /** @param values by the names of the fields. Without one, a field has its initial or pasted value. */
  fillIn(candidate: Candidate, values: Readonly<Record<string, string>>): Filled;
  /** Seals what a person has pasted, for a form that carries it: there may be secrets in it. */
  sealPasted(person: string, text: string): Promise<string>;
  /** @returns `undefined` for what was not sealed for this person. */
  openPasted(person: string, token: string): Promise<string | undefined>;

  /** Sends no request. @returns the sentences that say why an entry cannot be served. */
  mistakesIn(entry: NewEntry): readonly string[];
  /** True of a header that is kept as a secret, whatever a form says of it. */
  isSecret(name: string, value: string): boolean;
  /** @returns what can be changed of an entry. */
  editable(entry: JsonObject): Editable;
  /** Sends no request, and keeps nothing. */
  edit(server: AddedServer, edit: ServerEdit): Promise<Edited>;
  /** True of a server that is as the edit asks already, the values of its secrets included. */
  isEdited(server: AddedServer, edit: ServerEdit): Promise<boolean>;

  /** All of them as drafts, or none. */
  add(servers: readonly NewServer[]): Promise<AddOutcome>;
  /** @param secrets to be sealed; without them, those that the server has stay. */
  put(server: AddedServer, revision: number, secrets?: Secrets): Promise<ChangeOutcome>;
  remove(slug: string, revision: number): Promise<ChangeOutcome>;
  /**
   * Looks at a server, for some seconds at most. It never rejects.
   *
   * @param secrets in place of those that the server has.
   */
  probe(server: AddedServer, secrets?: Secrets): Promise<ProbeReport>;

  export(servers: readonly AddedServer[]): ExportedServers;
  /** Seals all secrets with the first key. @returns of how many servers it was not so. It may be repeated. */
  sealAnew(): Promise<number>;
}
