/** Keeps a map or a set within a bound. Both keep insertion order, so the first key is the oldest. */
export function dropOldest<K>(entries: Map<K, unknown> | Set<K>, max: number): void {
  for (const key of entries.keys()) {
    if (entries.size <= max) return;
    entries.delete(key);
  }
}
