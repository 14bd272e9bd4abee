/** Compares numbers as they are written in JSON, digit by digit: a JavaScript number has no more than 17. */

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,15}))?$/;

/**
 * @returns the same text for equal numbers, as `42`, `42.0` and `4.2e1`: the digits that count, and the power
 *   of ten; `undefined` for a text that is no number, or has an exponent of more than 15 digits.
 */
export function normalForm(text: string): string | undefined {
  const match = NUMBER.exec(text);
  if (match === null) return undefined;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match;
  const digits = whole + fraction;
  let start = 0;
  while (digits[start] === "0") start += 1;
  if (start === digits.length) return "0e0";
  let end = digits.length;
  while (digits[end - 1] === "0") end -= 1;
  const power = Number(exponent) - fraction.length + digits.length - end;
  return `${sign}${digits.slice(start, end)}e${power}`;
}
