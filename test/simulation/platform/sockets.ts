/**
 * WebSocket pairs. Each end is accepted by a context, or by an object that may sleep beside it. Messages of
 * one direction keep their order; the two directions, and the two ends' knowledge of the end, do not.
 */

import { Context } from "./context.ts";
import type { Scheduler } from "./scheduler.ts";

type Listener = (event: {
  data?: unknown;
  code?: number;
  reason?: string;
  wasClean?: boolean;
}) => void;

/** Who takes what arrives at an end: the context that accepted it, or the slot of an object. */
export interface SocketOwner {
  /** True where the platform answers the other end's close by itself. */
  readonly answersClose: boolean;
  readonly message: (socket: SimulatedSocket, data: string | ArrayBuffer) => void;
  readonly close: (socket: SimulatedSocket, code: number, reason: string) => void;
}

/** The code of a connection that ended without a close. */
export const BROKEN = 1006;

export class SimulatedSocket {
  static readonly READY_STATE_CONNECTING = 0;
  static readonly READY_STATE_OPEN = 1;
  static readonly READY_STATE_CLOSING = 2;
  static readonly READY_STATE_CLOSED = 3;

  readyState = SimulatedSocket.READY_STATE_OPEN;
  other!: SimulatedSocket;
  readonly label: string;
  readonly #scheduler: Scheduler;
  readonly #lane: string;
  readonly #listeners = new Map<string, Listener[]>();
  readonly #early: (() => void)[] = [];
  #owner: SocketOwner | undefined;
  #attachment: string | undefined;
  #hasSentClose = false;
  /** True at the end that closed first. */
  #isClosing = false;

  constructor(label: string, scheduler: Scheduler) {
    this.label = label;
    this.#scheduler = scheduler;
    this.#lane = label;
  }

  /** The end is read by the context that runs; when that ends, the connection breaks. */
  accept(): void {
    const context = Context.current();
    this.acceptAs({
      answersClose: true,
      message: (_, data) => context.run(() => this.#dispatch("message", { data })),
      close: (_, code, reason) =>
        context.run(() => {
          const isAnswer = this.#isClosing;
          this.#dispatch("close", { code, reason, wasClean: code !== BROKEN });
          // Once the close is answered, nobody is there any more.
          if (!isAnswer && code !== BROKEN) this.#dispatch("error", {});
        }),
    });
    context.onEnd(() => this.drop());
  }

  acceptAs(owner: SocketOwner): void {
    this.#owner = owner;
    // Not before the code that accepts has said who listens.
    void Promise.resolve().then(() => {
      for (const deliver of this.#early.splice(0)) deliver();
    });
  }

  get isAccepted(): boolean {
    return this.#owner !== undefined;
  }

  addEventListener(type: string, listener: Listener): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener]);
  }

  send(data: string | ArrayBuffer): void {
    if (this.#hasSentClose) throw new TypeError("Can't call WebSocket send() after close().");
    // It broke: nobody is there, and nothing says so.
    if (this.readyState === SimulatedSocket.READY_STATE_CLOSED) return;
    this.#transmit("a message", () => this.other.#arrive(data));
  }

  close(code = 1005, reason = ""): void {
    if (this.#hasSentClose || this.readyState === SimulatedSocket.READY_STATE_CLOSED) return;
    this.#hasSentClose = true;
    this.#isClosing = this.readyState === SimulatedSocket.READY_STATE_OPEN;
    this.readyState = this.#isClosing
      ? SimulatedSocket.READY_STATE_CLOSING
      : SimulatedSocket.READY_STATE_CLOSED;
    this.#transmit(`close ${code}`, () => this.other.#closed(code, reason));
  }

  /** The machine at this end is gone: the other end learns it at a time of its own. */
  drop(): void {
    if (this.readyState === SimulatedSocket.READY_STATE_CLOSED) return;
    this.readyState = SimulatedSocket.READY_STATE_CLOSED;
    this.#owner = undefined;
    const told = (): void => this.other.#closed(BROKEN, "");
    this.#scheduler.post(this.#lane, `${this.label}: the other end finds it broken`, told);
  }

  /** Sends without a context: the platform answers by itself. @returns when. */
  answer(data: string): Date {
    const arrive = (): void => this.other.#arrive(data);
    this.#scheduler.post(this.#lane, `${this.label}: an automatic answer arrives`, arrive);
    return new Date(this.#scheduler.now);
  }

  serializeAttachment(value: unknown): void {
    this.#attachment = JSON.stringify(value);
  }

  deserializeAttachment(): unknown {
    return this.#attachment === undefined ? null : JSON.parse(this.#attachment);
  }

  #transmit(what: string, arrive: () => void): void {
    Context.current().leave(() =>
      this.#scheduler.post(this.#lane, `${this.label}: ${what} arrives`, arrive),
    );
  }

  #arrive(data: string | ArrayBuffer): void {
    if (this.readyState === SimulatedSocket.READY_STATE_CLOSED) return;
    if (this.#owner === undefined) this.#early.push(() => this.#arrive(data));
    else this.#owner.message(this, data);
  }

  #closed(code: number, reason: string): void {
    if (this.readyState === SimulatedSocket.READY_STATE_CLOSED) return;
    if (this.#owner === undefined) {
      this.#early.push(() => this.#closed(code, reason));
      return;
    }
    const owner = this.#owner;
    const isOpen = !this.#hasSentClose && code !== BROKEN;
    this.readyState =
      isOpen && !owner.answersClose
        ? SimulatedSocket.READY_STATE_CLOSING
        : SimulatedSocket.READY_STATE_CLOSED;
    if (isOpen && owner.answersClose) {
      this.#hasSentClose = true;
      const answered = (): void => this.other.#closed(code, reason);
      this.#scheduler.post(this.#lane, `${this.label}: the answer to a close arrives`, answered);
    }
    owner.close(this, code, reason);
  }

  #dispatch(type: string, event: Parameters<Listener>[0]): void {
    for (const listener of this.#listeners.get(type) ?? []) listener(event);
  }
}

export function makeWebSocketPair(): { 0: SimulatedSocket; 1: SimulatedSocket } {
  const { scheduler } = Context.current();
  const number = scheduler.number("socket");
  const first = new SimulatedSocket(`socket ${number} to the object`, scheduler);
  const second = new SimulatedSocket(`socket ${number} to the Worker`, scheduler);
  first.other = second;
  second.other = first;
  return { 0: first, 1: second };
}
