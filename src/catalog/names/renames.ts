/** Maps the names of one list of a server to the operator's names, and back. */

export class Renames {
  readonly #callings: ReadonlyMap<string, string>;
  readonly #owners: ReadonlyMap<string, string>;
  /** An operator's name may equal a name that the server uses for another item. */
  readonly mayClash: boolean;

  /** @param renames the server's own name → the operator's name. The latter are unique. */
  constructor(renames: ReadonlyMap<string, string>) {
    this.#callings = renames;
    this.#owners = new Map([...renames].map(([own, calling]) => [calling, own]));
    this.mayClash = [...renames.values()].some((calling) => !renames.has(calling));
  }

  /** @returns `undefined` when the operator has given the name to another item. */
  callingOf(own: string): string | undefined {
    const calling = this.#callings.get(own);
    if (calling !== undefined) return calling;
    return this.#owners.has(own) ? undefined : own;
  }

  /** @returns `undefined` when the item with this name was renamed. */
  ownNameOf(calling: string): string | undefined {
    const own = this.#owners.get(calling);
    if (own !== undefined) return own;
    return this.#callings.has(calling) ? undefined : calling;
  }
}
