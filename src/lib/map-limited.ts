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
  let index = 0;
  await eachLimited(items, limit, async (item) => {
    const place = index++;
    signal?.throwIfAborted();
    results[place] = await map(item);
    return true;
  });
  return results;
}

/**
 * Calls `work` for each item, in the order of the items.
 *
 * @param work resolves to `false` to give up its place: from then on, one call fewer is under way at a
 *   time. After `limit` such results, the rest of the items is left.
 * @throws the first error of a call. No call starts after it.
 */
export async function eachLimited<Item>(
  items: Iterable<Item>,
  limit: number,
  work: (item: Item) => Promise<boolean>,
): Promise<void> {
  const rest = each(items);
  const place = async (): Promise<void> => {
    try {
      for (let next = rest.next(); next.done !== true; next = rest.next()) {
        if (!(await work(next.value))) return;
      }
    } catch (error) {
      // Ends the loops of the other places, too.
      rest.return();
      throw error;
    }
  };
  await Promise.all(Array.from({ length: limit }, place));
}

function* each<Item>(items: Iterable<Item>): Generator<Item, void, void> {
  yield* items;
}
