/**
 * A branch of the fan-out in a world that a test moves: sessions, feeds and sockets that fail, hang
 * and answer when they are told to, calls that arrive when the test says so, and a branch that dies
 * at any time. Time is the fake timers'.
 */

import { afterEach, beforeEach, vi } from "vitest";

import { Branch } from "../../../../src/notifications/fan-out/branch.ts";
import type { Interests, News } from "../../../../src/catalog/feeds.ts";
import type { Sql, SqlValue } from "../../../../src/lib/sql.ts";
import { FakeFeed, FakeSession, FakeSocket, type Mode } from "./fan-out-fakes.ts";
import { type SqlFixture, START, withSql } from "../../lib/sql-fixture.ts";

/** To be called once by a test file: its time is that of its worlds. */
export function useWorldTime(): void {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: START });
  });
  afterEach(() => {
    vi.useRealTimers();
  });
}

/** @param act with a world, and the database of its branch. */
export function withWorld<T>(
  act: (world: World, fixture: SqlFixture) => Promise<T>,
  options: WorldOptions = {},
): Promise<T> {
  return withSql((fixture) => act(new World(fixture.sql, options), fixture));
}

const BRANCH = 7;
export const STALL_SECONDS = 60;

/** A call that has not arrived yet. */
interface Call {
  readonly to: string;
  readonly life: Life;
  readonly arrive: () => void;
}

interface Life {
  readonly branch: Branch<FakeSocket>;
  isOver: boolean;
}

export interface WorldOptions {
  readonly windowBytes?: number;
  readonly urisPerClient?: number;
}

export function named(count: number, prefix = "s"): readonly string[] {
  return Array.from({ length: count }, (_, n) => `${prefix}${n}`);
}

/** The numbers of the news that a session took. */
export function seqsOf(world: World, name: string): readonly number[] {
  return world.session(name).taken.map(({ seq }) => seq);
}

export class World {
  readonly sessions = new Map<string, FakeSession>();
  readonly feeds = new Map<string, FakeFeed>();
  readonly sockets = new Map<string, FakeSocket>();
  readonly calls: Call[] = [];
  readonly #sql: Sql;
  readonly #options: WorldOptions;
  readonly failures: unknown[] = [];
  /** Called whenever the branch begins to call a session. */
  onDeliver: (session: string, news: News) => void = () => undefined;
  /** Called whenever a session says that it is gone, or offline. */
  onGone: (session: string) => void = () => undefined;
  /** Of a server that was added a moment ago. */
  knowsNew = false;
  /** Servers that were removed a moment ago, and whether the branch has learned that. */
  readonly removed = new Map<string, boolean>();
  learning: Promise<unknown> = Promise.resolve();
  /** Nobody says which servers there are. */
  cannotLearn = false;
  alarmAt = Infinity;
  /** How often it rang. */
  alarms = 0;
  #life: Life;

  constructor(sql: Sql, options: WorldOptions = {}) {
    this.#sql = sql;
    this.#options = options;
    this.#life = this.#begin();
  }

  get branch(): Branch<FakeSocket> {
    return this.#life.branch;
  }

  session(name: string): FakeSession {
    const found = this.sessions.get(name) ?? new FakeSession();
    this.sessions.set(name, found);
    return found;
  }

  feed(slug: string): FakeFeed {
    const found = this.feeds.get(slug) ?? new FakeFeed();
    this.feeds.set(slug, found);
    return found;
  }

  /** Subscribes sessions, with everything that it takes. */
  async subscribed(interests: Interests, ...names: readonly string[]): Promise<void> {
    const answers = names.map((name) => this.branch.subscribe(name, interests));
    await this.allArrive();
    await Promise.all(answers);
  }

  /** Opens a listener's way, and says what it wants. */
  listen(id: string, interests: Interests): FakeSocket {
    const socket = new FakeSocket();
    this.sockets.set(id, socket);
    this.branch.listeners.open(socket, id);
    this.#watch(this.branch.listeners.message(socket, JSON.stringify(interests)));
    return socket;
  }

  /** Acknowledges everything that it was sent. */
  read(socket: FakeSocket): void {
    const chars = String(socket.unread);
    socket.unread = 0;
    this.#watch(this.branch.listeners.message(socket, chars));
  }

  hangUp(id: string): void {
    const socket = this.sockets.get(id);
    this.sockets.delete(id);
    if (socket !== undefined) this.branch.listeners.closed(socket);
  }

  /** Has one of the calls under way arrive. */
  arrive(index: number): void {
    const [call] = this.calls.splice(index % Math.max(1, this.calls.length), 1);
    call?.arrive();
  }

  /** Everything that is under way arrives, and what that causes, and so on. */
  async allArrive(): Promise<void> {
    await vi.advanceTimersByTimeAsync(0);
    while (this.calls.length > 0) {
      this.arrive(0);
      await vi.advanceTimersByTimeAsync(0);
    }
  }

  /** Time passes, and alarms ring. */
  async pass(ms: number, each: () => Promise<void> = async () => undefined): Promise<void> {
    const end = Date.now() + ms;
    await vi.advanceTimersByTimeAsync(0);
    while (this.alarmAt <= end) {
      await vi.advanceTimersByTimeAsync(Math.max(0, this.alarmAt - Date.now()));
      this.alarmAt = Infinity;
      this.alarms += 1;
      this.#watch(this.branch.wake());
      await each();
    }
    await vi.advanceTimersByTimeAsync(Math.max(0, end - Date.now()));
    await each();
  }

  /** The branch is let go: its sockets outlive it. */
  evict(isArrived: (index: number) => boolean = () => false): void {
    this.#die(isArrived);
    this.#life = this.#begin([...this.sockets.values()]);
  }

  /** The branch is lost, and its sockets with it. */
  kill(isArrived: (index: number) => boolean = () => false): void {
    this.#die(isArrived);
    for (const socket of this.sockets.values()) socket.closed ??= 1006;
    this.sockets.clear();
    this.#life = this.#begin();
  }

  /** Calls of feeds arrive before the next life begins, or never; those of sessions at any time. */
  #die(isArrived: (index: number) => boolean): void {
    this.#life.isOver = true;
    const left = this.calls.splice(0);
    for (const [index, call] of left.entries()) {
      if (call.to.startsWith("session")) this.calls.push(call);
      else if (isArrived(index)) call.arrive();
    }
  }

  #begin(found: readonly FakeSocket[] = []): Life {
    const life: { branch?: Branch<FakeSocket>; isOver: boolean } = { isOver: false };
    const call = <T>(to: string, mode: () => Mode, act: () => T): Promise<T> =>
      new Promise((resolve, reject) => {
        if (life.isOver) return;
        const arrive = (): void => {
          const how = mode();
          if (how !== "lost" && how !== "hangs") {
            const answer = act();
            if (!life.isOver && how !== "deaf") resolve(answer);
          }
          if (how === "lost" || how === "deaf") reject(new Error("It was restarted"));
        };
        this.calls.push({ to, life: life as Life, arrive });
      });
    life.branch = new Branch<FakeSocket>({
      number: BRANCH,
      sql: {
        exec: <Row extends Record<string, SqlValue>>(query: string, ...bindings: SqlValue[]) => {
          // What a life does after its end is of no effect.
          if (life.isOver) return [];
          return this.#sql.exec<Row>(query, ...bindings);
        },
      },
      feeds: {
        of: (slug) => ({
          watch: (branch, change) => {
            if (branch !== BRANCH) throw new Error(`Of branch ${branch}`);
            const feed = this.feed(slug);
            return call(
              `feed ${slug}`,
              () => feed.mode,
              () => feed.watch(change),
            );
          },
          catalog: unasked,
          report: unasked,
          health: unasked,

          resources: () => Promise.resolve(undefined),
        }),
      },
      recipients: {
        deliver: (name, news) => {
          const session = this.session(name);
          if (!life.isOver) this.onDeliver(name, news);
          return call(
            `session ${name}`,
            () => session.mode,
            () => {
              const handed = session.take(news);
              if (handed !== "taken") this.onGone(name);
              return handed;
            },
          );
        },
      },
      found: found.map((socket) => ({ socket, saved: structuredClone(socket.saved) })),
      knows: (slug) =>
        slug !== "unknown" && (slug !== "new" || this.knowsNew) && this.removed.get(slug) !== true,
      learn: async () => {
        await this.learning;
        this.knowsNew ||= !this.cannotLearn;
        if (!this.cannotLearn) for (const slug of this.removed.keys()) this.removed.set(slug, true);
        return !this.cannotLearn;
      },
      limits: {
        windowBytes: this.#options.windowBytes ?? 100_000,
        stallSeconds: STALL_SECONDS,
        subscribedUrisPerClient: this.#options.urisPerClient ?? 100,
      },
      now: Date.now,
      scheduleAlarm: (at) => {
        if (!life.isOver) this.alarmAt = Math.min(this.alarmAt, at);
      },
      keep: (work) => this.#watch(work),
    });
    return life as Life;
  }

  #watch(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.failures.push(error));
  }
}

function unasked(): never {
  throw new Error("A branch asks feeds for nothing but to watch");
}
