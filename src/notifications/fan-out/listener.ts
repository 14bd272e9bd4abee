/**
 * One modern listener: a WebSocket to the Worker that holds the client's stream, which hibernates with
 * the branch. The Worker acknowledges what the client took; beyond a window, changes are collected in
 * memory and sent when there is room again. So a client that does not read costs a window, and at most
 * the topics of its subscriptions.
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

/** The attachment that the platform keeps with the socket while the object hibernates. */
export interface Seat {
  readonly id: string;
  /** `new`: has not sent its interests; `asking`: the feeds are being asked. */
  readonly state: "new" | "asking" | "open";
  /** Characters that the reader has not acknowledged yet. */
  readonly ahead: number;
  /** News waits in memory. */
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

  /** The window is full, and more news waits. */
  get isBehind(): boolean {
    return this.#state === "open" && this.#waiting.size > 0;
  }

  asks(): void {
    this.#state = "asking";
    this.#save();
  }

  /** Sends the honoured topics, and then the changes since the request. */
  answer(honoured: Interests): void {
    this.#state = "open";
    this.#send(answerLine({ honoured, windowChars: this.#windowChars }));
    this.flush();
  }

  /** Collects a change for the next `flush`. */
  note(slug: string, seq: number, topic: Topic): void {
    const waiting = this.#waiting.get(slug);
    if (waiting === undefined) this.#waiting.set(slug, { seq, topics: new Set([topic]) });
    else {
      waiting.seq = seq;
      waiting.topics.add(topic);
    }
  }

  /** Sends as much as the window allows. @throws Error when the socket is not open any more. */
  flush(): void {
    if (this.#state !== "open") return;
    for (const [slug, { seq, topics }] of this.#waiting) {
      if (this.#ahead >= this.#windowChars) break;
      this.#waiting.delete(slug);
      const news: News = { slug, seq, topics: [...topics] };
      this.#send(newsLine(news));
    }
    this.#save();
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

  #save(): void {
    const seat: Seat = {
      id: this.id,
      state: this.#state,
      ahead: this.#ahead,
      isBehind: this.#waiting.size > 0,
    };
    this.#socket.serializeAttachment(seat);
  }
}
