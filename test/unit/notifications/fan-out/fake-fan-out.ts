/** A fan-out whose news a test says, and that a test can break. */

import type { FanOut, Interests, News, NewsSocket } from "../../../../src/catalog/feeds.ts";

class FakeSocket implements NewsSocket {
  readonly honoured: Interests;
  isClosed = false;
  readonly #waiting: (News | undefined)[] = [];
  #wake: (() => void) | undefined;

  constructor(honoured: Interests) {
    this.honoured = honoured;
  }

  say(...news: readonly News[]): void {
    this.#waiting.push(...news);
    this.#wake?.();
  }

  /** Nothing more comes of it. */
  breakOff(): void {
    this.#waiting.push(undefined);
    this.#wake?.();
  }

  async next(): Promise<News | undefined> {
    while (this.#waiting.length === 0) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    return this.#waiting.shift();
  }

  close(): void {
    this.isClosed = true;
    this.breakOff();
  }
}

export class FakeFanOut implements Pick<FanOut, "listen"> {
  readonly sockets: FakeSocket[] = [];
  readonly asked: Interests[] = [];
  /** What is promised of what is asked for: everything, if a test does not say. */
  honour: (interests: Interests) => Interests = (interests) => interests;
  /** Says something as soon as a way is open. */
  onOpen: ((socket: FakeSocket) => void) | undefined;
  isDown = false;
  /** Holds back every answer. */
  gate: Promise<void> | undefined;

  get newest(): FakeSocket {
    const socket = this.sockets.at(-1);
    if (socket === undefined) throw new Error("Nobody listens");
    return socket;
  }

  async listen(interests: Interests): Promise<NewsSocket> {
    this.asked.push(interests);
    await this.gate;
    if (this.isDown) throw new Error("The branch is being restarted");
    const socket = new FakeSocket(this.honour(interests));
    this.sockets.push(socket);
    this.onOpen?.(socket);
    return socket;
  }
}
