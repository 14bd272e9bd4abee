/**
 * The resources that one session at a legacy server is subscribed to: made equal to the wanted set, a
 * few requests at a time, with one request for each.
 */

import { mapLimited } from "../../lib/map-limited.ts";

const AT_ONCE = 4;

export interface WatchSubscriptionsOptions {
  /** The resources that are wanted at this moment. */
  readonly wanted: ReadonlySet<string>;
  /**
   * Asks the server.
   *
   * @returns whether it agreed. Rejects when there was no answer.
   */
  readonly ask: (method: Method, uri: string) => Promise<boolean>;
  /** Called when the server has answered for a resource. */
  readonly onJudged: (uri: string) => void;
}

type Method = "resources/subscribe" | "resources/unsubscribe";

export class WatchSubscriptions {
  readonly #options: WatchSubscriptionsOptions;
  /** The server's answers, by URI. */
  readonly #verdicts = new Map<string, boolean>();
  /** Resources without an answer. */
  readonly #failed = new Set<string>();
  /** Resources whose subscription may differ from the wanted state. */
  readonly #doubtful = new Set<string>();
  readonly #asking = new Set<string>();
  #isOver = false;

  constructor(options: WatchSubscriptionsOptions) {
    this.#options = options;
  }

  /** `undefined` until the server was asked. */
  verdict(uri: string): boolean | undefined {
    return this.#verdicts.get(uri);
  }

  revise(uris: Iterable<string>): void {
    for (const uri of uris) this.#doubtful.add(uri);
    this.#work();
  }

  /** Repeats the requests that had no answer. */
  retry(): void {
    const failed = [...this.#failed];
    for (const uri of failed) this.#forget(uri);
    this.revise(failed);
  }

  /** Makes no more requests. */
  end(): void {
    this.#isOver = true;
  }

  /** Unsubscribes from all resources, as far as there is time. */
  async giveBack(signal: AbortSignal): Promise<void> {
    this.#isOver = true;
    const held = [...this.#verdicts].filter(([, isHeld]) => isHeld).map(([uri]) => uri);
    // A failure does not matter: the session is abandoned.
    const leave = (uri: string): Promise<boolean> =>
      this.#options.ask("resources/unsubscribe", uri).catch(() => false);
    await mapLimited(held, AT_ONCE, leave, signal).catch(() => undefined);
  }

  #forget(uri: string): void {
    this.#verdicts.delete(uri);
    this.#failed.delete(uri);
  }

  #work(): void {
    for (const uri of this.#doubtful) {
      if (this.#isOver || this.#asking.size >= AT_ONCE) return;
      // A resource with a request under way is checked again when that is answered.
      if (this.#asking.has(uri)) continue;
      this.#doubtful.delete(uri);
      void this.#settle(uri);
    }
  }

  async #settle(uri: string): Promise<void> {
    const { wanted, ask, onJudged } = this.#options;
    const verdict = this.#verdicts.get(uri);
    if (wanted.has(uri) ? verdict !== undefined : verdict !== true) {
      if (!wanted.has(uri)) this.#forget(uri);
      return;
    }
    this.#asking.add(uri);
    try {
      if (verdict === true) {
        // The answer does not matter: the resource is not wanted any more.
        this.#forget(uri);
        await ask("resources/unsubscribe", uri).catch(() => false);
        return;
      }
      let isAgreed = false;
      try {
        isAgreed = await ask("resources/subscribe", uri);
      } catch {
        this.#failed.add(uri);
      }
      this.#verdicts.set(uri, isAgreed);
      if (!this.#isOver) onJudged(uri);
    } finally {
      this.#asking.delete(uri);
      this.#work();
    }
  }
}
