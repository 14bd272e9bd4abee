/**
 * The questions in a session's log, recognized by the beginning of their texts: a log may be larger
 * than the memory, and few of its events have to be parsed.
 */

const QUESTION = /^\{"jsonrpc":"2\.0","id":"([^"\\]+)","method":/;
const WITHDRAWAL =
  /^\{"jsonrpc":"2\.0","method":"notifications\/cancelled","params":\{"requestId":"([^"\\]+)"/;

/** @returns the id of a question that the session has sent to its client. */
export function idOfQuestion(data: string): string | undefined {
  return QUESTION.exec(data)?.[1];
}

/** @returns the id of the question that the session withdraws. */
function idOfWithdrawn(data: string): string | undefined {
  return WITHDRAWAL.exec(data)?.[1];
}

/**
 * Gives the questions that waited for a stream the ids of their events. When the session's object has
 * lost its memory, a question is found by its place alone.
 */
export class Renaming {
  readonly #renamed: (from: string, to: string) => void;
  readonly #ids = new Map<string, string>();

  /** @param renamed called for each question. */
  constructor(renamed: (from: string, to: string) => void) {
    this.#renamed = renamed;
  }

  /** @returns the message for the event of this id. */
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

/** The id of a waiting question is random, so it occurs in the text only as the question's id. */
function rename(data: string, from: string, to: string): string {
  return data.replaceAll(JSON.stringify(from), JSON.stringify(to));
}
