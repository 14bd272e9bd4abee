/** The clients that listen for resource updates in a session, each by a connection of its own. */

export class Attendants<Way> {
  readonly #urisByWay = new Map<Way, ReadonlySet<string>>();
  #uris: ReadonlySet<string> = new Set();

  /** The union of the URIs that the clients listen for. */
  get uris(): ReadonlySet<string> {
    return this.#uris;
  }

  enter(way: Way, uris: readonly string[]): void {
    this.#urisByWay.set(way, new Set(uris));
    this.#unite();
  }

  /** @returns true when the client was there. */
  leave(way: Way): boolean {
    if (!this.#urisByWay.delete(way)) return false;
    this.#unite();
    return true;
  }

  /** The connections of the clients that listen for the resource. */
  *waysTo(uri: string): Generator<Way, void, void> {
    for (const [way, uris] of this.#urisByWay) if (uris.has(uri)) yield way;
  }

  #unite(): void {
    this.#uris = new Set([...this.#urisByWay.values()].flatMap((uris) => [...uris]));
  }
}
