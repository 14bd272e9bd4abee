/**
 * What Node 20 lacks of what the command shares with the gateway. It has no `JSON.rawJSON`, so that no value is one:
 * the command keeps the digits of numbers by passing on the text.
 */

JSON.isRawJSON ??= isNone;
Promise.withResolvers ??= withResolvers;

function isNone(_value: unknown): _value is never {
  return false;
}

function withResolvers<T>(): PromiseWithResolvers<T> {
  let resolve!: (value: T | PromiseLike<T>) => void;
  let reject!: (reason?: unknown) => void;
  const promise = new Promise<T>((...both) => ([resolve, reject] = both));
  return { promise, resolve, reject };
}
