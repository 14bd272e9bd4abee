/** The sockets of an object, which outlive a life of it that sleeps. */

import { Context } from "./context.ts";
import { BROKEN, type SimulatedSocket } from "./sockets.ts";

/** What the class of an object does with them. */
export interface SocketHandlers {
  readonly webSocketMessage?: (socket: SimulatedSocket, data: string | ArrayBuffer) => unknown;
  readonly webSocketClose?: (
    socket: SimulatedSocket,
    code: number,
    reason: string,
    wasClean: boolean,
  ) => unknown;
}

/** `WebSocketRequestResponsePair` of the platform. */
export class AutoResponse {
  readonly request: string;
  readonly response: string;

  constructor(request: string, response: string) {
    this.request = request;
    this.response = response;
  }
}

interface Held {
  readonly socket: SimulatedSocket;
  readonly tags: readonly string[];
  answeredAt: Date | null;
}

export class ObjectSockets {
  #held: Held[] = [];
  /** Has the object handle an event, in the life that it has or begins. */
  readonly #deliver: (handle: (user: SocketHandlers) => unknown) => void;
  #auto: AutoResponse | undefined;

  constructor(deliver: (handle: (user: SocketHandlers) => unknown) => void) {
    this.#deliver = deliver;
  }

  accept(socket: SimulatedSocket, tags: readonly string[]): void {
    const held: Held = { socket, tags, answeredAt: null };
    this.#held.push(held);
    socket.acceptAs({
      answersClose: false,
      message: (_, data) => {
        if (this.#auto === undefined || data !== this.#auto.request) {
          this.#deliver((user) => user.webSocketMessage?.(socket, data));
          return;
        }
        held.answeredAt = socket.answer(this.#auto.response);
      },
      close: (_, code, reason) =>
        this.#deliver(async (user) => {
          // What the object does not answer, its end of life does.
          Context.current().onEnd(() => socket.drop());
          try {
            await user.webSocketClose?.(socket, code, reason, code !== BROKEN);
          } finally {
            this.#held = this.#held.filter((other) => other !== held);
          }
        }),
    });
  }

  /** What is answered to one message, without the object. */
  answerBy(pair: AutoResponse): void {
    this.#auto = pair;
  }

  answeredAt(socket: SimulatedSocket): Date | null {
    return this.#find(socket)?.answeredAt ?? null;
  }

  of(tag: string | undefined): SimulatedSocket[] {
    const held = this.#held.filter(({ tags }) => tag === undefined || tags.includes(tag));
    return held.map(({ socket }) => socket);
  }

  tagsOf(socket: SimulatedSocket): readonly string[] {
    return [...(this.#find(socket)?.tags ?? [])];
  }

  /** The machine is gone. */
  drop(): void {
    for (const { socket } of this.#held.splice(0)) socket.drop();
  }

  #find(socket: SimulatedSocket): Held | undefined {
    return this.#held.find((held) => held.socket === socket);
  }
}
