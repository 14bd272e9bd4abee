/**
 * Whose calls were deleted, and when: a batch that was on its way meanwhile must not bring any of them
 * back. An isolate sends within seconds, so a day is enough.
 */

import { Records } from "../lib/records.ts";

const KEPT_MS = 86_400_000;

export class ForgottenPeople extends Records {
  static override readonly SCHEMA = [
    "CREATE TABLE IF NOT EXISTS forgotten_1 (person TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID",
  ];
  /** Known after the first look: this is asked for each batch, and there is mostly nobody. */
  #known: Map<string, number> | undefined;

  add(person: string): void {
    const at = this.now();
    this.run(
      "INSERT INTO forgotten_1 (person, at) VALUES (?, ?) ON CONFLICT (person) DO UPDATE SET at = excluded.at",
      [person, at],
    );
    this.#all.set(person, at);
  }

  get isEmpty(): boolean {
    return this.#all.size === 0;
  }

  /** @param at when the call ended. */
  has(person: string, at: number): boolean {
    return at <= (this.#all.get(person) ?? Number.NEGATIVE_INFINITY);
  }

  sweep(): void {
    this.run("DELETE FROM forgotten_1 WHERE at <= ?", [this.now() - KEPT_MS]);
    this.#known = undefined;
  }

  expiresAt(): number | undefined {
    const times = [...this.#all.values()];
    return times.length === 0 ? undefined : Math.min(...times) + KEPT_MS;
  }

  get #all(): Map<string, number> {
    this.#known ??= new Map(
      this.rows<{ person: string; at: number }>("SELECT person, at FROM forgotten_1").map(
        ({ person, at }) => [person, at],
      ),
    );
    return this.#known;
  }
}
