/**
 * The modern listeners of a branch. They are told at once, in the same turn in which news is
 * taken: what their sockets have been given, no later life of the branch has to give them again.
 */

import type { Interests, News } from "../../catalog/feeds.ts";
import { readInterests } from "./listen-wire.ts";
import { ListenerConnection, type ListenerSocket, type Seat } from "./listener.ts";
import type { SubscriptionTable } from "./subscription-table.ts";

export interface ListenersParts<Socket extends ListenerSocket> {
  /** Those that were there before this life of the branch. */
  readonly found: readonly { readonly socket: Socket; readonly seat: Seat | undefined }[];
  readonly subscriptions: SubscriptionTable;
  readonly windowChars: number;
  /** A listener that takes nothing for this long has to come back, and to take all for changed. */
  readonly stallMs: number;
  readonly now: () => number;
  readonly subscribe: (id: string, interests: Interests) => Promise<Interests>;
  /** It is not there any more. */
  readonly onGone: (id: string) => void;
}

const PAGE = 1000;
/** The reader is to come back, and to take everything for changed. */
const COME_BACK_CODE = 1012;

export class Listeners<Socket extends ListenerSocket> {
  readonly #parts: ListenersParts<Socket>;
  readonly #bySocket = new Map<Socket, ListenerConnection>();
  readonly #sockets = new Map<string, Socket>();
  /** Those that have no room, and since when. */
  readonly #behind = new Map<ListenerConnection, number>();
  #stalling: number | null = null;

  constructor(parts: ListenersParts<Socket>) {
    this.#parts = parts;
    for (const { socket, seat } of parts.found) {
      // Neither the question nor what waited for room has outlived the memory of the branch.
      if (seat === undefined || seat.state === "asking" || seat.isBehind) close(socket);
      else this.#add(socket, new ListenerConnection(socket, parts.windowChars, seat));
    }
    this.#forgetOthers();
  }

  /** @param id drawn by the listener: it leads to this branch. */
  open(socket: Socket, id: string): void {
    const seat: Seat = { id, state: "new", ahead: 0, isBehind: false };
    socket.serializeAttachment(seat);
    this.#add(socket, new ListenerConnection(socket, this.#parts.windowChars, seat));
  }

  /** Its first message says what it wants, the others what it has taken. */
  async message(socket: Socket, text: string): Promise<void> {
    const listener = this.#bySocket.get(socket);
    if (listener === undefined) return;
    if (listener.isNew) {
      listener.asks();
      const honoured = await this.#parts.subscribe(listener.id, readInterests(text));
      this.#attempt(socket, () => listener.answer(honoured));
    } else {
      this.#behind.delete(listener); // it moves
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
    const told = new Set<Socket>();
    for (const topic of topics) {
      for (const id of subscriptions.listenersOf({ slug, topic })) {
        const socket = this.#sockets.get(id);
        if (socket === undefined) continue;
        this.#bySocket.get(socket)?.note(slug, seq, topic);
        told.add(socket);
      }
    }
    for (const socket of told) this.#attempt(socket, (listener) => listener.flush());
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

  /** Notes since when a listener has no room, and has taken nothing. */
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

  /** Rows of listeners whose sockets broke while nobody was there to hear it. */
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
