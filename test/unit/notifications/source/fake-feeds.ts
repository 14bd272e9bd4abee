/** Feeds that a test fills, breaks and holds up; they answer as the real ones do. */

import type {
  Catalog,
  CatalogAnswer,
  CatalogQuestion,
  Item,
  ListKind,
  Trouble,
} from "../../../../src/catalog/catalog.ts";
import type { Feed, Feeds, Topic } from "../../../../src/catalog/feeds.ts";

let count = 0;

export interface Content extends Partial<Omit<Catalog, "lists" | "version">> {
  readonly lists?: Partial<Record<ListKind, readonly Item[]>>;
}

/** A catalog of a version of its own. */
export function catalogOf({ lists, ...more }: Content = {}): Catalog {
  count += 1;
  return {
    version: `v${count}`,
    era: "modern",
    about: { capabilities: {}, serverInfo: undefined, instructions: undefined },
    flaws: [],
    faults: [],
    isPublic: true,
    ...more,
    lists: { tools: [], resources: [], templates: [], prompts: [], ...lists },
  };
}

/** Things of a list by their names, with whatever else. */
export function things(
  key: "name" | "uri" | "uriTemplate",
  names: readonly string[],
  more: Readonly<Record<string, unknown>> = {},
): Item[] {
  return names.map((name) => ({ name, text: JSON.stringify({ [key]: name, ...more }) }));
}

export const tools = (...names: readonly string[]): Item[] => things("name", names);

export class FakeFeed implements Feed {
  has: Catalog | undefined;
  trouble: Trouble | undefined;
  freshMs = 10_000;
  /** Failures that come before an answer. */
  failures = 0;
  /** Answers wait for it: as long as they are told to, or for ever. */
  gate: { readonly opened: Promise<void>; readonly heedsWait: boolean } | undefined;
  readonly asked: CatalogQuestion[] = [];
  /** The lists that it was told are outdated. */
  readonly outdatedLists: Topic[] = [];
  /** How often it was asked to announce its lists, and how often it has. */
  readonly announcing = { asked: 0, done: 0 };

  async catalog(question: CatalogQuestion): Promise<CatalogAnswer> {
    this.asked.push(question);
    if (this.failures > 0) {
      this.failures -= 1;
      throw new Error("the object was restarted");
    }
    if (this.gate !== undefined) await this.#wait(this.gate, question.waitMs);
    const { has: catalog, trouble, freshMs } = this;
    if (catalog === undefined) {
      const unknown = { reason: "slow", message: "not known yet", since: 1 };
      return { kind: "none", trouble: trouble ?? unknown };
    }
    const answered = { freshMs, ...(trouble === undefined ? {} : { trouble }) };
    if (question.known === catalog.version) return { kind: "same", ...answered };
    // It comes over a boundary: never the same object.
    return { kind: "catalog", catalog: structuredClone(catalog), ...answered };
  }

  async #wait({ opened, heedsWait }: NonNullable<FakeFeed["gate"]>, waitMs: number): Promise<void> {
    if (!heedsWait) return opened;
    let timer: number | null = null;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, waitMs);
    });
    await Promise.race([opened, late]);
    clearTimeout(timer);
  }

  watch(): Promise<never> {
    throw new Error("not asked for here");
  }

  report(): Promise<void> {
    return Promise.resolve();
  }

  async outdated(lists: readonly Topic[]): Promise<void> {
    if (this.failures > 0) {
      this.failures -= 1;
      throw new Error("the object was restarted");
    }
    await this.gate?.opened;
    this.outdatedLists.push(...lists);
  }

  async announce(): Promise<void> {
    this.announcing.asked += 1;
    if (this.failures > 0) {
      this.failures -= 1;
      throw new Error("the object was restarted");
    }
    await this.gate?.opened;
    this.announcing.done += 1;
  }

  health(): Promise<never> {
    throw new Error("not asked for here");
  }

  look(): Promise<never> {
    throw new Error("not asked for here");
  }

  describe(): Promise<never> {
    throw new Error("not asked for here");
  }

  resources(): Promise<Catalog | undefined> {
    return Promise.resolve(this.has);
  }
}

export class FakeFeeds implements Feeds {
  readonly #feeds = new Map<string, FakeFeed>();

  of(slug: string): FakeFeed {
    let feed = this.#feeds.get(slug);
    if (feed === undefined) this.#feeds.set(slug, (feed = new FakeFeed()));
    return feed;
  }
}
