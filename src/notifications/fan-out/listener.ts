/**
 * One modern listener: a WebSocket to whoever holds the client's stream, which sleeps beside the
 * branch. Its reader acknowledges what the client took; beyond a window, what changes is put
 * together in memory and sent when there is room again. So a reader that does not read costs a
 * window, and no more than it subscribed to.
 */

import { count } from "../../observability/costs.ts";
import type { Interests, News, Topic } from "../../catalog/feeds.ts";
import { answerLine, newsLine } from "./listen-wire.ts";

/** A WebSocket that outlives its object's memory. */
export interface ListenerSocket {
  send(text: string): void;
  close(code: number, reason: string): void;
  serializeAttachment(value: unknown): void;
}

/** What the platform keeps with the socket while the object sleeps. */
export interface Seat {
  readonly id: string;
  /** `new`: has not said what it wants; `asking`: the feeds are being asked. */
  readonly state: "new" | "asking" | "open";
  /** Characters that the reader has not acknowledged yet. */
  readonly ahead: number;
  /** Something waits in memory. */
  readonly isBehind: boolean;
}

interface Waiting {
  seq: number;
  readonly topics: Set<Topic>;
}

export class ListenerConnection {
  readonly id: string;
  readonly #socket: ListenerSocket;
  readonly #windowChars: number;
  readonly #waiting = new Map<string, Waiting>();
  #state: Seat["state"];
  #ahead: number;

  constructor(socket: ListenerSocket, windowChars: number, seat: Seat) {
    this.id = seat.id;
    this.#socket = socket;
    this.#windowChars = windowChars;
    this.#state = seat.state;
    this.#ahead = seat.ahead;
  }

  get isNew(): boolean {
    return this.#state === "new";
  }

  /** It has been sent more than it has room for, and there is more. */
  get isBehind(): boolean {
    return this.#state === "open" && this.#waiting.size > 0;
  }

  asks(): void {
    this.#state = "asking";
    this.#remember();
  }

  /** Says what is honoured, and then what has changed since it was asked. */
  answer(honoured: Interests): void {
    this.#state = "open";
    this.#send(answerLine({ honoured, windowChars: this.#windowChars }));
    this.flush();
  }

  /** To be sent with the next `flush`. */
  note(slug: string, seq: number, topic: Topic): void {
    const waiting = this.#waiting.get(slug);
    if (waiting === undefined) this.#waiting.set(slug, { seq, topics: new Set([topic]) });
    else {
      waiting.seq = seq;
      waiting.topics.add(topic);
    }
  }

  /** Sends what there is room for. @throws Error when the socket is not open any more. */
  flush(): void {
    if (this.#state !== "open") return;
    for (const [slug, { seq, topics }] of this.#waiting) {
      if (this.#ahead >= this.#windowChars) break;
      this.#waiting.delete(slug);
      const news: News = { slug, seq, topics: [...topics] };
      this.#send(newsLine(news));
    }
    this.#remember();
  }

  acknowledged(chars: number): void {
    this.#ahead = Math.max(0, this.#ahead - chars);
    this.flush();
  }

  #send(line: string): void {
    count("webSocketMessagesOut");
    this.#ahead += line.length;
    this.#socket.send(line);
  }

  #remember(): void {
    const seat: Seat = {
      ...{ id: this.id, state: this.#state, ahead: this.#ahead },
      isBehind: this.#waiting.size > 0,
    };
    this.#socket.serializeAttachment(seat);
  }
}
