/**
 * Durable Objects by the platform's rules: one life at a time, which any call begins; an output gate, which
 * holds back what leaves until what was written is safe; sockets that outlive a life that sleeps; an alarm
 * that fires at least once; and lives that end at any moment.
 */

import { Context } from "./context.ts";
import type { Isolate } from "./isolate.ts";
import { type Network, send } from "./network.ts";
import type { Random } from "./random.ts";
import { IsolateRequest } from "./request-response.ts";
import { copyOver } from "./rpc.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SimulatedSocket } from "./sockets.ts";
import { Disk, LiveStorage } from "./storage.ts";

export interface ObjectHome {
  readonly scheduler: Scheduler;
  readonly network: Network;
  readonly random: Random;
  /** The isolate in which an object comes to life. */
  readonly isolateFor: (slot: Slot) => Isolate;
  readonly confirmMs: () => number;
}

/** What the class of an object looks like from the platform. */
interface UserObject {
  readonly fetch?: (request: Request) => Response | Promise<Response>;
  readonly alarm?: (info: object) => unknown;
  readonly webSocketMessage?: (socket: SimulatedSocket, data: string | ArrayBuffer) => unknown;
  readonly webSocketClose?: (
    socket: SimulatedSocket,
    code: number,
    reason: string,
    wasClean: boolean,
  ) => unknown;
}

class ResetError extends Error {
  readonly durableObjectReset = true;
  readonly retryable = true;
  readonly remote = true;
}

/** One life of an object. */
export class Life extends Context {
  readonly slot: Slot;
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
  readonly #unconfirmed: { readonly turn: number; readonly writes: Disk["writes"] }[] = [];

  constructor(slot: Slot, isolate: Isolate) {
    super(slot.name, slot.home.scheduler);
    this.slot = slot;
    this.isolate = isolate;
    this.storage = new LiveStorage(slot.disk);
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
    const turn = (this.#turn += 1);
    this.#unconfirmed.push({ turn, writes: [...this.storage.takeTurn()] });
    this.post(
      `disk of ${this.name}`,
      `${this.name}: writes are confirmed`,
      () => this.#confirm(turn),
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
    for (const { writes } of this.#unconfirmed.slice(0, reached))
      this.slot.disk.writes.push(...writes);
    this.slot.lost();
    this.end();
  }

  /** True when the platform may let the object sleep: nothing runs, and nothing could go on by itself. */
  get isIdle(): boolean {
    return this.busy === 0 && !this.hasTimers && this.#unconfirmed.length === 0;
  }

  #confirm(turn: number): void {
    this.#confirmed = turn;
    while ((this.#unconfirmed[0]?.turn ?? Infinity) <= turn) {
      this.slot.disk.writes.push(...(this.#unconfirmed.shift()?.writes ?? []));
    }
    while ((this.#held[0]?.turn ?? Infinity) <= turn) this.#held.shift()?.send();
    this.slot.armAlarm();
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
      id: slot.id,
      blockConcurrencyWhile: <T>(work: () => Promise<T>) => this.#alone(work),
      waitUntil: (work: Promise<unknown>) => this.waitUntil(work),
      acceptWebSocket: (socket: SimulatedSocket, tags: readonly string[] = []) =>
        slot.accept(socket, tags),
      getWebSockets: (tag?: string) => slot.socketsOf(tag),
      setWebSocketAutoResponse: () => undefined,
      storage: {
        sql: {
          exec: (query: string, ...bindings: never[]) => cursor(storage.exec(query, bindings)),
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
        setAlarm: (at: number | Date) =>
          later(() => storage.write((into) => (into.alarmAt = Number(at)))),
        deleteAlarm: () => later(() => storage.write((into) => (into.alarmAt = null))),
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

function cursor({ rows, written }: { rows: Record<string, unknown>[]; written: number }): object {
  return {
    [Symbol.iterator]: () => rows[Symbol.iterator](),
    toArray: () => rows,
    one: () => {
      if (rows.length !== 1) throw new Error("Expected exactly one result from SQL query");
      return rows[0];
    },
    rowsRead: rows.length,
    rowsWritten: written,
  };
}

/** The place of an object: its disk, its sockets, and the life it has now, if any. */
export class Slot {
  readonly home: ObjectHome;
  readonly className: string;
  readonly name: string;
  readonly id: ObjectId;
  disk = new Disk();
  life: Life | undefined;
  #sockets: { readonly socket: SimulatedSocket; readonly tags: readonly string[] }[] = [];
  #alarmArmedAt: number | null = null;

  constructor(home: ObjectHome, className: string, id: ObjectId, name: string) {
    this.home = home;
    this.className = className;
    this.id = id;
    this.name = name;
  }

  /** Has the object handle an event, in the life that it has or begins. */
  deliver<T>(handle: (life: Life) => T | Promise<T>): Promise<T> {
    const life = (this.life ??= new Life(this, this.home.isolateFor(this)));
    return life.run(() => life.track(life.opened().then(() => handle(life))));
  }

  accept(socket: SimulatedSocket, tags: readonly string[]): void {
    this.#sockets.push({ socket, tags });
    const forget = (): void => {
      this.#sockets = this.#sockets.filter((held) => held.socket !== socket);
    };
    socket.acceptAs({
      message: (_, data) => {
        void this.deliver((life) => life.user.webSocketMessage?.(socket, data)).catch(failed);
      },
      close: (_, code, reason) => {
        const isClean = code !== 1006;
        void this.deliver((life) => {
          forget();
          return life.user.webSocketClose?.(socket, code, reason, isClean);
        }).catch(failed);
      },
    });
  }

  socketsOf(tag: string | undefined): SimulatedSocket[] {
    const held = this.#sockets.filter(({ tags }) => tag === undefined || tags.includes(tag));
    return held.map(({ socket }) => socket);
  }

  /** The object sleeps: its memory goes, its sockets stay. */
  sleep(): void {
    const { life } = this;
    this.life = undefined;
    life?.end();
  }

  /** The life was lost: the sockets break, too. */
  lost(): void {
    this.life = undefined;
    for (const { socket } of this.#sockets.splice(0)) socket.drop();
  }

  /** Sees that the alarm on the disk, or of the life, is going to fire. */
  armAlarm(): void {
    const at = this.life?.storage.alarmAt ?? null;
    if (at === null || at === this.#alarmArmedAt) return;
    this.#alarmArmedAt = at;
    const { scheduler } = this.home;
    const fire = (): void => this.#fire(at, 0);
    scheduler.post(
      `alarm of ${this.name}`,
      `${this.name}: its alarm fires`,
      fire,
      at - scheduler.now,
    );
  }

  #fire(at: number, tries: number): void {
    if (this.#alarmArmedAt === at) this.#alarmArmedAt = null;
    const isDue = (life: Life): boolean => life.storage.alarmAt === at;
    let isHandled = false;
    const handling = this.deliver(async (life) => {
      if (!isDue(life)) return;
      life.storage.write((into) => (into.alarmAt = null));
      life.onEnd(() => {
        if (!isHandled) this.#retry(at, tries);
      });
      await life.user.alarm?.({ retryCount: tries, isRetry: tries > 0 });
      isHandled = true;
    });
    handling.catch(() => {
      isHandled = true;
      this.#retry(at, tries);
    });
  }

  /** At least once: an alarm whose handler has not ended well fires again. */
  #retry(at: number, tries: number): void {
    const { scheduler } = this.home;
    const again = (): void => {
      void this.deliver((life) => {
        if (life.storage.alarmAt === null) life.storage.write((into) => (into.alarmAt = at));
        return Promise.resolve();
      }).then(() => this.#fire(at, tries + 1));
    };
    scheduler.post(`alarm of ${this.name}`, `${this.name}: its alarm fires again`, again, 2000);
  }
}

function failed(): void {
  // The platform logs what a handler throws; the world checks the log.
}

export class ObjectId {
  readonly name?: string;
  readonly #text: string;

  constructor(text: string, name?: string) {
    this.#text = text;
    if (name !== undefined) this.name = name;
  }

  toString(): string {
    return this.#text;
  }

  equals(other: ObjectId): boolean {
    return other.#text === this.#text;
  }
}

/** The binding of a class: ids and stubs. */
export class Namespace {
  readonly home: ObjectHome;
  readonly className: string;
  readonly slots = new Map<string, Slot>();

  constructor(home: ObjectHome, className: string) {
    this.home = home;
    this.className = className;
  }

  newUniqueId(): ObjectId {
    const { random } = this.home;
    const part = (): string => random.bits().toString(16).padStart(8, "0");
    return new ObjectId(Array.from({ length: 8 }, part).join(""));
  }

  idFromString(text: string): ObjectId {
    return new ObjectId(text);
  }

  idFromName(name: string): ObjectId {
    return new ObjectId(`name:${name}`, name);
  }

  getByName(name: string): object {
    return this.get(this.idFromName(name));
  }

  get(id: ObjectId): object {
    const slot = this.#slot(id);
    // Calls of one stub arrive in the order in which they were made.
    const lane = `stub ${this.home.scheduler.number("stub")}`;
    return new Proxy(
      { id },
      {
        get: (target, method) => {
          if (method === "id") return target.id;
          if (typeof method !== "string" || method === "then") return undefined;
          if (method === "fetch") {
            return (input: Request | string, init?: RequestInit) =>
              fetchFrom(slot, new IsolateRequest(input, init));
          }
          return (...args: unknown[]) => call(slot, lane, method, args);
        },
      },
    );
  }

  #slot(id: ObjectId): Slot {
    const key = id.toString();
    let slot = this.slots.get(key);
    if (slot === undefined) {
      const number = this.home.scheduler.number(this.className);
      slot = new Slot(this.home, this.className, id, `${this.className} ${number}`);
      this.slots.set(key, slot);
    }
    return slot;
  }
}

function fetchFrom(slot: Slot, request: Request): Promise<Response> {
  const host = {
    context: () => (slot.life ??= new Life(slot, slot.home.isolateFor(slot))),
    serve: (copy: Request) => slot.deliver((life) => life.user.fetch?.(copy) ?? new Response(null)),
  };
  return send(slot.home.network, request, host);
}

/** Calls a method of an object. */
function call(
  slot: Slot,
  lane: string,
  method: string,
  args: readonly unknown[],
): Promise<unknown> {
  const from = Context.current();
  const { scheduler } = from;
  const label = `${from.name} → ${slot.name}.${method} #${scheduler.number("call")}`;
  const given = args.map((arg) => copyOver(arg));
  return new Promise((resolve, reject) => {
    let isSettled = false;
    const settle = (what: string, work: () => void): void => {
      if (isSettled) return;
      isSettled = true;
      from.post(label, `${label}: ${what}`, work);
    };
    const lost = (): void =>
      settle("the object was reset", () => reject(new ResetError("The object was reset.")));
    const arrive = (): void => {
      const life = (slot.life ??= new Life(slot, slot.home.isolateFor(slot)));
      const forget = life.onEnd(lost);
      const user = life.user as unknown as Record<string, (...args: unknown[]) => unknown>;
      const returned = (value: unknown): void =>
        life.leave(() => {
          forget();
          const copy = copyOver(value, { from: life, to: from, lane: label, label });
          settle("returns", () => resolve(copy));
        });
      const threw = (error: unknown): void =>
        life.leave(() => {
          forget();
          const copy = Object.assign(new Error((error as Error).message), { remote: true });
          settle("throws", () => reject(copy));
        });
      slot
        .deliver(() => {
          if (user[method] === undefined)
            throw new TypeError(`The RPC receiver does not implement the method "${method}".`);
          return user[method](...given);
        })
        .then(returned, threw);
    };
    from.leave(() => scheduler.post(lane, `${label}: arrives`, arrive));
  });
}
