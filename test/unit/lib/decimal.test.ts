/** Numbers as JSON writes them, compared to the last digit. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { normalForm } from "../../../src/lib/decimal.ts";

describe("normalForm()", () => {
  test.for([
    ["42", "42.0", "4.2e1", "420E-1", "42e0", "42e+0"],
    ["0", "-0", "0.0", "0e99", "-0.00e-7"],
    ["-0.001", "-1e-3", "-0.0010"],
    ["1e400", "10E399", "1.000e400"],
    ["1187654321098765433", "1187654321098765433.0"],
  ])("is one for %s and its other texts", (texts, { expect }) => {
    expect(new Set(texts.map(normalForm)).size).toBe(1);
  });

  test.for([
    ["1187654321098765433", "1187654321098765434"],
    ["1e400", "1e401"],
    ["1", "-1"],
    ["0.1", "0.10000000000000001"],
  ])("tells %s from the other", ([one = "", other = ""], { expect }) => {
    expect(normalForm(one)).not.toBe(normalForm(other));
  });

  test.for(["", "a", "1.", ".5", "+1", "0x10", " 1", "1e", "NaN", "1e1234567890123456"])(
    "is none for %j",
    (text, { expect }) => {
      expect(normalForm(text)).toBeUndefined();
    },
  );

  test("is equal for equal numbers, of any digits and place of the point", ({ expect }) => {
    const digits = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n });
    fc.assert(
      fc.property(digits, digits, fc.nat({ max: 40 }), (one, other, zeros) => {
        const shifted = `${one}${"0".repeat(zeros)}e-${zeros}`;
        expect(normalForm(shifted)).toBe(normalForm(String(one)));
        expect(normalForm(String(one)) === normalForm(String(other))).toBe(one === other);
      }),
    );
  });
});
