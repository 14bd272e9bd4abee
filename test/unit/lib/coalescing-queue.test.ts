/** A reader gets one topic after the other; a topic that comes again while it waits is sent once. */

import { describe, test } from "vitest";

import { CoalescingQueue } from "../../../src/lib/coalescing-queue.ts";

const settle = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve));

/** A reader that takes one topic at a time, when the test lets it. */
class Reader {
  readonly received: string[] = [];
  #room = Promise.withResolvers<void>();

  readonly send = (topic: string): Promise<void> => {
    this.received.push(topic);
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
  test("gets a topic at once", ({ expect }) => {
    const { received, send } = new Reader();
    new CoalescingQueue(send).add("uri:a");
    expect(received).toEqual(["uri:a"]);
  });

  test("that is slow gets a topic that came again meanwhile once", async ({ expect }) => {
    const reader = new Reader();
    const queue = new CoalescingQueue(reader.send);
    for (const topic of ["uri:a", "uri:b", "uri:b", "uri:c", "uri:b"] as const) queue.add(topic);
    for (let n = 0; n < 4; n++) await reader.takes();
    expect(reader.received).toEqual(["uri:a", "uri:b", "uri:c"]);
    queue.add("uri:b");
    expect(reader.received.slice(3)).toEqual(["uri:b"]);
  });

  test("gets a topic again that came again after it was sent", async ({ expect }) => {
    const reader = new Reader();
    const queue = new CoalescingQueue(reader.send);
    queue.add("uri:a");
    queue.add("uri:a");
    expect(reader.received).toEqual(["uri:a"]);
    await reader.takes();
    expect(reader.received).toEqual(["uri:a", "uri:a"]);
  });

  test("that has left gets nothing more", async ({ expect }) => {
    const reader = new Reader();
    const queue = new CoalescingQueue(reader.send);
    queue.add("uri:a");
    queue.add("uri:b");
    await reader.leaves();
    queue.add("uri:c");
    await settle();
    expect(reader.received).toEqual(["uri:a"]);
  });
});
