/**
 * The modern listeners of a branch. News is sent to them synchronously when it is accepted: no later
 * life of the branch has to send again what their sockets were given.
 */

import type { Interests, News } from "../../catalog/feeds.ts";
import { readInterests } from "./listen-wire.ts";
import { ListenerConnection, type ListenerSocket, type Seat } from "./listener.ts";
import type { SubscriptionTable } from "./subscription-table.ts";

export interface ListenersParts<Socket extends ListenerSocket> {
  /** The listeners that connected before this life of the branch. */
  readonly found: readonly { readonly socket: Socket; readonly seat: Seat | undefined }[];
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
/** The Worker must reconnect, and treat everything as changed. */
const COME_BACK_CODE = 1012;

export class Listeners<Socket extends ListenerSocket> {
  readonly #parts: ListenersParts<Socket>;
  readonly #bySocket = new Map<Socket, ListenerConnection>();
  readonly #sockets = new Map<string, Socket>();
  /** Listeners whose window is full, and since when. */
  readonly #behind = new Map<ListenerConnection, number>();
  #stalling: number | null = null;

  constructor(parts: ListenersParts<Socket>) {
    this.#parts = parts;
    for (const { socket, seat } of parts.found) {
      // Neither a pending request nor news that waited for room outlived the memory of the branch.
      if (seat === undefined || seat.state === "asking" || seat.isBehind) close(socket);
      else this.#add(socket, new ListenerConnection(socket, parts.windowChars, seat));
    }
    this.#forgetOthers();
  }

  /** @param id chosen by the listener; it determines this branch. */
  open(socket: Socket, id: string): void {
    const seat: Seat = { id, state: "new", ahead: 0, isBehind: false };
    socket.serializeAttachment(seat);
    this.#add(socket, new ListenerConnection(socket, this.#parts.windowChars, seat));
  }

  /** The first message of a listener has its interests, the others are acknowledgements. */
  async message(socket: Socket, text: string): Promise<void> {
    const listener = this.#bySocket.get(socket);
    if (listener === undefined) return;
    if (listener.isNew) {
      listener.asks();
      const honoured = await this.#parts.subscribe(listener.id, readInterests(text));
      this.#attempt(socket, () => listener.answer(honoured));
    } else {
      this.#behind.delete(listener); // it makes progress
      this.#attempt(socket, () => listener.acknowledged(Number(text)));
    }
  }

  closed(socket: Socket): void {
    const listener = this.#bySocket.get(socket);
    if (listener === undefined) return;
    this.#bySocket.delete(socket);
    this.#sockets.delete(listener.id);
    this.#caughtUp(listener);
    this.#parts.onGone(listener.id);
  }

  tell({ slug, seq, topics }: News): void {
    const { subscriptions } = this.#parts;
    const noted = new Set<Socket>();
    for (const topic of topics) {
      for (const id of subscriptions.listenersOf({ slug, topic })) {
        const socket = this.#sockets.get(id);
        if (socket === undefined) continue;
        this.#bySocket.get(socket)?.note(slug, seq, topic);
        noted.add(socket);
      }
    }
    for (const socket of noted) this.#attempt(socket, (listener) => listener.flush());
  }

  #add(socket: Socket, listener: ListenerConnection): void {
    this.#bySocket.set(socket, listener);
    this.#sockets.set(listener.id, socket);
  }

  #attempt(socket: Socket, act: (listener: ListenerConnection) => void): void {
    const listener = this.#bySocket.get(socket);
    if (listener === undefined) return;
    try {
      act(listener);
      this.#watch(listener);
    } catch {
      close(socket);
      this.closed(socket);
    }
  }

  /** Notes since when a listener's window is full without an acknowledgement. */
  #watch(listener: ListenerConnection): void {
    if (!listener.isBehind) {
      this.#caughtUp(listener);
      return;
    }
    if (!this.#behind.has(listener)) this.#behind.set(listener, this.#parts.now());
    this.#stalling ??= setTimeout(() => this.#closeStalled(), this.#parts.stallMs);
  }

  #caughtUp(listener: ListenerConnection): void {
    this.#behind.delete(listener);
    if (this.#behind.size > 0) return;
    clearTimeout(this.#stalling);
    this.#stalling = null;
  }

  #closeStalled(): void {
    const { now, stallMs } = this.#parts;
    this.#stalling = null;
    for (const [socket, listener] of this.#bySocket) {
      if ((this.#behind.get(listener) ?? Infinity) + stallMs > now()) continue;
      close(socket);
      this.closed(socket);
    }
    if (this.#behind.size === 0) return;
    this.#stalling = setTimeout(() => this.#closeStalled(), stallMs / 2);
  }

  /** Removes the rows of listeners whose sockets broke between two lives of the branch. */
  #forgetOthers(): void {
    const { subscriptions, onGone } = this.#parts;
    let after = "";
    for (;;) {
      const ids = subscriptions.listeners(after, PAGE);
      for (const id of ids) if (!this.#sockets.has(id)) onGone(id);
      if (ids.length < PAGE) return;
      after = ids.at(-1) ?? after;
    }
  }
}

function close(socket: ListenerSocket): void {
  try {
    socket.close(COME_BACK_CODE, "come back");
  } catch {
    // It is closed already.
  }
}
