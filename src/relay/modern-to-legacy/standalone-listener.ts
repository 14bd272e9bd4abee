/**
 * Listening to what a server says on the stream of what belongs to no request: some say there what does
 * belong to one. A stream that is listened to keeps its holder awake, so it ends a while after the last
 * request.
 */

export interface StandaloneListenerOptions {
  readonly quietMs: number;
  readonly listen: () => Promise<void>;
  readonly unlisten: () => void;
}

export class StandaloneListener {
  readonly #options: StandaloneListenerOptions;
  #isListening = false;
  #isMute = false;
  #quieting: number | null = null;

  constructor(options: StandaloneListenerOptions) {
    this.#options = options;
  }

  /** There is nothing to listen to. */
  get isMute(): boolean {
    return this.#isMute;
  }

  /** The server turned out to have no such stream. */
  muted(): void {
    this.#isMute = true;
  }

  /** What is sent once this has settled does not overtake it. Never rejects. */
  async listen(): Promise<void> {
    this.stop();
    if (this.#isListening || this.#isMute) return;
    this.#isListening = true;
    await this.#options.listen().catch(() => undefined); // the request tells of the failure
  }

  /** Nothing is expected to be said any more. */
  quieten(): void {
    this.stop();
    if (!this.#isListening) return;
    const { quietMs, unlisten } = this.#options;
    this.#quieting = setTimeout(() => {
      this.#isListening = false;
      unlisten();
    }, quietMs);
  }

  /** Leaves no timer behind. */
  stop(): void {
    clearTimeout(this.#quieting);
  }
}
