/** What takes long to make and is seldom wanted: made when somebody asks for it, and then kept. */

/** @param make is called once at the most. */
export function lazy<Made extends object>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => (made ??= make());
}
