/**
 * What a server's feed remembers of it beyond its catalog: the last looks, and the last troubles with their causes.
 * Both are bounded, and written when somebody looks or the state changes, never for a call.
 */

import type { Look, PastTrouble, ServerTrouble } from "../../observability/health.ts";

export interface History {
  /** The first look of all. Absent from rows that were written before it existed. */
  readonly since?: number;
  /** The newest ones first. */
  readonly looks: readonly Look[];
  readonly troubles: readonly PastTrouble[];
}

/** The one value that is stored. */
export interface HistoryStore {
  read(): History | undefined;
  write(history: History): void;
}

const MAX_LOOKS = 10;
const MAX_TROUBLES = 20;

export class ServerHistory {
  readonly #store: HistoryStore;
  #history: History | undefined;

  constructor(store: HistoryStore) {
    this.#store = store;
  }

  /** Read when it is first needed: most lives of a feed never need it. */
  get all(): History {
    return (this.#history ??= this.#store.read() ?? { looks: [], troubles: [] });
  }

  looked(look: Look): void {
    const { since = look.at, looks, troubles } = this.all;
    this.#keep({ since, looks: [look, ...looks].slice(0, MAX_LOOKS), troubles });
  }

  /**
   * The trouble with the server has begun, become another one, or ended.
   *
   * @param now milliseconds since 1970.
   */
  changed(trouble: ServerTrouble | undefined, now: number): void {
    const { troubles } = this.all;
    const [last, ...earlier] = troubles;
    const isOpen = last !== undefined && last.until === undefined;
    const closed = isOpen ? [{ ...last, until: now }, ...earlier] : troubles;
    const all = trouble === undefined ? closed : [trouble, ...closed];
    this.#keep({ ...this.all, troubles: all.slice(0, MAX_TROUBLES) });
  }

  #keep(history: History): void {
    this.#history = history;
    this.#store.write(history);
  }
}
