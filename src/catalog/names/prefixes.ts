/** Finds the server of a name by the longest prefix, since a prefix may begin with another. */

import type { Server } from "../../endpoint/server.ts";

export class Prefixes {
  readonly #servers: ReadonlyMap<string, Server>;
  /** Longest first. */
  readonly #lengths: readonly number[];

  /** @param servers no two of them have the same prefix: such a configuration is refused. */
  constructor(servers: readonly Server[]) {
    this.#servers = new Map(servers.map((server) => [server.prefix, server]));
    const lengths = new Set(servers.map(({ prefix }) => prefix.length));
    this.#lengths = [...lengths].toSorted((a, b) => b - a);
  }

  /** Takes one look-up for each length of a prefix, however many servers there are. */
  ownerOf(name: string): Server | undefined {
    for (const length of this.#lengths) {
      const server = this.#servers.get(name.slice(0, length));
      if (server !== undefined) return server;
    }
    return undefined;
  }
}
