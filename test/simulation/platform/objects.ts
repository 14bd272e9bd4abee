/**
 * Durable Objects by the platform's rules: one life at a time, which any call begins, and which ends at any
 * moment; sockets that outlive a life that sleeps; and an alarm that fires at least once.
 */

import { Alarm } from "./alarm.ts";
import type { Isolate } from "./isolate.ts";
import { Life } from "./life.ts";
import type { Network } from "./network.ts";
import { ObjectSockets } from "./object-sockets.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";
import { Disk, type Turn } from "./storage.ts";

export interface ObjectHome {
  readonly scheduler: Scheduler;
  readonly network: Network;
  readonly random: Random;
  /** The isolate in which an object comes to life. */
  readonly isolateFor: (slot: Slot) => Isolate;
  readonly confirmMs: () => number;
  /** Lives whose turn has written something. */
  readonly written: Set<Life>;
}

/** The place of an object: its disk, its sockets, and the life it has now, if any. */
export class Slot {
  readonly home: ObjectHome;
  readonly className: string;
  readonly name: string;
  readonly id: ObjectId;
  disk = new Disk();
  life: Life | undefined;
  readonly sockets: ObjectSockets = new ObjectSockets((handle) => {
    void this.deliver((life) => handle(life.user)).catch(failed);
  });
  readonly alarm: Alarm;

  constructor(home: ObjectHome, className: string, id: ObjectId, name: string) {
    this.home = home;
    this.className = className;
    this.id = id;
    this.name = name;
    this.alarm = new Alarm(name, home.scheduler, (handle) => {
      // An alarm that was set long ago does not know of whom it is.
      if (this.life === undefined && home.random.chance(0.5))
        this.living(new ObjectId(id.toString()));
      return this.deliver(handle).catch(failed);
    });
  }

  /** @param id as whoever begins a life knows it. */
  living(id: ObjectId = this.id): Life {
    return (this.life ??= new Life(this, id));
  }

  /** Has the object handle an event, in the life that it has or begins. */
  deliver<T>(handle: (life: Life) => T | Promise<T>): Promise<T> {
    const life = this.living();
    return life.run(() => life.track(life.opened().then(() => handle(life))));
  }

  /** The disk has got what was written in a turn. */
  keep({ writes, alarmAt }: Turn): void {
    this.disk.writes.push(...writes);
    this.alarm.confirmed(alarmAt);
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
    this.sockets.drop();
    this.alarm.lost();
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
