/**
 * The state of one server, for all users or for one account: its catalogs and the watch on its changes.
 * The object wires the two to each other, to storage and to the alarm.
 */

import { DurableObject } from "cloudflare:workers";

import type { HeldAccounts } from "../src/accounts/held-accounts.ts";
import { isOff } from "../src/endpoint/endpoint.ts";
import type { Config } from "../src/config/config.ts";
import { readAccountKey, slugOfKey } from "../src/upstream/server-key.ts";
import type { Catalog, CatalogAnswer, CatalogQuestion, Trouble } from "../src/catalog/catalog.ts";
import { readCatalog } from "../src/catalog/read/read-catalog.ts";
import { resourcesOf } from "../src/catalog/routing/server-resources.ts";
import { CatalogCache } from "../src/catalog/cache/catalog-cache.ts";
import { type History, ServerHistory } from "../src/catalog/cache/server-history.ts";
import type { LookReason, Topic, TopicChange } from "../src/catalog/feeds.ts";
import { deleteAllButNumbers } from "../src/notifications/source/publisher.ts";
import { TopicInterest } from "../src/notifications/source/topic-interest.ts";
import { WatchManager } from "../src/notifications/source/watch-manager.ts";
import { GATEWAY_CLIENT } from "../src/endpoint/client-kind.ts";
import { isSameTarget, type Server } from "../src/endpoint/server.ts";
import { count } from "../src/observability/costs.ts";
import type { ServerHealth, ServerReport } from "../src/observability/health.ts";
import { logUnexpected } from "../src/observability/unexpected.ts";
import type { Limits } from "../src/policy/limits.ts";
import type { EndedAccount } from "../src/upstream/credentials.ts";
import { UpstreamError } from "../src/upstream/upstream-error.ts";
import { AlarmClock } from "./alarm-clock.ts";
import { withdrawFrom } from "./fan-out.ts";
import { FeedServer } from "./feed-server.ts";
import { FollowedConfig } from "./followed-config.ts";
import { heldAccountsOf } from "./held-accounts.ts";
import { meteredSql } from "./metered-sql.ts";
import { branchAt } from "./ports.ts";

/** A watch that was lost with the memory of its object is restarted after this. */
const WATCHDOG_MS = 30_000;
const NOTHING: ServerHealth["counts"] = { tools: 0, resources: 0, templates: 0, prompts: 0 };

/** The last looks and troubles. */
const HISTORY = "history_1";

interface Parts {
  readonly catalogs: CatalogCache;
  readonly watch: WatchManager;
  readonly history: ServerHistory;
  /** Aborted when the server is not configured like this any more. */
  readonly replaced: AbortController;
}

export class FeedObject extends DurableObject<Env> {
  readonly #clock: AlarmClock;
  readonly #feedServer: FeedServer;
  readonly #followed: FollowedConfig;
  readonly #accounts: HeldAccounts;
  /** True while nothing is known of the server, but may be again: what is stored stays. */
  #isOff: boolean;
  /** As it was configured when the parts were made. */
  #server: Server | undefined;
  /** `undefined` for a server that is not configured (any more), or for an account that has ended. */
  #parts: Parts | undefined;
  /** True while what is kept of a published server is being deleted. */
  #isEnding = false;
  /** Aborted when the account ends that the feed is of. */
  readonly #over = new AbortController();

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    count("objectsConstructed");
    this.#clock = new AlarmClock(ctx);
    this.#followed = new FollowedConfig(ctx, env);
    this.#accounts = heldAccountsOf(ctx, env, "feed", (ended) => this.accountEnded(ended));
    this.#feedServer = new FeedServer({
      ...{ ctx, env, accounts: this.#accounts },
      onUnpublished: () => {
        // Somebody still knew of it, and has asked here after it was gone.
        if (this.#parts !== undefined) ctx.waitUntil(this.publishedEnded().catch(logUnexpected));
      },
    });
    this.#isOff = true;
    this.#followed.begin(
      () => this.#configure(this.#followed.config),
      (config) => this.#configure(config),
    );
  }

  get #slug(): string {
    return slugOfKey(this.#feedServer.key);
  }

  /** Called when an operator has changed the server. */
  async configured(): Promise<void> {
    await this.#followed.renew();
  }

  async catalog(question: CatalogQuestion): Promise<CatalogAnswer> {
    await this.#follow();
    const asked = this.#parts?.catalogs;
    const answer = await asked?.catalog(question);
    // An operator may have changed the server, or removed it, or its account may have ended.
    const catalogs = this.#parts?.catalogs;
    if (catalogs === undefined) return { kind: "none", trouble: await this.#gone() };
    return catalogs === asked && answer !== undefined ? answer : this.catalog(question);
  }

  /** @throws Error while the server is not known here, but may be there, or back soon: the branch asks again. */
  async watch(branch: number, change: TopicChange): Promise<readonly Topic[]> {
    await this.#follow();
    if (this.#parts === undefined && change.add.length > 0) await this.#lookAgain();
    if (this.#parts === undefined) {
      const { message } = await this.#gone();
      // A branch goes by an answer for a while, and the server may be back within that.
      if (change.add.length > 0 && !this.#over.signal.aborted) throw new Error(message);
      return [];
    }
    const promised = await this.#parts.watch.watch(branch, change);
    this.#setAlarm();
    return promised;
  }

  async report(trouble: Trouble | undefined): Promise<void> {
    await this.#follow();
    if (this.#parts === undefined) await this.#gone();
    else this.#parts.catalogs.report(trouble);
  }

  async outdated(lists: readonly Topic[]): Promise<void> {
    await this.#follow();
    if (this.#parts === undefined) await this.#gone();
    else this.#parts.catalogs.reported(lists);
  }

  async announce(): Promise<void> {
    await this.#follow();
    if (this.#parts === undefined) await this.#gone();
    else this.#parts.catalogs.announce();
  }

  /** Called by a vault: the account that the feed is of has ended, and so does all that was kept of it. */
  async accountEnded({ accountId, credential }: EndedAccount): Promise<void> {
    // Also while the server is off: nothing was made of what is stored then.
    const key = this.#feedServer.storedKey;
    if (readAccountKey(key)?.accountId !== accountId) return;
    const parts = this.#parts;
    this.#parts = undefined;
    this.#over.abort(accountOver(slugOfKey(key)));
    await parts?.watch.end(credential);
    await this.#deleteAll();
  }

  /** Called by the object of its publisher: the server is in no list any more, so nothing is kept of what it offered. */
  async publishedEnded(): Promise<void> {
    // At once: whoever asks for something right now is promised nothing that is about to be deleted.
    void this.#parts?.watch.end().catch(() => undefined);
    const isDeleted = await this.ctx.blockConcurrencyWhile(async () => {
      const parts = this.#parts;
      this.#parts = undefined;
      this.#server = undefined;
      // Whoever is in the middle of a call would make the parts anew, over what is being deleted.
      this.#isEnding = true;
      parts?.replaced.abort(new Error("The server is not published any more"));
      await parts?.watch.end().catch(() => undefined);
      const isDone = await this.#deleteAll();
      this.#isEnding = false;
      return isDone;
    });
    if (!isDeleted) throw new Error("Not every branch knows yet");
  }

  /** Uses the stored state: the server gets no request. */
  async health(): Promise<ServerHealth> {
    await this.#follow();
    const slug = this.#slug;
    if (this.#parts === undefined) {
      const trouble = await this.#gone();
      return { slug, state: "unknown", trouble, counts: NOTHING, watched: 0, isWatching: false };
    }
    const { catalogs, watch, history } = this.#parts;
    const { wantedCount: watched, isWatching } = watch;
    const { since: knownSince } = history.all;
    return {
      ...{ slug, ...catalogs.condition(), watched, isWatching },
      ...(knownSince === undefined ? {} : { knownSince }),
    };
  }

  async look(reason: LookReason): Promise<ServerHealth> {
    await this.#follow();
    await this.#parts?.catalogs.look(reason, GATEWAY_CLIENT);
    return this.health();
  }

  /** Uses the stored state, like `health`. */
  async describe(): Promise<ServerReport> {
    const health = await this.health();
    if (this.#parts === undefined) return { health, looks: [], troubles: [] };
    const { catalogs, history } = this.#parts;
    const { found } = catalogs;
    const { looks, troubles } = history.all;
    const about = catalogs.newest()?.about;
    return {
      ...{ health, looks, troubles },
      ...(found === undefined ? {} : { found }),
      ...(about === undefined ? {} : { capabilities: about.capabilities }),
      ...(about?.serverInfo === undefined ? {} : { info: about.serverInfo }),
    };
  }

  /** Uses the stored state, like `health`. */
  async resources(): Promise<Catalog | undefined> {
    await this.#follow();
    const newest = this.#parts?.catalogs.newest();
    return newest && resourcesOf(newest);
  }

  override async alarm(): Promise<void> {
    this.#clock.fired();
    await this.#followed.follow();
    this.#accounts.retry();
    if (this.#parts !== undefined) {
      this.#parts.watch.wake();
      this.#parts.catalogs.wake();
      this.#setAlarm();
    } else if (this.#isOff) {
      // The alarm retries, because an operator will correct the configuration.
      this.#clock.noLaterThan(Date.now() + WATCHDOG_MS);
    } else if (!(await this.#deleteAll())) this.#clock.noLaterThan(Date.now() + WATCHDOG_MS);
  }

  /**
   * Deletes what is stored, and the alarm with it.
   *
   * @returns `false` where a branch would go on to believe in what was promised to it: then everything stays.
   */
  async #deleteAll(): Promise<boolean> {
    if (!(await this.#withdrawPromises())) return false;
    // The server may be back meanwhile.
    if (this.#parts !== undefined) return true;
    const deleted = this.#deleteStored();
    const released = this.#accounts.release();
    // At once: what sets another one meanwhile sets it after that.
    this.#clock.fired();
    await deleted;
    await released;
    return true;
  }

  #deleteStored(): Promise<void> {
    const { storage } = this.ctx;
    // No other feed is ever of that account.
    if (this.#over.signal.aborted) return storage.deleteAll();
    return deleteAllButNumbers(meteredSql(storage.sql), () => storage.deleteAll());
  }

  /**
   * Who listens at a published server alone learns from nobody that it has gone, or is back; and a server that was
   * removed may be back before anybody has noticed. So the branches are told that nothing is promised, and ask again
   * until it is. Of an account that has ended, its subscribers are told.
   */
  async #withdrawPromises(): Promise<boolean> {
    if (this.#over.signal.aborted) return true;
    const { branches } = new TopicInterest(meteredSql(this.ctx.storage.sql));
    return withdrawFrom(this.env, branches, this.#feedServer.key);
  }

  async #follow(): Promise<void> {
    await this.#followed.follow();
    // A server that had left its publisher's list may be published again.
    if (this.#parts === undefined) this.#configure(this.#followed.config);
  }

  /** A branch may know of a server that was added, or turned on, before this isolate does. */
  async #lookAgain(): Promise<void> {
    if (this.#over.signal.aborted) return;
    const isNew = await this.#followed.renew();
    await this.#follow();
    if (this.#parts !== undefined || (isNew && !this.#isOff)) return;
    throw new Error("The server is not known now");
  }

  /** Makes the parts, and anew where the server is configured in another way than they were made for. */
  #configure(config: Config | undefined): void {
    if (config === undefined || this.#over.signal.aborted || this.#isEnding) return;
    const own = this.#feedServer.find(config);
    this.#isOff = isOff(config, this.#slug);
    if (own !== undefined && isSameTarget(own, this.#server)) return;
    this.#server = own;
    const before = this.#parts;
    this.#parts = own && this.#begin(own, config.limits);
    if (before === undefined) return;
    before.replaced.abort(new Error("The server is configured in another way"));
    this.ctx.waitUntil(before.watch.end().catch(() => undefined));
    // Deletes what is stored of a server that was removed.
    if (own === undefined) this.#clock.noLaterThan(Date.now());
  }

  #begin(server: Server, limits: Limits): Parts {
    const { ctx, env } = this;
    const replaced = new AbortController();
    const over = AbortSignal.any([this.#over.signal, replaced.signal]);
    const { slug, target } = server;
    const sql = meteredSql(ctx.storage.sql);
    const { kv } = ctx.storage;
    const history = new ServerHistory({
      read: () => kv.get<History>(HISTORY),
      write: (value) => {
        if (!over.aborted) kv.put(HISTORY, value);
      },
    });
    const catalogs = new CatalogCache({
      slug,
      endpoint: target.endpoint.href,
      limits,
      now: () => Date.now(),
      storage: { sql, transaction: (work) => ctx.storage.transactionSync(work) },
      read: (client, signal, last) =>
        readCatalog(server, client, limits, AbortSignal.any([signal, over]), last),
      covers: (topic) => watch.covers(topic),
      announce: (topics) => watch.announce(topics),
      isWanted: () => watch.isWanted,
      history,
      over,
      waitUntil: (work) => ctx.waitUntil(work),
      onDue: () => this.#setAlarm(),
    });
    const watch = new WatchManager({
      target,
      sql,
      limits,
      now: () => Date.now(),
      events: {
        publish: (branch, news) =>
          branchAt(env, branch).publish({ ...news, slug: this.#feedServer.key }),
        outdated: (topics, isAnnounced) => catalogs.outdated(topics, isAnnounced),
        sent: () => catalogs.sent(),
      },
    });
    return { catalogs, watch, history, replaced };
  }

  #setAlarm(): void {
    if (this.#parts === undefined) return;
    const { catalogs, watch } = this.#parts;
    const watchdogAt = watch.wantedCount > 0 ? Date.now() + WATCHDOG_MS : Infinity;
    const at = Math.min(watchdogAt, catalogs.dueAt ?? Infinity);
    if (at === Infinity) return;
    this.#feedServer.remember();
    this.#clock.noLaterThan(at);
  }

  /** Deletes the stored state of a server that is not configured, and returns the reason. */
  async #gone(): Promise<Trouble> {
    if (!this.#isOff) await this.#deleteAll();
    const slug = this.#slug;
    if (this.#over.signal.aborted) {
      const { failure: reason, message } = accountOver(slug);
      return { reason, message, since: Date.now() };
    }
    const message = this.#isOff
      ? `The upstream "${slug}" is switched off, or has a mistake in its configuration`
      : `There is no upstream "${slug}"`;
    return { reason: "unconfigured", message, since: Date.now() };
  }
}

function accountOver(slug: string): UpstreamError {
  return new UpstreamError(
    slug,
    "account",
    "was asked with an account that is not connected any more",
  );
}
