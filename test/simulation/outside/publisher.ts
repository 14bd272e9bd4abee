/** A person who pauses what they publish, and resumes it. */

import type { World } from "../platform/world.ts";
import { Actor } from "./actor.ts";
import { PUBLISHED } from "./laptop.ts";
import type { Ledger } from "./ledger.ts";

export interface PublisherHabits {
  readonly person: number;
  readonly pauses: number;
  /** When the first pause begins at the latest, and the longest time between two, in milliseconds. */
  readonly restMs: number;
  /** The longest pause, in milliseconds. */
  readonly awayMs: number;
}

/** The object of a person who publishes, as their account page calls it. */
interface Connector {
  readonly setPaused: (name: string, isPaused: boolean) => Promise<boolean>;
}

export class Publisher extends Actor {
  readonly habits: PublisherHabits;
  readonly #ledger: Ledger;
  isDone = false;

  constructor(world: World, habits: PublisherHabits, ledger: Ledger) {
    super(world, `publisher p${habits.person}`);
    this.habits = habits;
    this.#ledger = ledger;
  }

  start(): void {
    this.context.run(() => void this.#live());
  }

  /** Another stub each time: one that has reached a life that died stays broken. */
  get #connector(): Connector {
    const { namespaces } = this.world;
    return namespaces.get("CONNECTORS")?.getByName(`p${this.habits.person}`) as Connector;
  }

  async #live(): Promise<void> {
    const { pauses, restMs, awayMs } = this.habits;
    for (let left = pauses; left > 0; left -= 1) {
      await this.sleep(this.upTo(restMs));
      await this.#set(true);
      await this.sleep(this.upTo(awayMs));
      await this.#set(false);
    }
    this.isDone = true;
  }

  /** Again until it is so: the object may die before it has answered, or the server is not there yet. */
  async #set(isPaused: boolean): Promise<void> {
    const { changes } = this.#ledger;
    this.note(isPaused ? "pauses the server" : "resumes the server");
    await this.insist(() =>
      changes.within("every", () => this.#connector.setPaused(PUBLISHED, isPaused)),
    );
  }
}
