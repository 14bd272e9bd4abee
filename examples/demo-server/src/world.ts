// What can change in the teahouse: the garden gate, and the water in the kettle.
// It knows nothing about MCP; whoever creates it decides how a change reaches the clients.

import { KETTLE_STEP_MS } from "./kettle.ts";

export interface WorldEvents {
  gardenChanged(open: boolean): void;
  kettleChanged(): void;
}

export class World {
  #gardenOpen: boolean;
  #watchers = 0;
  #timer: ReturnType<typeof setInterval> | null = null;
  readonly #events: WorldEvents;

  constructor(gardenOpen: boolean, events: WorldEvents) {
    this.#gardenOpen = gardenOpen;
    this.#events = events;
  }

  get gardenOpen(): boolean {
    return this.#gardenOpen;
  }

  /** Opens or closes the garden; says whether that changed anything. */
  setGarden(open: boolean): boolean {
    if (open === this.#gardenOpen) return false;
    this.#gardenOpen = open;
    this.#events.gardenChanged(open);
    return true;
  }

  /**
   * Reports every change of the kettle until the returned function is called. The timer runs
   * only while somebody watches: a running timer keeps a Durable Object awake, and billed.
   */
  watchKettle(): () => void {
    this.#watchers += 1;
    this.#timer ??= setInterval(() => this.#events.kettleChanged(), KETTLE_STEP_MS);

    let watching = true;
    return () => {
      if (!watching) return;
      watching = false;
      this.#watchers -= 1;
      if (this.#watchers > 0) return;
      clearInterval(this.#timer);
      this.#timer = null;
    };
  }
}
