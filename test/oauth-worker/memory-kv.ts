/** Workers KV as `@cloudflare/workers-oauth-provider` uses it, in memory: it checks itself when its rows end. */

interface Page {
  readonly keys: readonly { readonly name: string }[];
  readonly list_complete: true;
}

export class MemoryKv {
  readonly #rows = new Map<string, string>();

  async get(key: string, options?: { readonly type: "json" }): Promise<unknown> {
    const text = this.#rows.get(key);
    if (text === undefined) return null;
    return options === undefined ? text : JSON.parse(text);
  }

  async put(key: string, value: string): Promise<void> {
    this.#rows.set(key, value);
  }

  async delete(key: string): Promise<void> {
    this.#rows.delete(key);
  }

  async list({ prefix = "" }: { readonly prefix?: string } = {}): Promise<Page> {
    return { keys: this.#keysOf(prefix).map((name) => ({ name })), list_complete: true };
  }

  valuesOf(prefix: string): readonly string[] {
    return this.#keysOf(prefix).map((key) => this.#rows.get(key) ?? "");
  }

  drop(prefix: string): void {
    for (const key of this.#keysOf(prefix)) this.#rows.delete(key);
  }

  #keysOf(prefix: string): readonly string[] {
    return [...this.#rows.keys()].filter((key) => key.startsWith(prefix));
  }
}
