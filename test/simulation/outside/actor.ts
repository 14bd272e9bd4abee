/** What every party outside of the gateway can do: wait, and be restarted. */

import { Context } from "../platform/context.ts";
import type { World } from "../platform/world.ts";

export type Json = Readonly<Record<string, unknown>>;

export class Actor {
  readonly world: World;
  readonly name: string;
  context: Context;

  constructor(world: World, name: string) {
    this.world = world;
    this.name = name;
    this.context = world.outsider(name);
  }

  /** Its process dies, and starts again. */
  restart(): void {
    this.context.end();
    this.context = this.world.outsider(this.name);
  }

  /** Writes into the trace. */
  note(text: string): void {
    this.world.note(`        ${this.name}: ${text}`);
  }

  /** @returns a whole number of milliseconds up to this. */
  upTo(ms: number): number {
    return this.world.random.below(ms + 1);
  }

  /** Again after a second, until it has worked: whom it asks may die before the answer. */
  async insist(attempt: () => Promise<boolean>): Promise<void> {
    while (!(await attempt().catch(() => false))) await this.sleep(1000);
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      Context.current().setTimer(resolve, ms, false);
    });
  }
}
