/**
 * What was told lately, and by whom. Who hears the same by several ways hears of one change from
 * each: of two that say the same within a second, the later is the same change. What one of them
 * says twice is two changes.
 */

const WINDOW_MS = 1000;
const MOST = 256;

interface Telling<Source> {
  /** When it was new the last time. */
  readonly at: number;
  /** How many changes there were. */
  readonly changes: number;
  /** How many of them each has told. */
  readonly told: ReadonlyMap<Source, number>;
}

export class Deduplicator<Source> {
  readonly #recent = new Map<string, Telling<Source>>();

  /** Notes that somebody tells of something now. @returns whether no other has told it. */
  isNew(what: string, by: Source): boolean {
    const now = Date.now();
    const last = this.#recent.get(what);
    const recent = last !== undefined && now - last.at < WINDOW_MS ? last : undefined;
    const count = (recent?.told.get(by) ?? 0) + 1;
    const told = new Map(recent?.told).set(by, count);
    this.#recent.delete(what);
    if (recent !== undefined && count <= recent.changes) {
      this.#recent.set(what, { ...recent, told });
      return false;
    }
    this.#recent.set(what, { at: now, changes: count, told });
    const [oldest] = this.#recent.keys();
    if (this.#recent.size > MOST && oldest !== undefined) this.#recent.delete(oldest);
    return true;
  }
}
