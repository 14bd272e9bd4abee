/** When the calls of an isolate, and those of an object, are sent: never on the way of an answer. */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import { isolateSink } from "../../../src/activity/isolate-sink.ts";
import { ObjectSink } from "../../../src/activity/object-sink.ts";
import { Outpost, record } from "./call-fixture.ts";

let outpost: Outpost;
let work: Promise<unknown>[];
const waitUntil = (promise: Promise<unknown>): void => void work.push(promise);

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
  outpost = new Outpost();
  work = [];
});
afterEach(() => {
  vi.useRealTimers();
});

/** Until a send is done: it begins with a timer that fires at once. */
async function sent(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
  await Promise.all(work);
}

const sinkOf = (alarms: number[] = []): ObjectSink =>
  new ObjectSink({
    ...{ queue: outpost.queue, now: () => Date.now() },
    scheduleAlarm: (at) => alarms.push(at),
  });

describe("the calls of an isolate", () => {
  test("are sent together, a second after the first", async ({ expect }) => {
    const sink = isolateSink(outpost.queue);
    for (let n = 0; n < 20; n++) sink.record(record(), waitUntil);
    expect(work).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(999);
    expect(outpost.batches).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(outpost.batches.map(({ lines }) => lines.length)).toEqual([20]);
    expect(vi.getTimerCount()).toBe(0);
    sink.record(record(), waitUntil);
    await vi.advanceTimersByTimeAsync(1000);
    expect(outpost.batches).toHaveLength(2);
  });

  test("are sent by another request when the platform has ended the first", async ({ expect }) => {
    const sink = isolateSink(outpost.queue);
    sink.record(record(), waitUntil);
    vi.clearAllTimers(); // as when its request ends
    vi.setSystemTime(1_000_000 + 5999);
    sink.record(record(), waitUntil);
    expect(work).toHaveLength(1);
    vi.setSystemTime(1_000_000 + 6000);
    sink.record(record(), waitUntil);
    await vi.advanceTimersByTimeAsync(1000);
    expect(outpost.batches.map(({ lines }) => lines.length)).toEqual([3]);
  });
});

describe("the calls of an object", () => {
  test("are sent at once, and no timer keeps the object in memory", async ({ expect }) => {
    const sink = sinkOf();
    sink.record(record({ name: "a" }), waitUntil);
    await sent();
    expect(vi.getTimerCount()).toBe(0);
    sink.record(record({ name: "b" }), waitUntil);
    await sent();
    expect(outpost.names).toEqual(["a", "b"]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("are sent after the answer", async ({ expect }) => {
    const sink = sinkOf();
    sink.record(record({ name: "a" }), waitUntil);
    for (let turn = 0; turn < 100; turn++) await Promise.resolve();
    expect(outpost.names).toEqual([]);
    await sent();
    expect(outpost.names).toEqual(["a"]);
  });

  test("that end with an answer go with it, and cost nothing more", async ({ expect }) => {
    const alarms: number[] = [];
    const sink = sinkOf(alarms);
    for (let n = 0; n < 100; n++) {
      sink.record(record({ name: `${n}` }), waitUntil);
      expect(sink.handOver().map(({ name }) => name)).toEqual([`${n}`]);
      await sent();
    }
    expect([sink.handOver(), outpost.batches, alarms]).toEqual([[], [], []]);
    // What they would have used up is there for the calls of streams.
    sink.record(record({ name: "last" }), waitUntil);
    await sent();
    expect(outpost.names).toEqual(["last"]);
  });

  test("that end while others are sent go together", async ({ expect }) => {
    const gate = Promise.withResolvers<void>();
    outpost.gate = gate.promise;
    const sink = sinkOf();
    sink.record(record(), waitUntil);
    await vi.advanceTimersByTimeAsync(0);
    for (let n = 1; n < 9; n++) sink.record(record(), waitUntil);
    gate.resolve();
    await sent();
    expect(outpost.batches.map(({ lines }) => lines.length)).toEqual([1, 8]);
  });

  test("wait for the alarm when there are many, and none is lost", async ({ expect }) => {
    const alarms: number[] = [];
    const sink = sinkOf(alarms);
    for (let n = 0; n < 100; n++) {
      sink.record(record(), waitUntil);
      await sent();
    }
    expect(outpost.batches).toHaveLength(60);
    expect(new Set(alarms)).toEqual(new Set([1_001_000]));
    expect(vi.getTimerCount()).toBe(0);
    await sink.flush();
    expect(outpost.names).toHaveLength(100);
    expect(outpost.batches).toHaveLength(61);
  });

  test("are counted when the object that keeps them is out of reach", async ({ expect }) => {
    outpost.isDown = true;
    const sink = sinkOf();
    sink.record(record(), waitUntil);
    await sent();
    outpost.isDown = false;
    sink.record(record(), waitUntil);
    await sent();
    expect([outpost.names.length, outpost.unlisted]).toEqual([1, 1]);
  });
});
