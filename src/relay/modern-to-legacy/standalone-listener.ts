/**
 * Holds the server's standalone GET stream open while calls run, because some servers send messages
 * there that belong to a call. An open stream keeps its holder awake, so it is closed a while after
 * the last request.
 */

export interface StandaloneListenerOptions {
  /** The time that the stream stays open after the last request, in milliseconds. */
  readonly quietMs: number;
  readonly listen: (resumeToken: string | undefined) => Promise<void>;
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

  /** The server does not offer the stream. */
  get isMute(): boolean {
    return this.#isMute;
  }

  /** The server turned out not to offer the stream. */
  muted(): void {
    this.#isMute = true;
  }

  /**
   * Opens the stream. Messages sent after it resolves do not overtake it. Never rejects.
   *
   * @param resumeToken of the last message on the stream, if those after it are wanted.
   */
  async listen(resumeToken?: string): Promise<void> {
    this.stop();
    if (this.#isListening || this.#isMute) return;
    this.#isListening = true;
    await this.#options.listen(resumeToken).catch(() => undefined); // the request reports the failure
  }

  /** Closes the stream after `quietMs`, because no more messages are expected. */
  quieten(): void {
    this.stop();
    if (!this.#isListening) return;
    const { quietMs, unlisten } = this.#options;
    this.#quieting = setTimeout(() => {
      this.#isListening = false;
      unlisten();
    }, quietMs);
  }

  /** Clears the timer. */
  stop(): void {
    clearTimeout(this.#quieting);
  }
}
