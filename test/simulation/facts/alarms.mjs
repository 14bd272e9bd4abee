// @ts-nocheck -- as asking.mjs
/** Alarms. */

import { meanwhile, rest, settled, until, Witness } from "./asking.mjs";

export class Alarms extends Witness {
  async alarmed() {
    const { storage } = this.ctx;
    const before = await storage.getAlarm();
    const at = Date.now() + 100_000;
    await storage.setAlarm(at);
    const set = (await storage.getAlarm()) === at;
    await storage.deleteAlarm();
    const deleted = await storage.getAlarm();
    await storage.setAlarm(at);
    await storage.deleteAll();
    return [before, set, deleted, await storage.getAlarm()];
  }

  async wake(ms = 5) {
    await this.ctx.storage.setAlarm(Date.now() + ms);
  }

  async wakeNot(ms) {
    await this.wake(ms);
    await this.ctx.storage.deleteAlarm();
  }

  async alone() {
    await this.wake(1);
    await this.ctx.blockConcurrencyWhile(async () => {
      this.seen.push("alone begins");
      await rest(20);
      this.seen.push("alone ends");
    });
  }

  /** Without waiting between. */
  async wakeSome(...times) {
    const now = Date.now();
    await Promise.all(times.map((ms) => this.ctx.storage.setAlarm(now + ms)));
    return (await this.ctx.storage.getAlarm()) - now;
  }

  async does(what, ms = 5) {
    this.ctx.storage.kv.put("does", what);
    await this.wake(ms);
  }

  async next() {
    const at = await this.ctx.storage.getAlarm();
    return at === null ? null : at > Date.now() ? "later" : "now";
  }

  note(what) {
    const { kv } = this.ctx.storage;
    kv.put("notes", [...(kv.get("notes") ?? []), what]);
  }

  notes() {
    return this.ctx.storage.kv.get("notes") ?? [];
  }

  async alarm(info) {
    const { storage } = this.ctx;
    const does = storage.kv.get("does");
    storage.kv.delete("does");
    const next = await this.next();
    this.seen.push("alarm");
    this.note([info.isRetry, info.retryCount, next]);
    if (does === "again") await this.wake();
    if (does?.includes("sets")) await storage.setAlarm(Date.now() + 100_000);
    if (does?.includes("deletes")) await storage.deleteAlarm();
    if (does?.includes("empties")) {
      const notes = this.notes();
      await storage.deleteAll();
      storage.kv.put("notes", notes);
    }
    if (does?.includes("fails")) throw new Error("no");
    if (does?.includes("dies")) {
      await storage.sync();
      this.ctx.abort("dead");
    }
    if (does === "waits") {
      await meanwhile();
      this.note("waited");
    }
  }
}

/** Also of one that dies meanwhile. */
const notesOf = (again, count = 1) =>
  until(
    () =>
      again()
        .notes()
        .catch(() => []),
    ({ length }) => length >= count,
  );

/** Asks one whose alarm is tried again until it was: the others would have been, too. */
async function retried(does, { env, name }) {
  const others = does.map((what) => () => env.ALARMS.getByName(`${name}: ${what}`));
  for (const [index, other] of others.entries()) await other().does(does[index]);
  for (const other of others) await notesOf(other);
  const first = () => env.ALARMS.getByName(`${name}: the first`);
  await first().does("fails");
  await notesOf(first, 2);
  await settled();
  return Promise.all(others.map(async (other) => [await other().notes(), await other().next()]));
}

export const facts = {
  "an alarm is set, and goes with everything": (stub) => stub.alarmed(),
  "an alarm fires once, and is gone then": async (stub, { again }) => {
    await stub.wake();
    await notesOf(again);
    await settled();
    return [await stub.saw(), await stub.notes()];
  },
  "an alarm of the past fires at once": async (stub, { again }) => {
    await stub.wake(-100_000);
    return notesOf(again);
  },
  "the last alarm that was set counts": (stub) => stub.wakeSome(100_000, 300_000, 200_000),
  "an earlier alarm takes the place of a later one": async (stub, { again }) => {
    await stub.wake(100_000);
    await stub.wake(5);
    return notesOf(again);
  },
  "a later alarm takes the place of an earlier one": async (stub) => {
    await stub.wakeSome(20, 100_000);
    await settled();
    return [await stub.notes(), await stub.next()];
  },
  "an alarm may set the next": async (stub, { again }) => {
    await stub.does("again");
    return notesOf(again, 2);
  },
  "an alarm begins a life": async (stub, { again, evict }) => {
    await stub.wake(1000);
    await evict();
    return [await notesOf(again), await again().saw()];
  },
  "a deleted alarm does not fire": async (stub) => {
    await stub.wakeNot(5);
    await settled();
    return stub.notes();
  },
  "an alarm that fails is tried again, and the life goes on": async (stub, { again }) => {
    await stub.does("fails");
    await notesOf(again);
    const next = await again().next();
    return [next, await notesOf(again, 2), await again().saw()];
  },
  "an alarm whose object dies is tried again": async (stub, { again }) => {
    await stub.does("dies");
    return [await notesOf(again, 2), await again().saw()];
  },
  "an alarm is not tried again if it has set or deleted one": (_, tools) =>
    retried(
      [
        ...["sets and fails", "deletes and fails", "empties and fails"],
        ...["sets and dies", "deletes and dies", "empties and dies"],
      ],
      tools,
    ),
  "no alarm comes in while nothing may": async (stub, { again }) => {
    await stub.alone();
    await notesOf(again);
    return stub.saw();
  },
  "calls come in while an alarm waits": async (stub, { again }) => {
    await stub.does("waits");
    return [await notesOf(again), await notesOf(again, 2)];
  },
};
