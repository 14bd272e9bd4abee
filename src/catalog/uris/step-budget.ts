/**
 * Limits the matching that one request causes, for all servers and all of its URIs together.
 * Servers write the templates and clients the URIs, so the time is counted.
 */

import type { Server } from "../../endpoint/server.ts";

/** About ten milliseconds. */
const MAX_STEPS = 1_000_000;
/** The limit for the templates of one server: the others need steps too. */
const MAX_STEPS_OF_SERVER = MAX_STEPS / 2;

export class StepBudget {
  #left: number;
  readonly #maxOfServer: number;
  readonly #taken = new Map<Server, number>();
  #isUsedUp = false;

  constructor(max: number = MAX_STEPS, maxOfServer: number = MAX_STEPS_OF_SERVER) {
    this.#left = max;
    this.#maxOfServer = maxOfServer;
  }

  /** All servers together have asked for more steps than there were. */
  get isUsedUp(): boolean {
    return this.#isUsedUp;
  }

  /** @returns `false` when there are not enough steps left; the caller then counts as no match. */
  take(server: Server, count: number): boolean {
    const taken = (this.#taken.get(server) ?? 0) + count;
    if (taken > this.#maxOfServer) return false;
    if (count > this.#left) {
      this.#isUsedUp = true;
      return false;
    }
    this.#left -= count;
    this.#taken.set(server, taken);
    return true;
  }
}
