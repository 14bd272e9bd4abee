/** Answers that are no event stream: one value, arrays, NDJSON, and invalid ones. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { readMessages } from "../../../src/upstream/read-messages.ts";
import { bodyOf, bytesOf, failureOf, fakeTarget } from "./fake-target.ts";
import {
  answer,
  cut,
  declaring,
  EVENTS,
  JSON_TYPE,
  networkTarget,
  notice,
  readAll,
  smallTarget,
  target,
} from "./read-back.ts";

describe("under application/json", () => {
  test.for([
    { name: "one value", body: notice(1), values: [1] },
    { name: "one value and a line end", body: `${notice(1)}\r\n`, values: [1] },
    { name: "one value, pretty-printed", body: notice({ a: [1] }, 2), values: [{ a: [1] }] },
    { name: "line ends before it", body: `\n\n${notice(1, 2)}`, values: [1] },
    { name: "an array", body: `[${notice(1)},${notice(2)}]`, values: [1, 2] },
    {
      name: "an array, pretty-printed",
      body: `[\n  ${notice(1, 2)},\n  ${notice(2)}\n]`,
      values: [1, 2],
    },
    { name: "an empty array", body: "[]", values: [] },
    { name: "nothing", body: "", values: [] },
    { name: "white space", body: " \r\n\n", values: [] },
    { name: "a byte order mark", body: `\ufeff${notice(1)}`, values: [1] },
    { name: "lines", body: `${notice(1)}\n${notice(2)}\n`, values: [1, 2] },
    {
      name: "lines, the last not ended",
      body: `${notice(1)}\n${notice(2)}`,
      values: [1, 2],
    },
    {
      name: "lines with CRLF and blanks",
      body: `${notice(1)}\r\n\r\n${notice(2)}\r\n`,
      values: [1, 2],
    },
    {
      name: "lines that are arrays",
      body: `[${notice(1)}]\n[${notice(2)}]\n`,
      values: [1, 2],
    },
  ])("reads $name", async ({ body, values }, { expect }) => {
    expect(await readAll(answer([bytesOf(body)], JSON_TYPE))).toEqual(values);
    expect(await readAll(answer(cut(bytesOf(body), [1]), JSON_TYPE))).toEqual(values);
    const declared = declaring(bytesOf(body).byteLength, body);
    expect(await readAll(declared, networkTarget)).toEqual(values);
  });

  test("reads any messages in any chunks, by line or pretty-printed", async ({ expect }) => {
    const sizes = fc.array(fc.integer({ min: 1, max: 15 }), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.jsonValue(), { minLength: 1, maxLength: 4 }),
        sizes,
        fc.boolean(),
        async (values, sizes, isByLine) => {
          const messages = values.map((value) => notice(value, isByLine ? undefined : 2));
          const body = isByLine ? messages.join("\n") : `[\n${messages.join(",\n")}\n]`;
          const chunks = cut(bytesOf(body), sizes);
          expect(await readAll(answer(chunks, JSON_TYPE))).toEqual(
            JSON.parse(JSON.stringify(values)),
          );
        },
      ),
    );
  });

  test.for([
    { name: "through a binding", by: target, length: 10 },
    {
      name: "when compressed",
      by: networkTarget,
      length: 10,
      more: { "Content-Encoding": "gzip" },
    },
    { name: "in chunks", by: networkTarget, length: 10, more: { "Transfer-Encoding": "chunked" } },
    { name: "over the limit", by: networkTarget, length: 70_000 },
  ])(
    "is read as a stream $name, whatever it declares",
    async ({ by, length, more }, { expect }) => {
      const { promise: never } = Promise.withResolvers<void>();
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(bytesOf(`${notice(1)}\n`)),
        pull: () => never,
      });
      const messages = readMessages(by, declaring(length, body, more));
      expect((await messages.next()).value).toMatchObject({ message: { params: { value: 1 } } });
    },
  );

  test("is lost when it breaks off before its declared end", async ({ expect }) => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(bytesOf(notice(1))),
      pull: (controller) => controller.error(new Error("reset by peer")),
    });
    const reading = readAll(declaring(1000, body), networkTarget);
    expect(await failureOf(reading)).toMatchObject({ failure: "lost" });
  });

  test("yields a line before the next one has come", async ({ expect }) => {
    const { promise: never } = Promise.withResolvers<void>();
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(bytesOf(`${notice(1)}\n`)),
      pull: () => never,
    });
    const response = new Response(body, { headers: { "Content-Type": "application/json" } });
    expect((await readMessages(target, response).next()).value).toMatchObject({
      message: { params: { value: 1 } },
    });
  });

  // Looking through all that is there with each chunk would take half a minute.
  test("reads a large message in small chunks as fast as it comes", async ({ expect }) => {
    const large = fakeTarget(() => new Response(), { maxMessageChars: 16e6 });
    const body = bytesOf(notice("x".repeat(8e6)));
    const [value] = await readAll(answer(cut(body, [4096]), JSON_TYPE), large);
    expect(value).toHaveLength(8e6);
  });

  // The same for a body of many lines that is one value all the same.
  test("reads a large pretty-printed message in small chunks", async ({ expect }) => {
    const large = fakeTarget(() => new Response(), { maxMessageChars: 16e6 });
    const line = `\n${" ".repeat(1023)}`;
    const body = bytesOf(`{${line.repeat(8192)}${notice(1).slice(1)}`);
    expect(await readAll(answer(cut(body, [1024]), JSON_TYPE), large)).toEqual([1]);
  });

  test("has a content type with parameters, in any case", async ({ expect }) => {
    const response = answer([bytesOf(notice(1))], "Application/JSON; charset=utf-8");
    expect(await readAll(response)).toEqual([1]);
  });

  test.for([
    { name: "one value", body: notice("x".repeat(2000)) },
    { name: "a line", body: `${notice(1)}\n${notice("x".repeat(2000))}\n` },
    { name: "a pretty-printed value", body: notice("x".repeat(2000), 2) },
  ])("keeps $name to the limit and hangs up", async ({ body }, { expect }) => {
    let isCancelled = false;
    function* chunks(): Generator<Uint8Array> {
      for (let at = 0; at < body.length; at += 100) yield bytesOf(body.slice(at, at + 100));
      for (;;) yield bytesOf(" ");
    }
    const stream = bodyOf(chunks(), () => {
      isCancelled = true;
    });
    const response = new Response(stream, { headers: { "Content-Type": "application/json" } });
    expect(await failureOf(readAll(response, smallTarget))).toMatchObject({
      failure: "malformed",
      message: 'Upstream "fake" sent a message of over 1024 characters',
    });
    expect(isCancelled).toBe(true);
  });

  test("counts each line by itself, also when many come at once", async ({ expect }) => {
    const lines = Array.from({ length: 100 }, (_, index) => `${notice(index)}\n`).join("");
    expect(await readAll(answer([bytesOf(lines)], JSON_TYPE), smallTarget)).toHaveLength(100);
  });

  test.for([
    { name: "text", body: "SECRET" },
    { name: "HTML", body: "<h1>SECRET</h1>\n<p>more</p>" },
    { name: "half a value", body: '{"jsonrpc":"2.0","SECRET' },
    { name: "another JSON value", body: '"SECRET"' },
    { name: "null", body: "null" },
    { name: "an object that is no message", body: '{"SECRET":1}' },
    { name: "a message and garbage", body: `${notice(1)}\nSECRET\n` },
    { name: "an array with something else in it", body: `[${notice(1)},"SECRET"]` },
  ])("ends at $name, naming the slug and quoting nothing", async ({ body }, { expect }) => {
    const failure = await failureOf(readAll(answer([bytesOf(body)], JSON_TYPE)));
    expect(failure).toMatchObject({ name: "UpstreamError", failure: "malformed" });
    expect((failure as Error).message).toMatch(/^Upstream "fake" answered with (?!.*SECRET)/);
  });
});

test.for(["text/html", "text/plain", "application/xml", "application/jsonp"])(
  "the content type %s is refused and its body cancelled",
  async (type, { expect }) => {
    let isCancelled = false;
    const body = bodyOf([bytesOf(notice(1))], () => {
      isCancelled = true;
    });
    const response = new Response(body, { headers: { "Content-Type": type } });
    expect(await failureOf(readAll(response))).toMatchObject({
      failure: "malformed",
      message: expect.stringContaining('Upstream "fake" answered with a content type'),
    });
    expect(isCancelled).toBe(true);
  },
);

test("a response without a body has no messages", async ({ expect }) => {
  expect(await readAll(new Response(null, { status: 202 }))).toEqual([]);
});

test.for(["text/event-stream", "application/json"])(
  "a connection that breaks under %s is lost, after the messages that it brought",
  async (type, { expect }) => {
    const whole = type === "application/json" ? `${notice(1)}\n` : `data: ${notice(1)}\n\n`;
    let pulls = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulls += 1;
        if (pulls === 1) controller.enqueue(bytesOf(whole));
        else controller.error(new Error("reset by peer"));
      },
    });
    const messages = readMessages(
      target,
      new Response(body, { headers: { "Content-Type": type } }),
    );
    expect((await messages.next()).value).toMatchObject({ kind: "notification" });
    await expect(messages.next()).rejects.toMatchObject({ failure: "lost" });
  },
);

// JSON.parse takes any depth, but JSON.stringify ends in a RangeError at some thousand levels: what
// is too deep to be passed on is the upstream's fault, and must be reported where it is read.
test.for([EVENTS, JSON_TYPE])(
  "%s that nests too deep to be sent on is refused",
  async (type, { expect }) => {
    const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
    const message = `{"jsonrpc":"2.0","id":1,"result":{"deep":${deep}}}`;
    const body = type === EVENTS ? `data: ${message}\n\n` : message;
    const failure = await failureOf(readAll(answer([bytesOf(body)], type)));
    expect(failure).toMatchObject({ name: "UpstreamError", failure: "malformed" });
    expect((failure as Error).message).toContain('Upstream "fake"');
  },
);

// A parsed value takes twenty times the memory of its text when that is all brackets.
test.for([
  { name: "an event", type: EVENTS, bodyOf: (message: string) => `data: ${message}\n\n` },
  { name: "a value", type: JSON_TYPE, bodyOf: (message: string) => message },
  { name: "a line", type: JSON_TYPE, bodyOf: (message: string) => `${message}\n` },
])("$name of more values than the limit is refused", async ({ type, bodyOf }, { expect }) => {
  const large = fakeTarget(() => new Response(), { maxMessageChars: 16e6 });
  const read = (count: number): Promise<unknown[]> => {
    const message = notice([]).replace("[]", `[${"{},".repeat(count)}1]`);
    return readAll(answer([bytesOf(bodyOf(message))], type), large);
  };
  expect(await read(200_000)).toHaveLength(1);
  const failure = await failureOf(read(300_000));
  expect(failure).toMatchObject({ name: "UpstreamError", failure: "malformed" });
  expect((failure as Error).message).toBe('Upstream "fake" sent a message of over 500000 values');
});
