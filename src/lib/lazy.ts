/** A value that is made at its first use, and then kept. */

/** @param make is called at most once. */
export function lazy<Made extends object>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => (made ??= make());
}
