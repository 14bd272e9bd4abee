/** Works on many items with a limited number of calls under way at a time. */

/**
 * Calls `map` for each item, in the order of the items.
 *
 * @param signal once it is aborted, no call starts. Calls under way end as they themselves decide.
 * @returns the results in the order of the items.
 * @throws the first error of a call, or the reason of `signal`. No call starts after it; the results of
 *   calls under way are ignored.
 */
export async function mapLimited<Item, Result>(
  items: Iterable<Item>,
  limit: number,
  map: (item: Item) => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result[]> {
  const results: Result[] = [];
  const rest = each(items);
  let index = 0;
  const work = async (): Promise<void> => {
    try {
      for (let next = rest.next(); next.done !== true; next = rest.next()) {
        const place = index++;
        signal?.throwIfAborted();
        results[place] = await map(next.value);
      }
    } catch (error) {
      // Ends the other loops, too.
      rest.return();
      throw error;
    }
  };
  await Promise.all(Array.from({ length: limit }, work));
  return results;
}

function* each<Item>(items: Iterable<Item>): Generator<Item, void, void> {
  yield* items;
}
