/** Which tools are run as tasks alone: how much of a list is read for it, how often, and for whom. */

import { expect, test } from "vitest";

import { TaskOnlyTools } from "../../../../src/relay/tasks/task-only-tools.ts";
import type { Call } from "../../../../src/protocol/exchange.ts";
import type { JsonObject, Reply } from "../../../../src/protocol/json-rpc.ts";

const never = new AbortController().signal;
const tool = (name: string): JsonObject => ({ name, execution: { taskSupport: "required" } });

/** A list of pages; each waits until it is let go. */
class Lister {
  readonly asked: Call[] = [];
  readonly signals: AbortSignal[] = [];
  readonly #pages: readonly (readonly JsonObject[])[];
  gate: Promise<void> = Promise.resolve();

  constructor(...pages: readonly (readonly JsonObject[])[]) {
    this.#pages = pages;
  }

  readonly request = async (sent: { call: Call; signal: AbortSignal }): Promise<Reply> => {
    const { call, signal } = sent;
    this.asked.push(call);
    this.signals.push(signal);
    await this.gate;
    signal.throwIfAborted();
    const at = Number(call.params?.["cursor"] ?? 0);
    const more = at + 1 < this.#pages.length ? { nextCursor: String(at + 1) } : {};
    return { result: { tools: this.#pages[at] ?? [], ...more } };
  };
}

test("a list is read up to its limit", async () => {
  const lister = new Lister([tool("a"), tool("b")], [tool("c"), tool("d")], [tool("e")]);
  const tools = new TaskOnlyTools(() => 0, 3);
  const known = ["a", "c", "d", "e"].map((name) => tools.has(lister, name, never));
  expect(await Promise.all(known)).toEqual([true, true, false, false]);
  expect(lister.asked).toHaveLength(2);
});

test("a tool with a long name is not kept", async () => {
  const [fits, long] = ["n".repeat(1024), "n".repeat(1025)];
  const tools = new TaskOnlyTools(() => 0, 100);
  const lister = new Lister([tool(fits), tool(long)]);
  expect(await tools.has(lister, fits, never)).toBe(true);
  expect(await tools.has(lister, long, never)).toBe(false);
});

test("calls that come together read the list once, and go on when one of them leaves", async () => {
  const lister = new Lister([tool("a")]);
  const { promise, resolve } = Promise.withResolvers<void>();
  lister.gate = promise;
  const tools = new TaskOnlyTools(() => 0, 100);
  const leaving = new AbortController();
  const left = tools.has(lister, "a", leaving.signal);
  const stays = tools.has(lister, "a", never);
  leaving.abort(new Error("gone"));
  await expect(left).rejects.toThrow("gone");
  resolve();
  expect(await stays).toBe(true);
  expect(lister.asked).toHaveLength(1);
});

test("a list that no call waits for is not read on, and the next call reads it again", async () => {
  const lister = new Lister([tool("a")], [tool("b")]);
  const { promise, resolve } = Promise.withResolvers<void>();
  lister.gate = promise;
  const tools = new TaskOnlyTools(() => 0, 100);
  const leaving = new AbortController();
  const left = tools.has(lister, "a", leaving.signal);
  leaving.abort(new Error("gone"));
  await expect(left).rejects.toThrow("gone");
  expect(lister.signals[0]?.aborted).toBe(true);
  const next = tools.has(lister, "b", never);
  resolve();
  expect(await next).toBe(true);
  expect(lister.asked).toHaveLength(3);
});

test("a failure reaches all calls that wait, and is not remembered", async () => {
  const lister = new Lister([tool("a")]);
  lister.gate = Promise.reject(new Error("down"));
  const tools = new TaskOnlyTools(() => 0, 100);
  const both = [1, 2].map(() => tools.has(lister, "a", never));
  for (const one of await Promise.allSettled(both)) expect(one.status).toBe("rejected");
  lister.gate = Promise.resolve();
  expect(await tools.has(lister, "a", never)).toBe(true);
});
