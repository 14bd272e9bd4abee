import * as fc from "fast-check";
import { describe, test } from "vitest";

import { memberText, onOneLine, partsOf } from "../../../../cli/stdio/json-text.ts";
import { errorText, readMessage, requestIdOf, withId } from "../../../../cli/stdio/message.ts";

function cancelledBy(id: string): string | undefined {
  const message = readMessage(
    `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}`,
  );
  return message && requestIdOf(message);
}

describe("parts of a JSON text", () => {
  test("of an array are its elements, whatever they are and however they are written", ({
    expect,
  }) => {
    const spaces = fc.constantFrom(undefined, 1, "\t");
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), spaces, (values, space) => {
        const text = JSON.stringify(values, null, space);
        expect(partsOf(text).map((part) => JSON.parse(part) as unknown)).toEqual(JSON.parse(text));
      }),
    );
  });

  test("of an object are found by name, as JSON.parse finds them", ({ expect }) => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
        const text = JSON.stringify(object, null, 2);
        for (const [name, value] of Object.entries(JSON.parse(text) as object)) {
          expect(JSON.parse(memberText(text, name) ?? "")).toEqual(value);
        }
      }),
    );
  });

  test("the last of two members of one name counts", ({ expect }) => {
    expect(memberText('{"id":1,"\\u0069d":2}', "id")).toBe("2");
  });

  test("a text of several lines says the same on one", ({ expect }) => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const line = onOneLine(JSON.stringify(value, null, "\t").replaceAll("\n", "\r\n"));
        expect(line).not.toMatch(/[\r\n]/);
        expect(JSON.parse(line)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

describe("a message", () => {
  test.for([
    ['{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping"}', "12345678901234567890"],
    ['{"jsonrpc":"2.0","id":1.5e300,"method":"ping"}', "1.5e300"],
    ['{"jsonrpc":"2.0","id":"\\u0061","method":"ping"}', '"a"'],
    ['{"jsonrpc":"2.0","id":0,"method":"ping"}', "0"],
  ] as const)("%s has its id with its digits", ([text, id], { expect }) => {
    expect(readMessage(text)?.parts).toEqual([{ kind: "request", id, method: "ping", params: {} }]);
  });

  test("of a batch has each of its parts", ({ expect }) => {
    const text =
      '[{"jsonrpc":"2.0","id":90071992547409931,"method":"ping"},{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","id":"x","result":{"y":1}}]';
    const { parts, isBatch } = readMessage(text) ?? {};
    expect(isBatch).toBe(true);
    expect(parts).toEqual([
      { kind: "request", id: "90071992547409931", method: "ping", params: {} },
      { kind: "notification", method: "a", params: {} },
      { kind: "response", id: '"x"', result: { y: 1 }, code: undefined },
    ]);
  });

  test.for([
    "",
    "{",
    "[]",
    "3",
    "null",
    '{"jsonrpc":"1.0","id":1,"method":"ping"}',
    '{"jsonrpc":"2.0","id":null,"method":"ping"}',
    '{"jsonrpc":"2.0","id":1}',
    '[{"jsonrpc":"2.0","method":"a"},3]',
  ])("is not %j", (text, { expect }) => {
    expect(readMessage(text)).toBeUndefined();
  });

  test("that cancels names the request as it was written", ({ expect }) => {
    expect(cancelledBy("12345678901234567890")).toBe("12345678901234567890");
    expect(cancelledBy('"\\u0061"')).toBe('"a"');
  });

  test("of the command's own has the id of the request", ({ expect }) => {
    expect(errorText("12345678901234567890", -1, 'no "x"')).toBe(
      '{"jsonrpc":"2.0","id":12345678901234567890,"error":{"code":-1,"message":"no \\"x\\""}}',
    );
    const nameless = '{"jsonrpc":"2.0","error":{"code":1,"message":"a"}}';
    expect(withId(nameless, '"x"')).toBe(
      '{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"a"}}',
    );
  });
});
