/**
 * Programs that use the gateway in their own name and not in a user's: an administrator created
 * them, and they get their tokens with a secret or a signature of their own (RFC 6749 section 4.4).
 */

import { hashOf, isSame, randomName, randomSecret } from "../../lib/random.ts";
import type { JwkSet } from "../clients/document-keys.ts";
import type { Maker } from "./api-keys.ts";
import { Records } from "../../lib/records.ts";

export interface ServiceClient {
  /** Its client id. No user has one like it (RFC 9700 section 4.15). */
  readonly id: string;
  readonly label: string;
  /** The most that it may use. */
  readonly scopes: readonly string[];
  /** The resources of its tokens, the first one by default. */
  readonly resources: readonly string[];
  /** The public keys for its signatures. Without them it has a secret. */
  readonly jwks?: JwkSet;
  /** Served as long as they are an administrator; without one, it is not served. */
  readonly maker?: Maker;
  readonly isDisabled: boolean;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

export type NewServiceClient = Pick<
  ServiceClient,
  "id" | "label" | "scopes" | "resources" | "jwks" | "maker"
>;

type Row = { hash: string | null; record: string };

const PREFIX = "svc_";
const ID_CHARS = 26;

/** The id leads to the object that holds the client. */
export function newServiceClientId(): string {
  return PREFIX + randomName(ID_CHARS);
}

export function isServiceClientId(clientId: string): boolean {
  return clientId.startsWith(PREFIX);
}

export class ServiceClients extends Records {
  static override readonly SCHEMA = [
    `CREATE TABLE IF NOT EXISTS services_1 (
      id TEXT PRIMARY KEY, hash TEXT, record TEXT NOT NULL
    )`,
  ];

  /** @returns the client and, unless it has keys, the secret that is shown once and not stored. */
  async create(
    client: NewServiceClient,
  ): Promise<{ readonly client: ServiceClient; readonly secret?: string }> {
    const made: ServiceClient = { ...client, isDisabled: false, createdAt: this.now() };
    const secret = client.jwks === undefined ? randomSecret() : undefined;
    const insert = "INSERT INTO services_1 (id, hash, record) VALUES (?, ?, ?)";
    this.run(insert, [
      made.id,
      secret === undefined ? null : await hashOf(secret),
      JSON.stringify(made),
    ]);
    return secret === undefined ? { client: made } : { client: made, secret };
  }

  find(id: string): ServiceClient | undefined {
    const row = this.#read(id);
    return row === undefined ? undefined : clientOf(row);
  }

  /** @returns the client whose secret this is, if it may be served. */
  async withSecret(id: string, secret: string): Promise<ServiceClient | undefined> {
    const hash = await hashOf(secret);
    const row = this.#read(id);
    if (typeof row?.hash !== "string" || !isSame(row.hash, hash)) return undefined;
    const client = clientOf(row);
    return client.isDisabled ? undefined : client;
  }

  /** The clients of this object, in no order. */
  list(): readonly ServiceClient[] {
    return this.rows<Row>("SELECT hash, record FROM services_1").map(clientOf);
  }

  /**
   * Stops or resumes the issue of tokens; issued tokens are ended in the objects that hold them.
   */
  setDisabled(id: string, isDisabled: boolean): ServiceClient | undefined {
    const known = this.find(id);
    if (known === undefined) return undefined;
    const changed = { ...known, isDisabled };
    const update = "UPDATE services_1 SET record = ? WHERE id = ?";
    this.run(update, [JSON.stringify(changed), id]);
    return changed;
  }

  /** @returns whether the client existed. */
  remove(id: string): boolean {
    return this.count("DELETE FROM services_1 WHERE id = ? RETURNING id", [id]) > 0;
  }

  #read(id: string): Row | undefined {
    const row = this.row<Row>("SELECT hash, record FROM services_1 WHERE id = ?", [id]);
    return row;
  }
}

function clientOf({ record }: Row): ServiceClient {
  return JSON.parse(record) as ServiceClient;
}
