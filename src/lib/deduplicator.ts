/**
 * Recognizes one change that several sources report. If two sources report the same within a second, the
 * later report is the same change. If one source reports it twice, there were two changes.
 */

import { dropOldest } from "./drop-oldest.ts";

const WINDOW_MS = 1000;
const MOST = 256;

interface Reports<Source> {
  /** When a report was new the last time. */
  readonly at: number;
  /** The number of changes. */
  readonly changes: number;
  /** The number of reports from each source. */
  readonly counts: ReadonlyMap<Source, number>;
}

export class Deduplicator<Source> {
  readonly #recent = new Map<string, Reports<Source>>();

  /** Notes a report. @returns `true` unless another source has reported the same change. */
  isNew(what: string, by: Source): boolean {
    const now = Date.now();
    const last = this.#recent.get(what);
    const recent = last !== undefined && now - last.at < WINDOW_MS ? last : undefined;
    const count = (recent?.counts.get(by) ?? 0) + 1;
    const counts = new Map(recent?.counts).set(by, count);
    this.#recent.delete(what);
    if (recent !== undefined && count <= recent.changes) {
      this.#recent.set(what, { ...recent, counts });
      return false;
    }
    this.#recent.set(what, { at: now, changes: count, counts });
    dropOldest(this.#recent, MOST);
    return true;
  }
}
