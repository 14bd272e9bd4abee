/** How the load generator reads answers: whole, wherever the network cuts them, and nothing else. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { type Answer, AnswerReader } from "../../../bench/machinery/answer-reader.ts";

const LENGTH =
  "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\ncontent-length: 7\r\n\r\n{\r\n\r\n}\n";
const CHUNKED =
  "HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n" +
  "5\r\nhello\r\n1a;note=x\r\n, it is no answer\r\n\r\n0\r\nXY\r\n0\r\n\r\n";
const EMPTY = "HTTP/1.1 202 Accepted\r\nDate: today\r\n\r\n";

/** What is read of a text in such pieces, with how much was left when it was whole. */
function read(text: string, cuts: readonly number[] = []): Answer | undefined {
  const reader = new AnswerReader();
  const edges = [0, ...cuts.map((cut) => cut % text.length).toSorted((a, b) => a - b), text.length];
  let answer: Answer | undefined;
  for (let n = 1; n < edges.length; n++) answer = reader.read(text.slice(edges[n - 1], edges[n]));
  return answer;
}

describe("AnswerReader", () => {
  test("reads a body by its length, its chunks, or none", ({ expect }) => {
    expect(read(LENGTH)).toMatchObject({ status: 200, body: "{\r\n\r\n}\n" });
    expect(read(CHUNKED)).toMatchObject({
      status: 404,
      body: "hello, it is no answer\r\n\r\n0\r\nXY",
    });
    expect(read(EMPTY)).toMatchObject({ status: 202, body: "" });
  });

  test("reads the same wherever it is cut", ({ expect }) => {
    fc.assert(
      fc.property(fc.constantFrom(LENGTH, CHUNKED, EMPTY), fc.array(fc.nat(200)), (text, cuts) => {
        expect(read(text, cuts)).toEqual(read(text));
      }),
    );
  });

  test("waits for what is missing", ({ expect }) => {
    for (const text of [LENGTH, CHUNKED, EMPTY]) {
      expect(read(text.slice(0, -1))).toBeUndefined();
    }
  });

  test("reads one answer after the other", ({ expect }) => {
    const reader = new AnswerReader();
    expect(reader.read(LENGTH)?.status).toBe(200);
    expect(reader.read(CHUNKED)?.status).toBe(404);
  });

  test("refuses what nobody asked for, and chunks without a size", ({ expect }) => {
    expect(() => read(LENGTH + EMPTY)).toThrow("More came than was asked for");
    expect(() => read(CHUNKED.replace("5\r\nhello", "z\r\nhello"))).toThrow("no size");
  });
});
