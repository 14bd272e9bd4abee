/** A reader is told of one thing after the other; what comes again while it waits is told once. */

import { describe, test } from "vitest";

import { CoalescingQueue } from "../../../src/lib/coalescing-queue.ts";

const settle = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve));

/** A reader that has room for one thing at a time, and says when. */
class Reader {
  readonly told: string[] = [];
  #room = Promise.withResolvers<void>();

  readonly tell = (topic: string): Promise<void> => {
    this.told.push(topic);
    return this.#room.promise;
  };

  async takes(): Promise<void> {
    const room = this.#room;
    this.#room = Promise.withResolvers();
    room.resolve();
    await settle();
  }

  async leaves(): Promise<void> {
    this.#room.reject(new Error("gone"));
    await settle();
  }
}

describe("a reader", () => {
  test("is told at once", ({ expect }) => {
    const { told, tell } = new Reader();
    new CoalescingQueue(tell).add("uri:a");
    expect(told).toEqual(["uri:a"]);
  });

  test("that is slow is told once of what came again meanwhile", async ({ expect }) => {
    const reader = new Reader();
    const telling = new CoalescingQueue(reader.tell);
    for (const topic of ["uri:a", "uri:b", "uri:b", "uri:c", "uri:b"] as const) telling.add(topic);
    for (let n = 0; n < 4; n++) await reader.takes();
    expect(reader.told).toEqual(["uri:a", "uri:b", "uri:c"]);
    telling.add("uri:b");
    expect(reader.told.slice(3)).toEqual(["uri:b"]);
  });

  test("is told again of what has changed since it was told", async ({ expect }) => {
    const reader = new Reader();
    const telling = new CoalescingQueue(reader.tell);
    telling.add("uri:a");
    telling.add("uri:a");
    expect(reader.told).toEqual(["uri:a"]);
    await reader.takes();
    expect(reader.told).toEqual(["uri:a", "uri:a"]);
  });

  test("that has gone is told nothing more", async ({ expect }) => {
    const reader = new Reader();
    const telling = new CoalescingQueue(reader.tell);
    telling.add("uri:a");
    telling.add("uri:b");
    await reader.leaves();
    telling.add("uri:c");
    await settle();
    expect(reader.told).toEqual(["uri:a"]);
  });
});
