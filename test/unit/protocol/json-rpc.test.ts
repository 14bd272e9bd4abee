/** The one parser of unknown JSON, and the functions that put envelopes on and take them off. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { parseLossless } from "../../../src/lib/lossless-json.ts";
import {
  errorReply,
  idKey,
  isRequestId,
  lengthOfId,
  notification,
  parseMessage,
  readableId,
  replyOf,
  type RequestId,
  respond,
} from "../../../src/protocol/json-rpc.ts";

const request = { jsonrpc: "2.0", id: 1, method: "ping" };
const result = { jsonrpc: "2.0", id: 1, result: {} };
const error = { jsonrpc: "2.0", id: 1, error: { code: -1, message: "m" } };

describe("parseMessage() takes", () => {
  test.for([
    { name: "a request", value: request, kind: "request" },
    { name: "a request with id 0", value: { ...request, id: 0 }, kind: "request" },
    { name: 'a request with id ""', value: { ...request, id: "" }, kind: "request" },
    { name: "params that are an object", value: { ...request, params: { a: 1 } }, kind: "request" },
    { name: "unknown members", value: { ...request, extra: [1] }, kind: "request" },
    { name: "a notification", value: { jsonrpc: "2.0", method: "n" }, kind: "notification" },
    { name: "a result", value: result, kind: "response" },
    { name: "a result with id 0", value: { ...result, id: 0 }, kind: "response" },
    { name: "an error", value: error, kind: "response" },
    {
      name: "an error with data",
      value: { ...error, error: { code: 1, message: "", data: [1] } },
      kind: "response",
    },
  ])("$name, unchanged", ({ value, kind }, { expect }) => {
    expect(parseMessage(value)).toEqual({ kind, message: value });
  });

  test("an error whose id could not be read, and drops the null", ({ expect }) => {
    const bare = { jsonrpc: "2.0", error: error.error };
    expect(parseMessage({ ...error, id: null })).toEqual({ kind: "response", message: bare });
    expect(parseMessage(bare)).toEqual({ kind: "response", message: bare });
  });
});

describe("parseMessage() refuses", () => {
  test.for([
    { name: "undefined", value: undefined },
    { name: "null", value: null },
    { name: "a number", value: 5 },
    { name: "a string", value: JSON.stringify(request) },
    { name: "an array", value: [request] },
    { name: "no version", value: { id: 1, method: "ping" } },
    { name: "another version", value: { ...request, jsonrpc: "1.0" } },
    { name: "a version that is a number", value: { ...request, jsonrpc: 2 } },
    { name: "a request with id null", value: { ...request, id: null } },
    { name: "a request with id true", value: { ...request, id: true } },
    { name: "a request with an id that is a list", value: { ...request, id: [1] } },
    { name: "a request with id NaN", value: { ...request, id: Number.NaN } },
    { name: "a request with an infinite id", value: { ...request, id: Infinity } },
    { name: "a method that is a number", value: { ...request, method: 1 } },
    { name: "a method that is null", value: { ...request, method: null } },
    { name: "params that are a list", value: { ...request, params: [1] } },
    { name: "params that are null", value: { ...request, params: null } },
    { name: "params that are a string", value: { ...request, params: "a" } },
    { name: "neither method nor result", value: { jsonrpc: "2.0", id: 1 } },
    { name: "a result without id", value: { jsonrpc: "2.0", result: {} } },
    { name: "a result with id null", value: { ...result, id: null } },
    { name: "a result that is null", value: { ...result, result: null } },
    { name: "a result that is a list", value: { ...result, result: [] } },
    { name: "a result that is a string", value: { ...result, result: "ok" } },
    { name: "a result and an error", value: { ...result, error: error.error } },
    { name: "an error that is a string", value: { ...error, error: "bad" } },
    { name: "an error without code", value: { ...error, error: { message: "m" } } },
    {
      name: "an error whose code is a string",
      value: { ...error, error: { code: "1", message: "" } },
    },
    { name: "an error without message", value: { ...error, error: { code: 1 } } },
    { name: "an error whose id is an object", value: { ...error, id: {} } },
  ])("$name", ({ value }, { expect }) => {
    expect(parseMessage(value)).toBeUndefined();
  });

  test("or accepts any JSON at all, without throwing", ({ expect }) => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.dictionary(fc.string(), fc.jsonValue()), (value, extra) => {
        expect(() => parseMessage(value)).not.toThrow();
        expect(() => parseMessage({ ...extra, jsonrpc: "2.0" })).not.toThrow();
      }),
    );
  });
});

describe("ids", () => {
  test.for([
    { value: 0, isId: true },
    { value: "", isId: true },
    { value: -7, isId: true },
    { value: "a", isId: true },
    { value: null, isId: false },
    { value: undefined, isId: false },
    { value: Number.NaN, isId: false },
    { value: {}, isId: false },
  ])("$value: $isId", ({ value, isId }, { expect }) => {
    expect(isRequestId(value)).toBe(isId);
    expect(readableId({ id: value })).toBe(isId ? value : undefined);
  });

  test("cannot be read from a value that is no object", ({ expect }) => {
    expect([null, 5, "id", [{ id: 1 }]].map(readableId)).toEqual(Array(4).fill(undefined));
  });
});

test("a reply put into an envelope and taken out is the same", ({ expect }) => {
  const replies = [{ result: { a: 1 } }, errorReply(-1, "m"), errorReply(-1, "m", { d: 0 })];
  for (const reply of replies) {
    const response = respond(0, reply);
    expect(response).toEqual({ jsonrpc: "2.0", id: 0, ...reply });
    expect(replyOf(response)).toEqual(reply);
    expect(parseMessage(response)).toEqual({ kind: "response", message: response });
  }
});

test("absent members stay absent on the wire", ({ expect }) => {
  expect(Object.keys(notification("n"))).toEqual(["jsonrpc", "method"]);
  expect(notification("n", { a: 1 })).toEqual({ jsonrpc: "2.0", method: "n", params: { a: 1 } });
  expect(Object.keys(errorReply(-1, "m").error)).toEqual(["code", "message"]);
});

function idIn(text: string): RequestId {
  const id = readableId(parseLossless(`{"id":${text}}`));
  if (id === undefined) throw new Error(`${text} is no id`);
  return id;
}

describe("ids of any size", () => {
  test.for([
    ["1", "1.0", "10e-1"],
    ["1187654321098765433", "1187654321098765433.0"],
    ["1e400", "10e399"],
    ["0", "-0", "-0.0"],
    ["1.5", "1.50"],
  ])("%s is equal to the other texts of its number", (texts, { expect }) => {
    expect(new Set(texts.map((text) => idKey(idIn(text)))).size).toBe(1);
  });

  test("differ in any digit, and from every string", ({ expect }) => {
    const texts = ["1187654321098765433", "1187654321098765434", '"1187654321098765433"', '"1e0"'];
    expect(new Set([...texts, "1"].map((text) => idKey(idIn(text)))).size).toBe(5);
  });

  test("come back as they were", ({ expect }) => {
    for (const text of ["123456789012345678", "1.0", "1e400", "-0", "1.5", '"\\"\\\\"']) {
      const response = JSON.stringify(respond(idIn(text), { result: {} }));
      expect(response).toBe(`{"jsonrpc":"2.0","id":${text},"result":{}}`);
    }
  });

  test("have the length of their text", ({ expect }) => {
    const lengths = ["12345678901234567890", '"abc"', "7", "1.0"].map((text) =>
      lengthOfId(idIn(text)),
    );
    expect([...lengths, lengthOfId({}), lengthOfId(undefined)]).toEqual([20, 3, 1, 3, 0, 0]);
  });
});

function withCode(code: string): unknown {
  const error = `{"code":${code},"message":"m","data":[1.0]}`;
  return parseMessage(parseLossless(`{"jsonrpc":"2.0","id":1.0,"error":${error}}`))?.message;
}

describe("the code of an error", () => {
  test.for(["-32601", "-32601.0", "-326010e-1"])(
    "%s is a JavaScript number",
    (code, { expect }) => {
      expect(JSON.stringify(withCode(code))).toBe(
        '{"jsonrpc":"2.0","id":1.0,"error":{"code":-32601,"message":"m","data":[1.0]}}',
      );
    },
  );

  test.for(["1e400", "12345678901234567890", "1.50"])(
    "%s makes the message invalid",
    (code, { expect }) => {
      expect(withCode(code)).toBeUndefined();
    },
  );
});
