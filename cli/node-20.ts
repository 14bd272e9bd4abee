/**
 * Node 20 has no `JSON.rawJSON`, so that no value is one. What the command shares with the gateway asks; it keeps
 * the digits of numbers by passing on the text.
 */

JSON.isRawJSON ??= isNone;

function isNone(_value: unknown): _value is never {
  return false;
}
