/**
 * The modern listeners of a branch: each is a WebSocket to the Worker that holds the client's stream,
 * which hibernates with the branch. News is sent to them synchronously when it is accepted: no later
 * life of the branch has to send again what their sockets were given.
 *
 * The Worker acknowledges what the client took; beyond a window, changes are collected in memory and
 * sent when there is room again. So a client that does not read costs a window, and at most the topics
 * of its subscriptions.
 */

import { RECONNECT_CODE } from "../../lib/socket-lines.ts";
import { count } from "../../observability/costs.ts";
import type { Interests, News, Topic } from "../../catalog/feeds.ts";
import type { ListenAnswer } from "./news-socket.ts";
import type { SubscriptionTable } from "./subscription-table.ts";

/** A WebSocket that outlives its object's memory. */
export interface ListenerSocket {
  send(text: string): void;
  close(code: number, reason: string): void;
  serializeAttachment(value: unknown): void;
}

/** The attachment that the platform keeps with the socket while the object hibernates. */
export interface SavedListener {
  readonly id: string;
  /** `new`: has not sent its interests; `asking`: the feeds are being asked. */
  readonly state: "new" | "asking" | "open";
  /** Characters that the reader has not acknowledged yet. */
  readonly ahead: number;
  /** News waits in memory. */
  readonly isBehind: boolean;
}

export interface ListenersParts<Socket extends ListenerSocket> {
  /** The listeners that connected before this life of the branch. */
  readonly found: readonly {
    readonly socket: Socket;
    readonly saved: SavedListener | undefined;
  }[];
  readonly subscriptions: SubscriptionTable;
  readonly windowChars: number;
  /** A listener that takes nothing for this long must reconnect, and treat everything as changed. */
  readonly stallMs: number;
  readonly now: () => number;
  readonly subscribe: (id: string, interests: Interests) => Promise<Interests>;
  /** Called when a listener has disconnected. */
  readonly onGone: (id: string) => void;
}

const PAGE = 1000;

export class Listeners<Socket extends ListenerSocket> {
  readonly #parts: ListenersParts<Socket>;
  readonly #bySocket = new Map<Socket, Listener<Socket>>();
  readonly #byId = new Map<string, Listener<Socket>>();
  /** Listeners whose window is full, and since when. */
  readonly #behind = new Map<Listener<Socket>, number>();
  #stalling: number | null = null;

  constructor(parts: ListenersParts<Socket>) {
    this.#parts = parts;
    for (const { socket, saved } of parts.found) {
      // Neither a pending request nor news that waited for room outlived the memory of the branch.
      if (saved === undefined || saved.state === "asking" || saved.isBehind)
        requestReconnect(socket);
      else this.#add(new Listener(socket, parts.windowChars, saved));
    }
    this.#forgetOthers();
  }

  /** @param id chosen by the listener; it determines this branch. */
  open(socket: Socket, id: string): void {
    const saved: SavedListener = { id, state: "new", ahead: 0, isBehind: false };
    socket.serializeAttachment(saved);
    this.#add(new Listener(socket, this.#parts.windowChars, saved));
  }

  /** The first message of a listener has its interests, the others are acknowledgements. */
  async message(socket: Socket, text: string): Promise<void> {
    const listener = this.#bySocket.get(socket);
    if (listener === undefined) return;
    if (listener.isNew) {
      listener.asks();
      const interests = JSON.parse(text) as Interests;
      const honoured = await this.#parts.subscribe(listener.id, interests);
      // It may have gone before its subscriptions were recorded.
      if (!this.#byId.has(listener.id)) this.#parts.onGone(listener.id);
      this.#attempt(listener, () => listener.answer(honoured));
    } else {
      this.#behind.delete(listener); // it makes progress
      this.#attempt(listener, () => listener.acknowledged(Number(text)));
    }
  }

  closed(socket: Socket): void {
    const listener = this.#bySocket.get(socket);
    if (listener === undefined) return;
    this.#bySocket.delete(socket);
    this.#byId.delete(listener.id);
    this.#caughtUp(listener);
    this.#parts.onGone(listener.id);
  }

  deliver({ slug, seq, topics }: News): void {
    const { subscriptions } = this.#parts;
    const noted = new Set<Listener<Socket>>();
    for (const topic of topics) {
      for (const id of subscriptions.listenersOf({ slug, topic })) {
        const listener = this.#byId.get(id);
        if (listener === undefined) continue;
        listener.note(slug, seq, topic);
        noted.add(listener);
      }
    }
    for (const listener of noted) this.#attempt(listener, () => listener.flush());
  }

  #add(listener: Listener<Socket>): void {
    this.#bySocket.set(listener.socket, listener);
    this.#byId.set(listener.id, listener);
  }

  #attempt(listener: Listener<Socket>, send: () => void): void {
    if (this.#byId.get(listener.id) !== listener) return;
    try {
      send();
      this.#watch(listener);
    } catch {
      this.#close(listener);
    }
  }

  #close({ socket }: Listener<Socket>): void {
    requestReconnect(socket);
    this.closed(socket);
  }

  /** Notes since when a listener's window is full without an acknowledgement. */
  #watch(listener: Listener<Socket>): void {
    if (!listener.isBehind) {
      this.#caughtUp(listener);
      return;
    }
    if (!this.#behind.has(listener)) this.#behind.set(listener, this.#parts.now());
    this.#stalling ??= setTimeout(() => this.#closeStalled(), this.#parts.stallMs);
  }

  #caughtUp(listener: Listener<Socket>): void {
    this.#behind.delete(listener);
    if (this.#behind.size > 0) return;
    clearTimeout(this.#stalling);
    this.#stalling = null;
  }

  #closeStalled(): void {
    const { now, stallMs } = this.#parts;
    this.#stalling = null;
    for (const [listener, since] of this.#behind) {
      if (since + stallMs <= now()) this.#close(listener);
    }
    if (this.#behind.size > 0) {
      this.#stalling = setTimeout(() => this.#closeStalled(), stallMs / 2);
    }
  }

  /** Removes the rows of listeners whose sockets broke between two lives of the branch. */
  #forgetOthers(): void {
    const { subscriptions, onGone } = this.#parts;
    let after = "";
    for (;;) {
      const ids = subscriptions.listeners(after, PAGE);
      for (const id of ids) if (!this.#byId.has(id)) onGone(id);
      if (ids.length < PAGE) return;
      after = ids.at(-1) ?? after;
    }
  }
}

function requestReconnect(socket: ListenerSocket): void {
  try {
    // The Worker must treat everything as changed.
    socket.close(RECONNECT_CODE, "reconnect");
  } catch {
    // It is closed already.
  }
}

interface Waiting {
  seq: number;
  readonly topics: Set<Topic>;
}

class Listener<Socket extends ListenerSocket> {
  readonly id: string;
  readonly socket: Socket;
  readonly #windowChars: number;
  /** By server: the changes that wait for room. */
  readonly #waiting = new Map<string, Waiting>();
  #state: SavedListener["state"];
  #ahead: number;

  constructor(socket: Socket, windowChars: number, saved: SavedListener) {
    this.id = saved.id;
    this.socket = socket;
    this.#windowChars = windowChars;
    this.#state = saved.state;
    this.#ahead = saved.ahead;
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
    this.#send({ honoured, windowChars: this.#windowChars });
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
      this.#send({ slug, seq, topics: [...topics] });
    }
    this.#save();
  }

  acknowledged(chars: number): void {
    this.#ahead = Math.max(0, this.#ahead - chars);
    this.flush();
  }

  #send(message: ListenAnswer | News): void {
    const line = JSON.stringify(message);
    count("webSocketMessagesOut");
    this.#ahead += line.length;
    this.socket.send(line);
  }

  #save(): void {
    const saved: SavedListener = {
      id: this.id,
      state: this.#state,
      ahead: this.#ahead,
      isBehind: this.#waiting.size > 0,
    };
    this.socket.serializeAttachment(saved);
  }
}
