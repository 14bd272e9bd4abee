/**
 * Those who look on while calls are made, by a socket each. The object sleeps beside the sockets, and sends
 * each batch to whoever may see some of it.
 */

import { type CallFilter, type ListedCall, matches } from "./call.ts";

/** Who looks, and at what. */
export interface Watcher {
  readonly viewer: string;
  readonly filter: CallFilter;
}

/** What a socket is for; it outlives the object's memory as the socket's attachment. */
export interface Admitted extends Watcher {
  /** In milliseconds since 1970. */
  readonly since: number;
}

/** A `WebSocket` satisfies it by shape. */
export interface WatcherSocket {
  deserializeAttachment(): unknown;
  send(text: string): void;
  close(code: number, reason: string): void;
}

/** All that look on at one object. */
export const MAX_WATCHERS = 8;
/** A tab that nobody looks at any more gives way to a new one of the same person. */
const MAX_OF_ONE_VIEWER = 2;
export const REPLACED_CODE = 4409;

interface WatchersParts<Socket extends WatcherSocket> {
  /** The sockets that are open, in no order. */
  readonly open: () => readonly Socket[];
  readonly onSent: () => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export class Watchers<Socket extends WatcherSocket> {
  readonly #parts: WatchersParts<Socket>;

  constructor(parts: WatchersParts<Socket>) {
    this.#parts = parts;
  }

  /** @returns what the new socket is for; `undefined` when there is no place for it. */
  admit(request: Request): Admitted | undefined {
    const watcher = JSON.parse(new URL(request.url).searchParams.get("watcher") ?? "{}") as Watcher;
    const open = this.#parts.open();
    const own = open
      .filter((socket) => watcherOf(socket)?.viewer === watcher.viewer)
      .toSorted((a, b) => (watcherOf(a)?.since ?? 0) - (watcherOf(b)?.since ?? 0));
    const tooMany = own.slice(0, Math.max(0, own.length - MAX_OF_ONE_VIEWER + 1));
    if (open.length - tooMany.length >= MAX_WATCHERS) return undefined;
    for (const socket of tooMany) socket.close(REPLACED_CODE, "replaced");
    const newest = own.at(-1);
    // Two of one millisecond have an order, too.
    const after = (newest && watcherOf(newest)?.since) ?? 0;
    return { ...watcher, since: Math.max(this.#parts.now(), after + 1) };
  }

  /** @param calls made only when somebody looks. */
  show(calls: () => readonly ListedCall[]): void {
    const open = this.#parts.open();
    if (open.length === 0) return;
    const all = calls();
    for (const socket of open) {
      const filter = watcherOf(socket)?.filter;
      const seen = filter === undefined ? [] : all.filter((call) => matches(call, filter));
      if (seen.length === 0) continue;
      this.#parts.onSent();
      socket.send(JSON.stringify(seen));
    }
  }
}

function watcherOf(socket: WatcherSocket): Admitted | undefined {
  return (socket.deserializeAttachment() as Admitted | null) ?? undefined;
}

/** The request that opens a socket, for `admit`. */
export function watchRequest(watcher: Watcher): Request {
  const query = new URLSearchParams({ watcher: JSON.stringify(watcher) });
  return new Request(`https://shard/watch?${query.toString()}`, {
    headers: { Upgrade: "websocket" },
  });
}
