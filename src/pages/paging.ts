/** Lists that are searched with `?q=` and read page by page with `?page=`. */

const PAGE_ITEMS = 100;

interface Shown<Item> {
  readonly shown: readonly Item[];
  /** From 1 on. */
  readonly page: number;
  readonly pages: number;
}

/** @returns the page that is asked for, or the nearest one that there is. */
export function pageOf<Item>(items: readonly Item[], { url }: Request): Shown<Item> {
  const pages = Math.max(1, Math.ceil(items.length / PAGE_ITEMS));
  const asked = Number(new URL(url).searchParams.get("page") ?? 1);
  const page = Number.isInteger(asked) ? Math.min(pages, Math.max(1, asked)) : 1;
  return { shown: items.slice((page - 1) * PAGE_ITEMS, page * PAGE_ITEMS), page, pages };
}

export function queryOf({ url }: Request): string {
  return new URL(url).searchParams.get("q")?.trim() ?? "";
}
