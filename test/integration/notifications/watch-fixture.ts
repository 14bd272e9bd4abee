/** A watch manager in an object of its own, with branches that record the news they get. */

import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { inject } from "vitest";

import type { News, Topic } from "../../../src/catalog/feeds.ts";
import { WatchManager } from "../../../src/notifications/source/watch-manager.ts";
import type { UpstreamTarget } from "../../../src/upstream/target.ts";
import { until } from "../bounded.ts";
import type { Upstream } from "../upstream.ts";

export interface Published {
  readonly branch: number;
  readonly news: News;
}

export interface WatchFixtureOptions {
  readonly target?: Partial<UpstreamTarget>;
  readonly maxUris?: number;
  readonly newsMilliseconds?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** May reject, as a branch that cannot be had. */
  readonly publish?: (branch: number, news: News) => Promise<void>;
}

export class WatchFixture {
  readonly upstream: Upstream;
  readonly published: Published[] = [];
  /** The topics that were reported outdated, one entry for each report. */
  readonly outdated: (readonly Topic[])[] = [];
  readonly #object = env.SESSIONS.newUniqueId();
  readonly #options: WatchFixtureOptions;
  /** Every topic that a branch has added. */
  readonly #added = new Map<number, Set<Topic>>();
  #manager: WatchManager | undefined;

  constructor(upstream: Upstream, options: WatchFixtureOptions = {}) {
    this.upstream = upstream;
    this.#options = options;
  }

  /** Runs within the object, with the watch manager of its present life. */
  async run<T>(act: (manager: WatchManager) => T | Promise<T>): Promise<T> {
    const stub = env.SESSIONS.get(this.#object);
    return runInDurableObject(stub, async (_instance, { storage }) => {
      this.#manager ??= new WatchManager({
        target: this.#target(),
        sql: storage.sql,
        limits: {
          subscribedUrisPerServer: this.#options.maxUris ?? 10_000,
          newsMilliseconds: this.#options.newsMilliseconds ?? 20,
        },
        events: {
          publish: async (branch, news) => {
            // The platform holds back what leaves an object until what it wrote is safe.
            await storage.sync();
            await this.#options.publish?.(branch, news);
            this.published.push({ branch, news });
          },
          outdated: (topics) => void this.outdated.push(topics),
        },
        now: this.#options.now ?? Date.now,
      });
      const result = await act(this.#manager);
      await storage.sync();
      return result;
    });
  }

  add(branch: number, ...topics: Topic[]): Promise<readonly Topic[]> {
    const added = this.#added.get(branch) ?? new Set();
    this.#added.set(branch, added);
    for (const topic of topics) added.add(topic);
    return this.run((manager) => manager.watch(branch, { add: topics, remove: [] }));
  }

  remove(branch: number, ...topics: Topic[]): Promise<readonly Topic[]> {
    return this.run((manager) => manager.watch(branch, { add: [], remove: topics }));
  }

  /** The object's memory goes, and its connections with it. */
  async lose(): Promise<void> {
    await abortAllDurableObjects();
    this.#manager = undefined;
  }

  /** Every topic that was published to a branch, in order. */
  publishedTo(branch: number): readonly Topic[] {
    return this.published.flatMap((each) => (each.branch === branch ? each.news.topics : []));
  }

  /**
   * Waits until these were published to a branch.
   *
   * @returns everything that was published to it since the last call.
   */
  async publishes(branch: number, ...topics: readonly Topic[]): Promise<readonly Topic[]> {
    await until(
      () =>
        Promise.resolve(
          topics.every((topic) => this.publishedTo(branch).includes(topic)) || undefined,
        ),
      `branch ${branch} to be notified of ${topics.join(", ")}`,
    );
    const published = this.publishedTo(branch);
    const others = this.published.filter((each) => each.branch !== branch);
    this.published.splice(0, Infinity, ...others);
    return published;
  }

  /** Ends every subscription. */
  async leave(): Promise<void> {
    await this.run(async (manager) => {
      for (const [branch, topics] of this.#added) {
        await manager.watch(branch, { add: [], remove: [...topics] });
      }
    });
  }

  #target(): UpstreamTarget {
    return {
      slug: this.upstream.slug,
      endpoint: new URL(`${inject("scripted")}/u/${this.upstream.slug}`),
      fetch: (url, init) => fetch(url, init),
      headers: {},
      transport: "auto",
      era: "auto",
      timeoutMs: 60_000,
      maxMessageChars: 65_536,
      ...this.#options.target,
    };
  }
}
