/** The clients that listen for resource updates in a session, each known by its connection. */

export class ResourceListeners<Connection> {
  readonly #urisByConnection = new Map<Connection, ReadonlySet<string>>();
  #uris: ReadonlySet<string> = new Set();

  /** The union of the URIs that the clients listen for. */
  get uris(): ReadonlySet<string> {
    return this.#uris;
  }

  add(connection: Connection, uris: readonly string[]): void {
    this.#urisByConnection.set(connection, new Set(uris));
    this.#unite();
  }

  /** @returns true when the client was there. */
  remove(connection: Connection): boolean {
    if (!this.#urisByConnection.delete(connection)) return false;
    this.#unite();
    return true;
  }

  /** The connections of the clients that listen for the resource. */
  *listeningFor(uri: string): Generator<Connection, void, void> {
    for (const [connection, uris] of this.#urisByConnection) if (uris.has(uri)) yield connection;
  }

  #unite(): void {
    this.#uris = new Set([...this.#urisByConnection.values()].flatMap((uris) => [...uris]));
  }
}
