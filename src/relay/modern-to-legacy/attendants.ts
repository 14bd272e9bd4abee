/** The clients that listen for resources, each by a way of its own, and hear of them in a session. */

export class Attendants<Way> {
  readonly #wanted = new Map<Way, ReadonlySet<string>>();
  #uris: ReadonlySet<string> = new Set();

  /** What any of them listens for. */
  get uris(): ReadonlySet<string> {
    return this.#uris;
  }

  enter(way: Way, uris: readonly string[]): void {
    this.#wanted.set(way, new Set(uris));
    this.#unite();
  }

  /** @returns whether it was there. */
  leave(way: Way): boolean {
    if (!this.#wanted.delete(way)) return false;
    this.#unite();
    return true;
  }

  /** The ways of those who listen for it. */
  *waysTo(uri: string): Generator<Way, void, void> {
    for (const [way, uris] of this.#wanted) if (uris.has(uri)) yield way;
  }

  #unite(): void {
    this.#uris = new Set([...this.#wanted.values()].flatMap((uris) => [...uris]));
  }
}
