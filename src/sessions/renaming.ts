/**
 * Questions that waited for a stream, given the ids of the events that they go out in: the place of a
 * question is what it can be answered by when its session's holder has lost its memory.
 */

import { idOfQuestion, idOfWithdrawn } from "./written.ts";

export class Renaming {
  readonly #renamed: (from: string, to: string) => void;
  readonly #ids = new Map<string, string>();

  /** @param renamed called for each question. */
  constructor(renamed: (from: string, to: string) => void) {
    this.#renamed = renamed;
  }

  /** @returns a message as the event of this id says it. */
  placed(data: string, id: string): string {
    const question = idOfQuestion(data);
    if (question !== undefined) {
      this.#ids.set(question, id);
      this.#renamed(question, id);
      return rename(data, question, id);
    }
    const withdrawn = idOfWithdrawn(data);
    const placed = withdrawn === undefined ? undefined : this.#ids.get(withdrawn);
    return withdrawn === undefined || placed === undefined ? data : rename(data, withdrawn, placed);
  }
}

/** The id that a question waits under is random, so it stands where it was put, and nowhere else. */
function rename(data: string, from: string, to: string): string {
  return data.replaceAll(JSON.stringify(from), JSON.stringify(to));
}
