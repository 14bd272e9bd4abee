/**
 * The newest tasks of a session's client at one server, under the server's own ids and the ids that the
 * client has. Lists and notifications show the server's ids, of everybody's tasks: only what is known here
 * is the client's. Requests for a task do not need this, since their ids are sealed.
 */

import { dropOldest } from "../../lib/drop-oldest.ts";
import type { TaskIds } from "../../upstream/legacy/saved-connection.ts";

/** Ids that are longer are not saved, so that all of them fit into the row of their session. */
const MAX_SAVED_CHARS = 1024;

export class KnownTasks {
  readonly #given: Map<string, string>;
  readonly #max: number;
  readonly #onChange: () => void;

  /**
   * @param max the largest number of tasks.
   * @param onChange called when `saved` has changed.
   */
  constructor(saved: readonly TaskIds[], max: number, onChange: () => void) {
    this.#given = new Map(saved);
    this.#max = max;
    this.#onChange = onChange;
  }

  get saved(): readonly TaskIds[] {
    return [...this.#given].filter(([own, given]) => own.length + given.length <= MAX_SAVED_CHARS);
  }

  /** @returns the id that the client has; `undefined` for what is not known as the client's. */
  givenFor(own: unknown): string | undefined {
    return typeof own === "string" ? this.#given.get(own) : undefined;
  }

  add(own: string, given: string): void {
    if (this.#given.get(own) === given) return;
    this.#given.set(own, given);
    dropOldest(this.#given, this.#max);
    this.#onChange();
  }
}
