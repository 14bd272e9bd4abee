/**
 * Group commit: one commit at a time, and what comes while it is under way is committed together next. A
 * lone event is committed at once, and under load a commit has as many events as came during the last one.
 */

import { logUnexpected } from "../observability/unexpected.ts";
import { sleep } from "../lib/sleep.ts";

/**
 * A commit takes at least this long. On one machine a write is durable in a tenth of it, before the next
 * event of a burst is read: the runtime reads only when nothing else is left to do. Nothing would be
 * committed together.
 */
const MIN_COMMIT_MS = 1;

export class GroupCommit {
  readonly #commit: () => void;
  readonly #synced: () => Promise<void>;
  #isUnderWay = false;
  #isRequested = false;

  /** @param synced resolves when what was committed is durable. */
  constructor(commit: () => void, synced: () => Promise<void>) {
    this.#commit = commit;
    this.#synced = synced;
  }

  /** Commits at once, or after the commit that is under way. */
  request(): void {
    if (this.#isUnderWay) this.#isRequested = true;
    else this.#start();
  }

  #start(): void {
    this.#isRequested = false;
    this.#commit();
    this.#isUnderWay = true;
    void this.#finish();
  }

  async #finish(): Promise<void> {
    // Where a write is lost, the platform restarts the object.
    await Promise.allSettled([this.#synced(), sleep(MIN_COMMIT_MS)]);
    this.#isUnderWay = false;
    try {
      if (this.#isRequested) this.#start();
    } catch (error) {
      logUnexpected(error); // the next event fails with it, too
    }
  }
}
