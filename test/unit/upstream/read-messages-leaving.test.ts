/** A reader of an upstream's answer reads it at its own pace, and may leave it at any time. */

import { describe, test } from "vitest";

import type { Parsed } from "../../../src/protocol/json-rpc.ts";
import { readEvents, readMessages } from "../../../src/upstream/read-messages.ts";
import { bodyOf, bytesOf, failureOf } from "./fake-target.ts";
import { EVENTS, JSON_TYPE, notice, target } from "./read-back.ts";

/** An answer that goes on for as long as it is read: a message in each chunk. */
class Endless {
  readonly response: Response;
  /** How many chunks were asked for. */
  asked = 0;
  isCancelled = false;

  constructor(type: string) {
    const body = bodyOf(this.#chunks(type), () => {
      this.isCancelled = true;
    });
    this.response = new Response(body, { headers: { "Content-Type": type } });
  }

  *#chunks(type: string): Generator<Uint8Array> {
    for (;;) {
      this.asked += 1;
      const message = notice(this.asked);
      yield bytesOf(type === EVENTS ? `data: ${message}\n\n` : `${message}\n`);
    }
  }
}

describe.for([EVENTS, JSON_TYPE])("%s", (type) => {
  test("is cancelled by a reader that breaks out of it", async ({ expect }) => {
    const watched = new Endless(type);
    const seen: Parsed[] = [];
    for await (const parsed of readMessages(target, watched.response)) {
      seen.push(parsed);
      if (seen.length === 3) break;
    }
    expect(watched.isCancelled).toBe(true);
  });

  test("is cancelled by a reader that fails at a message of it", async ({ expect }) => {
    const watched = new Endless(type);
    const reading = async (): Promise<void> => {
      for await (const { kind } of readMessages(target, watched.response)) throw new Error(kind);
    };
    await expect(reading()).rejects.toThrow("notification");
    expect(watched.isCancelled).toBe(true);
  });

  test("is pulled no further than its reader reads", async ({ expect }) => {
    const watched = new Endless(type);
    const messages = readMessages(target, watched.response);
    for (let taken = 1; taken <= 20; taken++) {
      await messages.next();
      // A stream keeps one chunk ready, and the platform one more.
      expect(watched.asked).toBeLessThanOrEqual(taken + 2);
    }
    await messages.return();
    expect(watched.isCancelled).toBe(true);
  });

  test("is left without an error when it cannot be cancelled", async ({ expect }) => {
    const body = bodyOf([bytesOf(type === EVENTS ? "data: {\n\n" : "5\n")], () => {
      throw new Error("not now");
    });
    const response = new Response(body, { headers: { "Content-Type": type } });
    const reading = readMessages(target, response).next();
    expect(await failureOf(reading)).toMatchObject({ failure: "malformed" });
  });
});

test("an unknown format is refused before any of it has come", async ({ expect }) => {
  const { promise: never } = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>({ pull: () => never }, { highWaterMark: 0 });
  const response = new Response(body, { headers: { "Content-Type": "text/html" } });
  expect(await failureOf(readMessages(target, response).next())).toMatchObject({
    failure: "malformed",
  });
});

test("a stream of events is cancelled by a reader that leaves it", async ({ expect }) => {
  const watched = new Endless(EVENTS);
  const { body } = watched.response;
  if (body === null) throw new Error("it has a body");
  for await (const { name } of readEvents(target, body)) {
    expect(name).toBe("message");
    break;
  }
  expect(watched.isCancelled).toBe(true);
});
