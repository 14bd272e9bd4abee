/** What the operator calls the things of one list of a server, and back. */

export class Renames {
  readonly #callings: ReadonlyMap<string, string>;
  readonly #owners: ReadonlyMap<string, string>;
  /** Some calling may be a name that the server itself uses for another thing. */
  readonly mayClash: boolean;

  /** @param renames the server's own name → what it is called here. No two are called the same. */
  constructor(renames: ReadonlyMap<string, string>) {
    this.#callings = renames;
    this.#owners = new Map([...renames].map(([own, calling]) => [calling, own]));
    this.mayClash = [...renames.values()].some((calling) => !renames.has(calling));
  }

  /** @returns `undefined` when the operator has given the name to another thing. */
  callingOf(own: string): string | undefined {
    const calling = this.#callings.get(own);
    if (calling !== undefined) return calling;
    return this.#owners.has(own) ? undefined : own;
  }

  /** @returns `undefined` when nothing is called so, since what had the name has another one. */
  ownNameOf(calling: string): string | undefined {
    const own = this.#owners.get(calling);
    if (own !== undefined) return own;
    return this.#callings.has(calling) ? undefined : calling;
  }
}
