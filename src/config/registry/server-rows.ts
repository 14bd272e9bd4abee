/**
 * The rows of the servers that operators have added, and of the switches. A change is refused when somebody else
 * has changed the same row since its author saw it. Synchronous from reading to writing.
 */

import type {
  AddedServer,
  AddOutcome,
  AddedServers,
  ChangeOutcome,
  Revised,
  ServerSwitch,
} from "../../observability/added-servers.ts";

/** The key-value storage of a Durable Object satisfies it by shape. */
export interface RowStore {
  get(key: string): unknown;
  put(key: string, value: unknown): void;
  delete(key: string): boolean;
  list(options: { readonly prefix: string }): Iterable<[string, unknown]>;
}

const VERSION = "serversVersion";
const CHANGED_AT = "serversChangedAt";
const SERVER = "server ";
const SWITCH = "switch ";

/** All of them go to each isolate in one answer, which may have 32 MiB. */
const MAX_ADDED_SERVERS = 200;
const MAX_SWITCHES = 400;
const MAX_ROW_BYTES = 32 * 1024;

/** Rows keep the number with which they were first stored: it is their place in the order. */
type Row<Value> = Revised<Value> & { readonly place: number };

export class ServerRows {
  readonly #store: RowStore;
  readonly #now: () => number;

  /** @param now milliseconds since 1970. */
  constructor(store: RowStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  get version(): number {
    return (this.#store.get(VERSION) ?? 0) as number;
  }

  all(): AddedServers {
    const servers = this.#rows<AddedServer>(SERVER)
      .map(([, row]) => row)
      .toSorted((one, other) => one.place - other.place)
      .map(withoutPlace);
    const switches = this.#rows<ServerSwitch>(SWITCH).map(
      ([slug, row]) => [slug, withoutPlace(row)] as const,
    );
    const changedAt = (this.#store.get(CHANGED_AT) ?? 0) as number;
    const { version } = this;
    return { version, changedAt, servers, switches: Object.fromEntries(switches) };
  }

  #rows<Value>(prefix: string): readonly (readonly [slug: string, row: Row<Value>])[] {
    return [...this.#store.list({ prefix })].map(([key, row]) => [
      key.slice(prefix.length),
      row as Row<Value>,
    ]);
  }

  /** All of them, or none: half of what was pasted would have to be found out by whoever pasted it. */
  addServers(servers: readonly AddedServer[]): AddOutcome {
    const slugs = new Set<string>();
    for (const server of servers) {
      const { slug } = server;
      const isTaken = slugs.has(slug) || this.#store.get(SERVER + slug) !== undefined;
      if (isTaken) return { kind: "clash", slug };
      if (bytesOf(server) > MAX_ROW_BYTES) {
        return { kind: "too-large", mostBytes: MAX_ROW_BYTES, slug };
      }
      slugs.add(slug);
    }
    if (this.#count(SERVER) + servers.length > MAX_ADDED_SERVERS) {
      return { kind: "full", most: MAX_ADDED_SERVERS };
    }
    for (const server of servers) {
      this.#put(SERVER, server.slug, server, 0, MAX_ADDED_SERVERS);
    }
    return { kind: "changed", version: this.version };
  }

  /** The version stays: what is known of the server is still right. */
  resealServer(slug: string, before: string, after: string): boolean {
    const stored = this.#store.get(SERVER + slug) as Row<AddedServer> | undefined;
    // Newer secrets may have come meanwhile.
    if (stored?.sealed !== before) return false;
    this.#store.put(SERVER + slug, { ...stored, sealed: after });
    return true;
  }

  #count(prefix: string): number {
    return [...this.#store.list({ prefix })].length;
  }

  /** A server that names secrets and brings none keeps those that are stored, which may have been sealed anew. */
  putServer(server: AddedServer, revision: number): ChangeOutcome {
    const { slug, secretNames } = server;
    const stored = this.#store.get(SERVER + slug) as Row<AddedServer> | undefined;
    const isKept = secretNames.length > 0 && server.sealed === undefined;
    const kept = isKept && stored?.sealed !== undefined ? { sealed: stored.sealed } : {};
    return this.#put(SERVER, slug, { ...server, ...kept }, revision, MAX_ADDED_SERVERS);
  }

  removeServer(slug: string, revision: number): ChangeOutcome {
    return this.#remove(SERVER + slug, revision);
  }

  putSwitch(slug: string, change: ServerSwitch, revision: number): ChangeOutcome {
    const narrows = change.off === true || (change.deniedTools?.length ?? 0) > 0;
    if (narrows) return this.#put(SWITCH, slug, change, revision, MAX_SWITCHES);
    if (revision === 0 && this.#store.get(SWITCH + slug) === undefined) {
      return { kind: "changed", version: this.version };
    }
    return this.#remove(SWITCH + slug, revision);
  }

  #put(
    prefix: string,
    slug: string,
    value: AddedServer | ServerSwitch,
    revision: number,
    most: number,
  ): ChangeOutcome {
    const stored = this.#store.get(prefix + slug) as Row<object> | undefined;
    if ((stored?.revision ?? 0) !== revision) return { kind: "clash" };
    if (bytesOf(value) > MAX_ROW_BYTES) return { kind: "too-large", mostBytes: MAX_ROW_BYTES };
    if (stored === undefined && this.#count(prefix) >= most) return { kind: "full", most };
    const version = this.#next();
    const place = stored?.place ?? version;
    this.#store.put(prefix + slug, { ...value, revision: version, place });
    return { kind: "changed", version };
  }

  #remove(key: string, revision: number): ChangeOutcome {
    const stored = this.#store.get(key) as Row<object> | undefined;
    if (stored?.revision !== revision) return { kind: "clash" };
    this.#store.delete(key);
    return { kind: "changed", version: this.#next() };
  }

  #next(): number {
    const version = this.version + 1;
    this.#store.put(VERSION, version);
    this.#store.put(CHANGED_AT, this.#now());
    return version;
  }
}

function withoutPlace<Value extends object>(row: Row<Value>): Revised<Value> {
  const { place: _, ...value } = row;
  return value as unknown as Revised<Value>;
}

function bytesOf(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}
