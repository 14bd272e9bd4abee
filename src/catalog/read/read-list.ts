/**
 * Reads one list of a server to its end, or to where it is cut: page after page, in bounds, whatever
 * the server makes of its cursors. Things become text as soon as they are there, so one page at a
 * time is held as objects.
 */

import { ErrorCode } from "../../protocol/error-codes.ts";
import { isObject, type JsonObject, type Reply } from "../../protocol/json-rpc.ts";
import { UpstreamError } from "../../upstream/upstream-error.ts";
import { type Item, LISTS, type ListKind } from "../catalog.ts";
import { flawed } from "./flaws.ts";
import { entryWeight, type Room, weightOf } from "./room.ts";

interface ListBounds {
  readonly maxItems: number;
  readonly maxPages: number;
  /** Shared with the other lists of the catalog. */
  readonly room: Room;
}

export interface ListQuestion {
  readonly slug: string;
  readonly list: ListKind;
  /** The server says that it has such things. */
  readonly isAdvertised: boolean;
  readonly bounds: ListBounds;
  /** Resolves to a result as the server gave it, or to an error. */
  readonly ask: (method: string, params: JsonObject) => Promise<Reply>;
  /** Whether a thing may be passed on at all. */
  readonly isLawful: (thing: JsonObject) => boolean;
}

export interface ListReading {
  readonly items: readonly Item[];
  readonly flaws: readonly string[];
  /** The smallest that a page states. */
  readonly ttlMs: number | undefined;
  /** Every page is for everybody; `undefined` when there was no page. */
  readonly isPublic: boolean | undefined;
}

/** The reading stops after this many pages in a row without a new item. */
const MAX_BARREN_PAGES = 25;

/** @throws UpstreamError when the server has the list, but does not give it. */
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
      const isWhole = this.#take(page.things);
      barren = this.#items.length === length ? barren + 1 : 0;
      const { nextCursor } = page;
      if (cursor === "" && barren > 0 && (nextCursor ?? "") === "") {
        // An empty cursor is a cursor (pagination), but some servers end their lists with one. Then
        // it leads to what was there already.
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
      flaws: [...this.#flaws, ...this.#leftOut()],
      ttlMs: this.#ttlMs,
      isPublic: this.#isPublic,
    };
  }

  #mayGoOn(nextCursor: string, pages: number, barren: number): boolean {
    const { maxPages, room } = this.#question.bounds;
    this.#cursors.add(nextCursor);
    return pages < maxPages && barren < MAX_BARREN_PAGES && room.take(weightOf(nextCursor));
  }

  /** @returns `undefined` when there is no such list, or no such page. */
  async #page(
    cursor: string | undefined,
  ): Promise<{ things: readonly unknown[]; nextCursor: string | undefined } | undefined> {
    const { slug, list, isAdvertised, ask } = this.#question;
    const { method, member } = LISTS[list];
    const reply = await ask(method, cursor === undefined ? {} : { cursor });
    if ("error" in reply) {
      const { code } = reply.error;
      if (cursor === "" && code === ErrorCode.InvalidParams) return undefined;
      if (cursor !== undefined || code !== ErrorCode.MethodNotFound) {
        throw new UpstreamError(slug, "malformed", `answered ${method} with error ${code}`);
      }
      // Servers with resources have templates or not, and no word for it.
      if (isAdvertised && list !== "templates") this.#flaws.push(flawed.missing(slug, list));
      return undefined;
    }
    const { ttlMs, cacheScope, nextCursor, [member]: things } = reply.result;
    if (!Array.isArray(things)) {
      throw new UpstreamError(slug, "malformed", `answered ${method} without a list`);
    }
    if (isTtl(ttlMs)) this.#ttlMs = Math.min(this.#ttlMs ?? ttlMs, ttlMs);
    this.#isPublic = cacheScope === "public" && this.#isPublic !== false;
    return { things, nextCursor: typeof nextCursor === "string" ? nextCursor : undefined };
  }

  /** @returns `false` when not everything fits. */
  #take(things: readonly unknown[]): boolean {
    const { list, bounds, isLawful } = this.#question;
    for (const thing of things) {
      const name = isObject(thing) ? thing[LISTS[list].name] : undefined;
      if (!isObject(thing) || typeof name !== "string") this.#nameless += 1;
      else if (this.#names.has(name)) this.#doubled += 1;
      else if (!isLawful(thing)) this.#unlawful += 1;
      else {
        const text = JSON.stringify(thing);
        if (this.#items.length >= bounds.maxItems) return false;
        if (!bounds.room.take(entryWeight(name, text))) return false;
        this.#names.add(name);
        this.#items.push({ name, text });
      }
    }
    return true;
  }

  #leftOut(): string[] {
    const { slug, list } = this.#question;
    return [
      ...(this.#nameless === 0 ? [] : [flawed.nameless(slug, list, this.#nameless)]),
      ...(this.#doubled === 0 ? [] : [flawed.doubled(slug, list, this.#doubled)]),
      ...(this.#unlawful === 0 ? [] : [flawed.unlawful(slug, list, this.#unlawful)]),
    ];
  }
}

function isTtl(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}
