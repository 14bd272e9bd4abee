/** The links that a person is given to connect an account: `/connect/<slug>?e=<handle>`. */

import { hashOf, randomSecret } from "../../lib/random.ts";
import type { Ask, Asks } from "../store/asks.ts";
import type { VaultSeal } from "./vault-seal.ts";

export class ConnectLinks {
  readonly #asks: Asks;
  readonly #seal: VaultSeal;

  constructor(asks: Asks, seal: VaultSeal) {
    this.#asks = asks;
    this.#seal = seal;
  }

  /** @returns the handle of the link for these scopes: the same as long as it is good. */
  async handle(slug: string, scopes: readonly string[]): Promise<string> {
    const known = this.#asks.again(slug, scopes);
    const again = known === undefined ? undefined : await this.#open(known);
    if (again !== undefined) return again;
    const handle = randomSecret();
    const [id, sealed] = await Promise.all([
      hashOf(handle),
      this.#seal.seal(["ask", slug], handle),
    ]);
    // Of two at the same time, both give out the first.
    const first = this.#asks.again(slug, scopes);
    if (first !== undefined && first.id !== known?.id) return (await this.#open(first)) ?? handle;
    this.#asks.open({ id, slug, scopes, sealed });
    return handle;
  }

  /** @returns the scopes that a link asks for; `undefined` when it is not one of this vault. */
  async scopes(slug: string, handle: string): Promise<readonly string[] | undefined> {
    return this.#asks.find(await hashOf(handle), slug)?.scopes;
  }

  /** @returns `undefined` when its key was removed. */
  async #open({ slug, sealed }: Ask): Promise<string | undefined> {
    const opened = await this.#seal.open(["ask", slug], sealed);
    return typeof opened?.value === "string" ? opened.value : undefined;
  }
}
