/**
 * One life of a Durable Object: an output gate, which holds back what leaves until what was written is safe, and
 * an input gate, which lets no event in while storage is asked.
 */

import { Context } from "./context.ts";
import type { Isolate } from "./isolate.ts";
import type { AutoResponse, SocketHandlers } from "./object-sockets.ts";
import type { ObjectId, Slot } from "./objects.ts";
import type { SimulatedSocket } from "./sockets.ts";
import { LiveStorage, type Turn } from "./storage.ts";

/** What the class of an object looks like from the platform. */
export interface UserObject extends SocketHandlers {
  readonly fetch?: (request: Request) => Response | Promise<Response>;
  readonly alarm?: (info: object) => unknown;
}

/** One life of an object. */
export class Life extends Context {
  readonly slot: Slot;
  /** As whoever began the life knew it: perhaps without the name. */
  readonly #id: ObjectId;
  readonly isolate: Isolate;
  readonly storage: LiveStorage;
  readonly user: UserObject;
  /** Events that are being handled, and work that was promised to finish. */
  busy = 0;
  readonly #held: { readonly turn: number; readonly send: () => void }[] = [];
  /** Asynchronous operations of the storage: no event is delivered until they are answered. */
  #blocking = 0;
  readonly #blocked: (() => void)[] = [];
  #turn = 0;
  #confirmed = 0;
  readonly #unconfirmed: { readonly number: number; readonly turn: Turn }[] = [];
  /** Set when it was lost, and not let sleep. */
  isLost = false;

  constructor(slot: Slot, id: ObjectId) {
    const isolate = slot.home.isolateFor(slot);
    super(slot.name, slot.home.scheduler, isolate.platform);
    this.slot = slot;
    this.#id = id;
    this.isolate = isolate;
    this.storage = new LiveStorage(slot.className, slot.disk, () => slot.home.written.add(this));
    this.onEnd(() => this.storage.close());
    isolate.contexts.add(this);
    this.onEnd(() => isolate.contexts.delete(this));
    this.user = this.run(() => isolate.makeObject(slot.className, this.#state()) as UserObject);
  }

  override leave(send: () => void): void {
    if (!this.isAlive) return;
    const turn = this.storage.hasWritten ? this.#turn + 1 : this.#turn;
    if (turn <= this.#confirmed && this.#held.length === 0) send();
    else this.#held.push({ turn, send });
  }

  /** Called at the end of each step: what was written in it becomes one unit. */
  endTurn(): void {
    if (!this.isAlive || !this.storage.hasWritten) return;
    if (this.storage.isBroken) {
      this.die();
      return;
    }
    const number = (this.#turn += 1);
    this.#unconfirmed.push({ number, turn: this.storage.takeTurn() });
    this.post(
      `disk of ${this.name}`,
      `${this.name}: writes are confirmed`,
      () => this.#confirm(number),
      this.slot.home.confirmMs(),
    );
  }

  /** @returns a promise of the time when everything written so far is safe. */
  synced(): Promise<void> {
    return new Promise((resolve) => this.leave(resolve));
  }

  /** The machine dies: of what is not confirmed, the disk may have got the first turns. */
  override die(): void {
    if (!this.isAlive) return;
    const reached = this.slot.home.random.below(this.#unconfirmed.length + 1);
    this.isLost = true;
    for (const { turn } of this.#unconfirmed.slice(0, reached)) this.slot.keep(turn);
    this.slot.lost();
    this.end();
  }

  /** True when the platform may let the object sleep: nothing runs, and nothing could go on by itself. */
  get isIdle(): boolean {
    return this.busy === 0 && !this.hasTimers && this.#unconfirmed.length === 0;
  }

  #confirm(number: number): void {
    this.#confirmed = number;
    const isSafe = (each: { readonly number: number }): boolean => each.number <= number;
    while (this.#unconfirmed[0] !== undefined && isSafe(this.#unconfirmed[0])) {
      this.slot.keep(this.#unconfirmed[0].turn);
      this.#unconfirmed.shift();
    }
    while ((this.#held[0]?.turn ?? Infinity) <= number) this.#held.shift()?.send();
  }

  #state(): object {
    const { storage, slot } = this;
    const later = <T>(work: () => T): Promise<T> => {
      const result = work();
      this.#blocking += 1;
      return new Promise((resolve) => {
        this.post(`storage of ${this.name}`, `${this.name}: storage answers`, () => {
          this.#blocking -= 1;
          resolve(result);
          if (this.#blocking === 0) for (const open of this.#blocked.splice(0)) open();
        });
      });
    };
    return {
      id: this.#id,
      blockConcurrencyWhile: <T>(work: () => Promise<T>) => this.#alone(work),
      waitUntil: (work: Promise<unknown>) => this.waitUntil(work),
      acceptWebSocket: (socket: SimulatedSocket, tags: readonly string[] = []) =>
        slot.sockets.accept(socket, tags),
      getWebSockets: (tag?: string) => slot.sockets.of(tag),
      getTags: (socket: SimulatedSocket) => slot.sockets.tagsOf(socket),
      setWebSocketAutoResponse: (pair: AutoResponse) => slot.sockets.answerBy(pair),
      getWebSocketAutoResponseTimestamp: (socket: SimulatedSocket) =>
        slot.sockets.answeredAt(socket),
      abort: () => {
        this.die();
        throw new Error("The object has ended itself");
      },
      storage: {
        sql: {
          exec: (query: string, ...bindings: never[]) => storage.exec(query, bindings),
        },
        kv: {
          get: (key: string) => structuredClone(storage.kv.get(key)),
          put: (key: string, value: unknown) => {
            const copy = structuredClone(value);
            storage.write((into) => into.kv.set(key, copy));
          },
          delete: (key: string) => {
            const had = storage.kv.has(key);
            storage.write((into) => into.kv.delete(key));
            return had;
          },
          list: ({ prefix = "" }: { readonly prefix?: string } = {}) =>
            [...storage.kv]
              .filter(([key]) => key.startsWith(prefix))
              .toSorted(([a], [b]) => (a < b ? -1 : 1))
              .map(([key, value]) => [key, structuredClone(value)] as const),
        },
        sync: () => this.synced(),
        transactionSync: <T>(work: () => T) => storage.transaction(work),
        getAlarm: () => later(() => storage.alarmAt),
        setAlarm: (at: number | Date) => later(() => storage.setAlarm(Number(at))),
        deleteAlarm: () => later(() => storage.setAlarm(null)),
        deleteAll: () => later(() => storage.deleteAll()),
      },
    };
  }

  /** No event is delivered until the work is done; a failure of it resets the object. */
  async #alone<T>(work: () => Promise<T>): Promise<T> {
    this.#blocking += 1;
    try {
      return await work();
    } catch (error) {
      this.die();
      throw error;
    } finally {
      this.#blocking -= 1;
      if (this.#blocking === 0) for (const open of this.#blocked.splice(0)) open();
    }
  }

  /** The input gate. */
  opened(): Promise<void> {
    if (this.#blocking === 0) return Promise.resolve();
    return new Promise((resolve) => this.#blocked.push(resolve));
  }

  override waitUntil(work: Promise<unknown>): void {
    void this.track(work);
  }

  /** Counts work for as long as it goes on. */
  track<T>(work: Promise<T>): Promise<T> {
    this.busy += 1;
    void work.finally(() => (this.busy -= 1)).catch(() => undefined);
    return work;
  }
}
