/** An upstream's event stream, read as messages: events that count, events that are skipped, and the end. */

import { describe, test } from "vitest";

import { SSE_HEADERS } from "../../../src/protocol/sse.ts";
import { readMessages, type SsePosition } from "../../../src/upstream/read-messages.ts";
import { bodyOf, bytesOf, failureOf } from "./fake-target.ts";
import { answer, cut, EVENTS, notice, readAll, smallTarget, target } from "./read-back.ts";

describe("readMessages() of events", () => {
  const one = notice(1);
  test.for([
    { name: "skips comments", text: `: hello\n\ndata: ${one}\n:x\n\n`, values: [1] },
    { name: "skips empty data", text: `id: 1\ndata: \n\ndata:\n\ndata: ${one}\n\n`, values: [1] },
    {
      name: "skips other events",
      text: `event: endpoint\ndata: /x\n\ndata: ${one}\n\n`,
      values: [1],
    },
    { name: "takes a message named so", text: `event: message\ndata: ${one}\n\n`, values: [1] },
    { name: "takes data without a space", text: `data:${one}\n\n`, values: [1] },
    { name: "takes a byte order mark", text: `\ufeffdata: ${one}\n\n`, values: [1] },
    { name: "takes an array", text: `data: [${one},${notice(2)}]\n\n`, values: [1, 2] },
    {
      name: "drops an event that is cut short",
      text: `data: ${one}\n\ndata: ${one}\n`,
      values: [1],
    },
    { name: "ignores unknown fields", text: `foo: bar\nbaz\ndata: ${one}\n\n`, values: [1] },
  ])("$name", async ({ text, values }, { expect }) => {
    expect(await readAll(answer([bytesOf(text)], EVENTS))).toEqual(values);
  });

  test.for([
    {
      name: "an id and retry",
      text: `id: a\nretry: 50\ndata: ${one}\n\n`,
      point: { lastEventId: "a", ownId: "a", retryMs: 50 },
    },
    { name: "a priming event", text: "id: p\ndata: \n\n", point: { lastEventId: "p" } },
    // The id counts whether or not there is data (HTML Living Standard, 9.2.6).
    { name: "an id without data", text: "id: p\n\n", point: { lastEventId: "p" } },
    { name: "retry alone", text: "retry: 7\n\n", point: { retryMs: 7 } },
    {
      name: "an id of an event of another name",
      text: "event: x\nid: 2\ndata: y\n\n",
      point: { lastEventId: "2" },
    },
    {
      name: "no id where there is none",
      text: `id: 1\ndata: \n\ndata: ${one}\n\n`,
      point: { lastEventId: "1" },
    },
    {
      name: "no id of an event that is cut short",
      text: "id: 1\ndata: \n\nid: 2\ndata: ",
      point: { lastEventId: "1" },
    },
    { name: "no id with NUL", text: "id: a\0b\ndata: \n\n", point: {} },
    { name: "no retry that is no number", text: "retry: soon\n\n", point: {} },
  ])("keeps $name", async ({ text, point }, { expect }) => {
    const resume: SsePosition = {};
    await readAll(answer([bytesOf(text)], EVENTS), target, resume);
    expect(resume).toEqual(point);
  });

  test("yields a message before the next one has come", async ({ expect }) => {
    const { promise: never } = Promise.withResolvers<void>();
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(bytesOf(`data: ${one}\n\n`)),
      pull: () => never,
    });
    const messages = readMessages(target, new Response(body, { headers: SSE_HEADERS }));
    expect((await messages.next()).value).toMatchObject({ message: { params: { value: 1 } } });
  });

  test("tolerates broken UTF-8, within its own character", async ({ expect }) => {
    const [before, after] = notice("a|b").split("|");
    const bytes = [bytesOf(`data: ${before}`), Uint8Array.of(0xff, 0xc3), bytesOf(`${after}\n\n`)];
    expect(await readAll(answer(bytes, EVENTS))).toEqual(["a\ufffd\ufffdb"]);
  });

  test("keeps to its limit, whatever the chunks", async ({ expect }) => {
    const message = `data: ${notice("x".repeat(1100))}\n\n`;
    for (const size of [16, 100, 1100, 10_000]) {
      const failure = await failureOf(
        readAll(answer(cut(bytesOf(message), [size]), EVENTS), smallTarget),
      );
      expect(failure, `chunks of ${size}`).toMatchObject({
        failure: "malformed",
        message: 'Upstream "fake" sent a message of over 1024 characters',
      });
    }
  });

  test("counts each message by itself", async ({ expect }) => {
    const many = Array.from({ length: 100 }, (_, index) => `data: ${notice(index)}\n\n`).join("");
    expect(await readAll(answer([bytesOf(many)], EVENTS), smallTarget)).toHaveLength(100);
  });

  test("yields the messages that came whole before one that is too large", async ({ expect }) => {
    const bytes = bytesOf(`data: ${one}\n\ndata: ${"x".repeat(2000)}`);
    const response = answer([bytes], EVENTS);
    const messages = readMessages(smallTarget, response);
    expect((await messages.next()).value).toMatchObject({ message: { params: { value: 1 } } });
    await expect(messages.next()).rejects.toMatchObject({ failure: "malformed" });
  });

  test("stops an endless message at its limit and hangs up", async ({ expect }) => {
    let sent = 0;
    let isCancelled = false;
    function* endless(): Generator<Uint8Array> {
      yield bytesOf("data: ");
      for (; sent < 1000; sent++) yield bytesOf("x".repeat(100));
    }
    const body = bodyOf(endless(), () => {
      isCancelled = true;
    });
    const messages = readMessages(smallTarget, new Response(body, { headers: SSE_HEADERS }));
    await expect(messages.next()).rejects.toMatchObject({ failure: "malformed" });
    expect({ isCancelled, stoppedEarly: sent < 50 }).toEqual({
      isCancelled: true,
      stoppedEarly: true,
    });
  });

  test.for([
    { name: "a comment", field: ":" },
    { name: "an unknown field", field: "x:" },
    { name: "a field without a colon", field: "dat" },
    { name: "an event name", field: "event: " },
    { name: "an id", field: "id: " },
    { name: "a retry", field: "retry: " },
  ])("stops $name without an end at the limit of a message", async ({ field }, { expect }) => {
    for (const size of [1, 100, 3000]) {
      let sent = 0;
      function* endless(): Generator<Uint8Array> {
        yield bytesOf(field);
        for (; sent < 60_000; sent += size) yield bytesOf("1".repeat(size));
      }
      const failure = await failureOf(readAll(answer(endless(), EVENTS), smallTarget));
      expect(failure, `chunks of ${size}`).toMatchObject({
        failure: "malformed",
        message: 'Upstream "fake" sent a message of over 1024 characters',
      });
      expect(sent, `chunks of ${size}`).toBeLessThan(10_000);
    }
  });

  test.for(["\n", "\r\n", "\r"])(
    "stops an event of lines that carry no data, ended by %j",
    async (end, { expect }) => {
      const lines = `:x${end}y: z${end}id: 1${end}`.repeat(200);
      for (const size of [1, 3, 64, 10_000]) {
        const chunks = cut(bytesOf(`${lines}data: ${one}${end}${end}`), [size]);
        expect(
          await failureOf(readAll(answer(chunks, EVENTS), smallTarget)),
          `chunks of ${size}`,
        ).toMatchObject({ failure: "malformed" });
      }
    },
  );

  test.for(["\n", "\r\n", "\r"])(
    "reads on for as long as comments and short events come, ended by %j",
    async (end, { expect }) => {
      const text = `:${"k".repeat(500)}${end}${end}id: 1${end}data: ${one}${end}${end}`.repeat(50);
      for (const size of [1, 7, 512, 100_000]) {
        const chunks = cut(bytesOf(text), [size]);
        const read = readAll(answer(chunks, EVENTS), smallTarget);
        expect(await read, `chunks of ${size}`).toHaveLength(50);
      }
    },
  );

  test("has the whole limit for the data of an event that has other fields", async ({ expect }) => {
    const message = notice("x".repeat(1000 - notice("").length));
    const other = `:${"k".repeat(500)}\nid: ${"i".repeat(400)}\n`;
    for (const size of [1, 100, 10_000]) {
      const chunks = cut(bytesOf(`${other}data: ${message}\n\n`), [size]);
      expect(await readAll(answer(chunks, EVENTS), smallTarget)).toHaveLength(1);
    }
  });

  test.for(["not json", "{", "5", "null", '"x"', "{}", '{"jsonrpc":"2.0"}', '[{"id":1}]'])(
    "ends at the data %j, naming the slug and quoting nothing",
    async (data, { expect }) => {
      const failure = await failureOf(
        readAll(answer([bytesOf(`data: ${data}\ndata: \n\n`)], EVENTS)),
      );
      expect(failure).toMatchObject({ name: "UpstreamError", failure: "malformed" });
      expect((failure as Error).message).toMatch(/^Upstream "fake" answered with [a-z A-Z]+$/);
    },
  );
});
