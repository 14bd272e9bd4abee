/**
 * What the gateway knows of one upstream, for all its users: wires its catalogs and its watch to
 * each other, to storage and to the alarm, which is set only while somebody wants to hear of changes.
 */

import { DurableObject } from "cloudflare:workers";

import { loadConfig } from "../src/config/config.ts";
import type { Catalog, CatalogAnswer, CatalogQuestion, Trouble } from "../src/catalog/catalog.ts";
import { readCatalog } from "../src/catalog/read/read-catalog.ts";
import { resourcesOf } from "../src/catalog/cache/server-resources.ts";
import { CatalogCache } from "../src/catalog/cache/catalog-cache.ts";
import type { Topic, TopicChange } from "../src/catalog/feeds.ts";
import { type ManagedWatch, WatchManager } from "../src/notifications/source/watch-manager.ts";
import type { Server } from "../src/endpoint/server.ts";
import { count } from "../src/observability/costs.ts";
import type { ServerHealth } from "../src/observability/health.ts";
import type { Limits } from "../src/policy/limits.ts";
import { AlarmClock } from "./alarm-clock.ts";
import { branchAt } from "./fan-out-stub.ts";
import { feedName } from "./feeds-stub.ts";
import { meteredSql } from "./metered-sql.ts";

/** A watch that was lost with the memory of its object is brought back after this. */
const WATCHDOG_MS = 30_000;
const NOTHING: ServerHealth["counts"] = { tools: 0, resources: 0, templates: 0, prompts: 0 };

interface Parts {
  readonly keeper: CatalogCache;
  readonly desk: ManagedWatch;
}

export class FeedObject extends DurableObject<Env> {
  readonly #clock: AlarmClock;
  readonly #isConfigOk: boolean;
  /** `undefined` for a server that is not configured, or is so no longer. */
  readonly #parts: Parts | undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    count("objectsConstructed");
    this.#clock = new AlarmClock(ctx.storage, (promise) => ctx.waitUntil(promise));
    const loaded = loadConfig(env);
    this.#isConfigOk = loaded.ok;
    if (!loaded.ok) return;
    const { servers, limits } = loaded.config;
    // An object is not told its name.
    const server = [...servers.values()].find(({ slug }) =>
      env.FEEDS.idFromName(feedName(slug)).equals(ctx.id),
    );
    if (server !== undefined) this.#parts = this.#begin(server, limits);
  }

  async catalog(slug: string, question: CatalogQuestion): Promise<CatalogAnswer> {
    const answer = await this.#parts?.keeper.catalog(question);
    return answer ?? { kind: "none", trouble: await this.#gone(slug) };
  }

  async watch(slug: string, branch: number, change: TopicChange): Promise<readonly Topic[]> {
    if (this.#parts === undefined) {
      await this.#gone(slug);
      return [];
    }
    const promised = await this.#parts.desk.watch(branch, change);
    this.#setAlarm();
    return promised;
  }

  async report(slug: string, trouble: Trouble | undefined): Promise<void> {
    if (this.#parts === undefined) await this.#gone(slug);
    else this.#parts.keeper.report(trouble);
  }

  /** From what is known: the server is asked nothing. */
  async health(slug: string): Promise<ServerHealth> {
    if (this.#parts === undefined) {
      const trouble = await this.#gone(slug);
      return { slug, state: "unknown", trouble, counts: NOTHING, watched: 0, isWatching: false };
    }
    const { keeper, desk } = this.#parts;
    const { wantedCount: watched, isWatching } = desk;
    return { slug, ...keeper.condition(), watched, isWatching };
  }

  /** From what is known, as `health` is. */
  resources(): Promise<Catalog | undefined> {
    const newest = this.#parts?.keeper.newest();
    return Promise.resolve(newest && resourcesOf(newest));
  }

  override async alarm(): Promise<void> {
    this.#clock.rang();
    if (this.#parts !== undefined) {
      this.#parts.desk.wake();
      this.#parts.keeper.wake();
      this.#setAlarm();
    } else if (this.#isConfigOk) {
      await this.ctx.storage.deleteAll();
    } else {
      // Mistakes are corrected.
      this.#clock.noLaterThan(Date.now() + WATCHDOG_MS);
    }
  }

  #begin(server: Server, limits: Limits): Parts {
    const { ctx, env } = this;
    const { slug, target } = server;
    const sql = meteredSql(ctx.storage.sql);
    const keeper = new CatalogCache({
      ...{ slug, endpoint: target.endpoint.href, limits, now: () => Date.now() },
      storage: { sql, transaction: (work) => ctx.storage.transactionSync(work) },
      read: (client, signal, last) => readCatalog(server, client, limits, signal, last),
      covers: (topic) => desk.covers(topic),
      announce: (topics) => desk.announce(topics),
      isWanted: () => desk.isWanted,
      waitUntil: (work) => ctx.waitUntil(work),
      onDue: () => this.#setAlarm(),
    });
    const desk = new WatchManager({
      ...{ target, sql, limits, now: () => Date.now() },
      events: {
        publish: (branch, news) => branchAt(env.FAN_OUT, branch).publish(news),
        outdated: (topics) => keeper.outdated(topics),
      },
    });
    return { keeper, desk };
  }

  #setAlarm(): void {
    if (this.#parts === undefined) return;
    const { keeper, desk } = this.#parts;
    if (desk.wantedCount > 0) this.#clock.noLaterThan(Date.now() + WATCHDOG_MS);
    this.#clock.noLaterThan(keeper.dueAt);
  }

  /** Of a server that is not there, nothing is kept. */
  async #gone(slug: string): Promise<Trouble> {
    if (this.#isConfigOk) await this.ctx.storage.deleteAll();
    const message = this.#isConfigOk
      ? `There is no upstream "${slug}" in MCP_SERVERS`
      : `The configuration has mistakes, so nothing is known of upstream "${slug}"`;
    return { reason: "unconfigured", message, since: Date.now() };
  }
}
