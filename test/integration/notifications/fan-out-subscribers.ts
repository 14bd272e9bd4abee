/**
 * Subscribers of the real fan-out, many at a time, and the news that they received. Its branches, sessions
 * and sockets are real objects; what a session does with news is the test's, and so is what feeds
 * promise.
 */

import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { type MockInstance, vi } from "vitest";

import { fanOutIn } from "../../../durable-objects/fan-out.ts";
import { branchAt, branchFor, feedKeyOf } from "../../../durable-objects/ports.ts";
import type { FanOutObject } from "../../../durable-objects/fan-out-object.ts";
import { FeedObject } from "../../../durable-objects/feed-object.ts";
import { SessionObject } from "../../../durable-objects/session-object.ts";
import { BRANCHES, branchName, branchOf } from "../../../src/notifications/fan-out/branch.ts";
import type { DeliveryAnswer } from "../../../src/notifications/fan-out/deliveries.ts";
import type { Interests, News, NewsSocket } from "../../../src/catalog/feeds.ts";
import { until as untilIn } from "../../support/until.ts";
import { PATIENCE_MS, until } from "../bounded.ts";

/** The news of each session, by the id of its object, in the order of the calls. */
export const delivered = new Map<string, News[]>();

/** What a session does with news before it takes it, by the id of its object. */
export const conduct = new Map<string, () => Promise<DeliveryAnswer> | DeliveryAnswer>();

/** The branches that want to hear of a server, as its feed knows them. */
const watching = new Map<string, Set<number>>();

export interface StandIns {
  readonly deliver: MockInstance<SessionObject["deliver"]>;
  readonly watch: MockInstance<FeedObject["watch"]>;
}

/** To be called before each test: sessions note their news, feeds promise everything. */
export function standIn(): StandIns {
  delivered.clear();
  conduct.clear();
  const deliver = vi.spyOn(SessionObject.prototype, "deliver");
  const watch = vi.spyOn(FeedObject.prototype, "watch");
  deliver.mockImplementation(note);
  watch.mockImplementation(async function (this: { ctx: DurableObjectState }, branch, { add }) {
    const slug = feedKeyOf(this.ctx.id);
    const branches = watching.get(slug) ?? new Set();
    watching.set(slug, branches.add(branch));
    return add;
  });
  return { deliver, watch };
}

async function note(this: { ctx: DurableObjectState }, news: News): Promise<DeliveryAnswer> {
  const id = this.ctx.id.toString();
  delivered.set(id, [...(delivered.get(id) ?? []), news]);
  return (await conduct.get(id)?.()) ?? "taken";
}

/** Keeps sessions waiting. Each waits by itself: objects cannot wake each other in a test. */
export class Gate {
  isOpen = false;

  readonly pass = async (): Promise<DeliveryAnswer> => {
    await until(async () => truly(this.isOpen), "the gate to be opened");
    return "taken";
  };
}

export const fanOut = fanOutIn(env);

/** @returns their ids. */
export async function subscribeSessions(
  count: number,
  interests: Interests,
): Promise<readonly string[]> {
  const ids = Array.from({ length: count }, () => env.SESSIONS.newUniqueId().toString());
  await Promise.all(ids.map((id) => branchFor(env, id).subscribe(id, interests)));
  return ids;
}

export interface Neighbours {
  readonly slug: string;
  readonly ids: readonly string[];
  /** A stub for each use: one whose object was lost stays broken. */
  readonly object: () => DurableObjectStub<FanOutObject>;
}

/** Sessions that are subscribed, and whose branch is the same. */
export async function neighbours(slug: string, count: number): Promise<Neighbours> {
  const ids: string[] = [];
  const branch = branchOf(env.SESSIONS.newUniqueId().toString());
  while (ids.length < count) {
    const id = env.SESSIONS.newUniqueId().toString();
    if (branchOf(id) === branch) ids.push(id);
  }
  await Promise.all(ids.map((id) => branchFor(env, id).subscribe(id, { [slug]: ["tools"] })));
  const object = (): DurableObjectStub<FanOutObject> => env.FAN_OUT.getByName(branchName(branch));
  return { slug, ids, object };
}

/** A listener that reads all the time. */
export class Listener {
  readonly received: News[] = [];
  readonly socket: NewsSocket;
  isOver = false;

  private constructor(socket: NewsSocket) {
    this.socket = socket;
    void this.#read();
  }

  static async open(interests: Interests): Promise<Listener> {
    return new Listener(await fanOut.listen(interests));
  }

  static many(count: number, interests: Interests): Promise<readonly Listener[]> {
    return Promise.all(Array.from({ length: count }, () => Listener.open(interests)));
  }

  async #read(): Promise<void> {
    for (;;) {
      const news = await this.socket.next();
      if (news === undefined) break;
      this.received.push(news);
    }
    this.isOver = true;
  }
}

/** Hands news to every branch that wants to hear of the server, as its feed does. */
export async function publish(news: News): Promise<void> {
  const branches = [...(watching.get(news.slug) ?? [])];
  await Promise.all(branches.map((branch) => branchAt(env, branch).publish(news)));
}

/** How many rows all branches have in a table, of this server. */
export async function rowsOf(slug: string, table: string): Promise<number> {
  const query = `SELECT count(*) AS n FROM ${table} WHERE slug = ?`;
  const counts = await Promise.all(
    Array.from({ length: BRANCHES }, (_, branch) =>
      runInDurableObject(
        env.FAN_OUT.getByName(branchName(branch)),
        (_, { storage: { sql } }) => sql.exec<{ n: number }>(query, slug).one().n,
      ),
    ),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Resolves when no branch has any news of this server left to hand out. */
export async function atRest(slug: string): Promise<void> {
  const unfinished = async (): Promise<number> =>
    (await rowsOf(slug, "due_1")) + (await rowsOf(slug, "late_1"));
  await untilIn(async () => (await unfinished()) === 0, "all news is handed out", 2 * PATIENCE_MS);
}

export const truly = (is: boolean): true | undefined => is || undefined;

export function allNotified(ids: readonly string[], times = 1): true | undefined {
  return truly(ids.every((id) => (delivered.get(id)?.length ?? 0) >= times));
}
