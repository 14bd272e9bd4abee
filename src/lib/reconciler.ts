/**
 * Makes the set that another side holds equal to a wanted set, with one request for each key, and a few
 * requests at a time. A key has one request under way at most: if its wish changes meanwhile, the key
 * is checked again after the answer.
 */

export interface ReconcilerOptions<Key> {
  readonly isWanted: (key: Key) => boolean;
  /** @returns whether the other side agreed. Rejects when there was no answer. */
  readonly add: (key: Key) => Promise<boolean>;
  /** @returns `false` for a refusal, after which the key counts as removed. Rejects when there was no answer. */
  readonly remove: (key: Key) => Promise<boolean>;
  /** The number of requests under way at a time. */
  readonly atOnce: number;
  /** Keys that the other side may hold already: they are added again if wanted, and removed if not. */
  readonly unsure?: Iterable<Key>;
  /** Each refusal takes one of the requests at a time away. With the last, the rest counts as refused. */
  readonly givesUp?: boolean;
  /** Called when a key was added or refused, or when there was no answer. */
  readonly onSettled?: (key: Key) => void;
}

/** `failed`: there was no answer to `add`; `unsure`: there was none to `remove`, or none in this life. */
type State = "held" | "refused" | "failed" | "unsure";

export class Reconciler<Key> {
  readonly #options: ReconcilerOptions<Key>;
  readonly #states = new Map<Key, State>();
  /** Keys that may differ from their wanted state; each is resolved when it was checked. */
  readonly #due = new Map<Key, PromiseWithResolvers<void>>();
  readonly #busy = new Set<Key>();
  #refusals = 0;
  #isEnded = false;
  #isReleasing = false;

  constructor(options: ReconcilerOptions<Key>) {
    this.#options = options;
    for (const key of options.unsure ?? []) this.#states.set(key, "unsure");
  }

  /** @returns whether the other side holds the key; `undefined` while it is being asked. */
  verdict(key: Key): boolean | "failed" | undefined {
    const state = this.#states.get(key);
    if (state === "failed") return state;
    return state === undefined || state === "unsure" ? undefined : state === "held";
  }

  /** The keys that the other side holds, or may hold from an earlier life. */
  held(): readonly Key[] {
    return [...this.#states].flatMap(([key, state]) =>
      state === "held" || state === "unsure" ? [key] : [],
    );
  }

  /**
   * @param keys that are wanted or no longer wanted, since they were last checked.
   * @returns when they agree with the wanted set, or the other side has refused. Never rejects.
   */
  async check(keys: Iterable<Key>): Promise<void> {
    this.#refusals = 0;
    const checked = Array.from(keys, (key) => {
      const due = this.#due.get(key) ?? Promise.withResolvers<void>();
      this.#due.set(key, due);
      return due.promise;
    });
    this.#work();
    await Promise.all(checked);
  }

  /** Adds a key even if the other side has answered for it before. @returns whether it holds the key. */
  async addAgain(key: Key): Promise<boolean> {
    if (!this.#busy.has(key) && this.#states.has(key)) this.#states.set(key, "unsure");
    await this.check([key]);
    return this.#states.get(key) === "held";
  }

  /** Repeats the requests that had no answer. */
  retry(): void {
    const again = [...this.#states].filter(([, state]) => state === "failed" || state === "unsure");
    for (const [key] of again) this.#states.set(key, "unsure");
    void this.check(again.map(([key]) => key));
  }

  /** Refused items may be granted now: each is added when it is next checked. */
  forgetRefusals(): void {
    for (const [key, state] of this.#states) {
      if (state === "refused" || state === "failed") this.#states.delete(key);
    }
  }

  /** Makes no more requests. */
  end(): void {
    this.#isEnded = true;
    for (const { resolve } of this.#due.values()) resolve();
    this.#due.clear();
  }

  /** Removes all keys, until the signal is aborted. */
  async release(signal: AbortSignal): Promise<void> {
    this.#isReleasing = true;
    this.#isEnded = signal.aborted;
    signal.addEventListener("abort", () => this.end(), { once: true });
    await this.check([...this.held(), ...this.#busy]);
  }

  #work(): void {
    const { atOnce, givesUp = false } = this.#options;
    const places = givesUp ? atOnce - this.#refusals : atOnce;
    if (this.#isEnded) this.end();
    else if (places <= 0) this.#giveUp();
    for (const [key, due] of this.#due) {
      if (this.#busy.size >= places) return;
      if (this.#busy.has(key)) continue;
      this.#due.delete(key);
      const request = this.#requestFor(key);
      if (request !== undefined) void this.#run(key, request, due);
      else due.resolve();
    }
  }

  #requestFor(key: Key): "add" | "remove" | undefined {
    const state = this.#states.get(key);
    if (this.#isReleasing || !this.#options.isWanted(key)) {
      if (state === "refused") this.#states.delete(key);
      return state === undefined || state === "refused" ? undefined : "remove";
    }
    return state === undefined || state === "unsure" ? "add" : undefined;
  }

  async #run(key: Key, request: "add" | "remove", due: PromiseWithResolvers<void>): Promise<void> {
    this.#busy.add(key);
    this.#states.delete(key);
    const isAgreed = await this.#options[request](key).catch(() => undefined);
    this.#busy.delete(key);
    if (isAgreed === false) this.#refusals += 1;
    if (request === "add") this.#states.set(key, stateAfter(isAgreed));
    else if (isAgreed === undefined) this.#states.set(key, "unsure");
    if (request === "add" && !this.#isEnded) this.#options.onSettled?.(key);
    due.resolve();
    this.#work();
  }

  #giveUp(): void {
    for (const [key, due] of this.#due) {
      if (this.#busy.has(key)) continue;
      this.#due.delete(key);
      if (this.#requestFor(key) === "add") this.#states.set(key, "refused");
      due.resolve();
    }
  }
}

function stateAfter(isAgreed: boolean | undefined): State {
  if (isAgreed === undefined) return "failed";
  return isAgreed ? "held" : "refused";
}
