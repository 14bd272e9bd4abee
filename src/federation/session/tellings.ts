/**
 * What a session was told of lately, and by whom. A server that tells all its sessions is heard in
 * the client's own and by the feed: of two that say the same within a second, the later is the same
 * change. What one of them says twice is two changes.
 */

import type { Topic } from "../feed/feeds.ts";

const WINDOW_MS = 1000;
const MOST = 256;

type Teller = "own" | "feed";

interface Telling {
  readonly by: Teller;
  readonly at: number;
  /** How often it was told, and the other has not said so yet. */
  readonly count: number;
}

export class Tellings {
  readonly #recent = new Map<Topic, Telling>();

  /** Notes that somebody tells of something now. @returns whether the other has not told it. */
  isNew(topic: Topic, by: Teller): boolean {
    const at = Date.now();
    const last = this.#recent.get(topic);
    const recent = last !== undefined && at - last.at < WINDOW_MS ? last : undefined;
    this.#recent.delete(topic);
    if (recent !== undefined && recent.by !== by) {
      if (recent.count > 1) this.#recent.set(topic, { ...recent, count: recent.count - 1 });
      return false;
    }
    this.#recent.set(topic, { by, at, count: (recent?.count ?? 0) + 1 });
    const [oldest] = this.#recent.keys();
    if (this.#recent.size > MOST && oldest !== undefined) this.#recent.delete(oldest);
    return true;
  }
}
