/**
 * Reads one list of a server page by page, to its end or to a limit, whatever the server does with its
 * cursors. Items become text as soon as they arrive, so only one page at a time is held as objects.
 */

import { isJsonNumber, nearest } from "../../lib/lossless-json.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import { isObject, type JsonObject, type Reply } from "../../protocol/json-rpc.ts";
import { UpstreamError } from "../../upstream/upstream-error.ts";
import { type Item, LISTS, type ListKind } from "../catalog.ts";
import { type ByteBudget, entryWeight, weightOf } from "./byte-budget.ts";
import { flawed } from "./flaws.ts";

export interface ListQuestion {
  readonly slug: string;
  readonly list: ListKind;
  /** The server advertises such items. */
  readonly isAdvertised: boolean;
  readonly maxItems: number;
  readonly maxPages: number;
  /** Shared with the other lists of the catalog. */
  readonly budget: ByteBudget;
  /** Resolves to the server's result or error. */
  readonly ask: (method: string, params: JsonObject) => Promise<Reply>;
  /** The item may be passed on to clients. */
  readonly isLawful: (item: JsonObject) => boolean;
}

export interface ListReading {
  readonly items: readonly Item[];
  readonly flaws: readonly string[];
  /** The smallest `ttlMs` of all pages. */
  readonly ttlMs: number | undefined;
  /** Every page has `cacheScope` "public"; `undefined` when there was no page. */
  readonly isPublic: boolean | undefined;
}

/** The reading stops after this many pages in a row without a new item. */
const MAX_BARREN_PAGES = 25;

/** @throws UpstreamError when the server has the list but does not return it. */
export async function readList(question: ListQuestion): Promise<ListReading> {
  return new Reader(question).read();
}

class Reader {
  readonly #question: ListQuestion;
  readonly #items: Item[] = [];
  readonly #names = new Set<string>();
  readonly #cursors = new Set<string>();
  readonly #flaws: string[] = [];
  #nameless = 0;
  #doubled = 0;
  #unlawful = 0;
  #ttlMs: number | undefined;
  #isPublic: boolean | undefined;

  constructor(question: ListQuestion) {
    this.#question = question;
  }

  async read(): Promise<ListReading> {
    const { slug, list } = this.#question;
    for (let cursor: string | undefined, pages = 1, barren = 0; ; pages++) {
      const page = await this.#page(cursor);
      if (page === undefined) break;
      const { length } = this.#items;
      const doubled = this.#doubled;
      const isWhole = this.#take(page.items);
      barren = this.#items.length === length ? barren + 1 : 0;
      const { nextCursor } = page;
      if (cursor === "" && barren > 0 && (nextCursor ?? "") === "") {
        // An empty cursor is a cursor (pagination), but some servers end their lists with one. It then
        // leads to items that were returned before.
        this.#doubled = doubled;
        break;
      }
      if (isWhole && nextCursor === undefined) break;
      if (nextCursor !== undefined && this.#cursors.has(nextCursor)) {
        this.#flaws.push(flawed.circular(slug, list, this.#items.length));
        break;
      }
      if (!isWhole || nextCursor === undefined || !this.#mayGoOn(nextCursor, pages, barren)) {
        this.#flaws.push(flawed.tooLong(slug, list, this.#items.length));
        break;
      }
      cursor = nextCursor;
    }
    return {
      items: this.#items,
      flaws: [...this.#flaws, ...this.#omissions()],
      ttlMs: this.#ttlMs,
      isPublic: this.#isPublic,
    };
  }

  #mayGoOn(nextCursor: string, pages: number, barren: number): boolean {
    const { maxPages, budget } = this.#question;
    this.#cursors.add(nextCursor);
    return pages < maxPages && barren < MAX_BARREN_PAGES && budget.take(weightOf(nextCursor));
  }

  /** @returns `undefined` when there is no such list, or no such page. */
  async #page(
    cursor: string | undefined,
  ): Promise<{ items: readonly unknown[]; nextCursor: string | undefined } | undefined> {
    const { slug, list, isAdvertised, ask } = this.#question;
    const { method, member } = LISTS[list];
    const reply = await ask(method, cursor === undefined ? {} : { cursor });
    if ("error" in reply) {
      const { code } = reply.error;
      if (cursor === "" && code === ErrorCode.InvalidParams) return undefined;
      if (cursor !== undefined || code !== ErrorCode.MethodNotFound) {
        throw new UpstreamError(slug, "malformed", `answered ${method} with error ${code}`);
      }
      // A server with resources may have no templates, and has no capability that would say so.
      if (isAdvertised && list !== "templates") this.#flaws.push(flawed.missing(slug, list));
      return undefined;
    }
    const { ttlMs, cacheScope, nextCursor, [member]: items } = reply.result;
    if (!Array.isArray(items)) {
      throw new UpstreamError(slug, "malformed", `answered ${method} without a list`);
    }
    const ttl = isJsonNumber(ttlMs) ? nearest(ttlMs) : -1;
    if (Number.isInteger(ttl) && ttl >= 0) this.#ttlMs = Math.min(this.#ttlMs ?? ttl, ttl);
    this.#isPublic = cacheScope === "public" && this.#isPublic !== false;
    return { items, nextCursor: typeof nextCursor === "string" ? nextCursor : undefined };
  }

  /** @returns `false` when a limit was reached. */
  #take(items: readonly unknown[]): boolean {
    const { list, maxItems, budget, isLawful } = this.#question;
    for (const item of items) {
      const name = isObject(item) ? item[LISTS[list].name] : undefined;
      if (!isObject(item) || typeof name !== "string") this.#nameless += 1;
      else if (this.#names.has(name)) this.#doubled += 1;
      else if (!isLawful(item)) this.#unlawful += 1;
      else {
        const text = JSON.stringify(item);
        if (this.#items.length >= maxItems || !budget.take(entryWeight(name, text))) return false;
        this.#names.add(name);
        this.#items.push({ name, text });
      }
    }
    return true;
  }

  #omissions(): string[] {
    const { slug, list } = this.#question;
    const flaws: string[] = [];
    if (this.#nameless > 0) flaws.push(flawed.nameless(slug, list, this.#nameless));
    if (this.#doubled > 0) flaws.push(flawed.doubled(slug, list, this.#doubled));
    if (this.#unlawful > 0) flaws.push(flawed.unlawful(slug, list, this.#unlawful));
    return flaws;
  }
}
