/** The requests of the host that have no answer yet. Each gets one answer, or none once it is cancelled. */

import type { Host } from "../stdio/host.ts";
import {
  errorText,
  type Message,
  readMessage,
  type Request,
  type Response,
} from "../stdio/message.ts";

/** A request of the host, until it is answered or cancelled. */
export class Call {
  readonly request: Request;
  readonly #end = new AbortController();

  constructor(request: Request) {
    this.request = request;
  }

  /** Aborted when it is over. */
  get over(): AbortSignal {
    return this.#end.signal;
  }

  get isOver(): boolean {
    return this.over.aborted;
  }

  end(): void {
    this.#end.abort(new Error("The call is over"));
  }
}

export class Calls {
  readonly #host: Host;
  /** By id. */
  readonly #open = new Map<string, Call>();
  #settled: (() => void) | undefined;

  constructor(host: Host) {
    this.#host = host;
  }

  begin(request: Request): Call {
    const call = new Call(request);
    this.#open.set(request.id, call);
    return call;
  }

  /** The calls that are open, oldest first. */
  get open(): readonly Call[] {
    return [...this.#open.values()];
  }

  /** Passes a message of the gateway on. An answer to a call that is over is dropped. */
  async deliver(text: string): Promise<Message | undefined> {
    const message = readMessage(text);
    if (message === undefined) return undefined;
    const answers = message.parts.filter((part) => part.kind === "response");
    if (answers.length === message.parts.length && !answers.some((one) => this.#isAwaited(one))) {
      return message;
    }
    const written = this.#host.write(message.text);
    for (const { id } of answers) if (id !== undefined) this.#close(id);
    await written;
    return message;
  }

  /** Answers a call with an error of the command's own, unless it is over. */
  async fail({ request, isOver }: Call, code: number, message: string): Promise<void> {
    if (isOver) return;
    const written = this.#host.write(errorText(request.id, code, message));
    this.#close(request.id);
    await written;
  }

  /** @returns the call of this id, which gets no answer any more. */
  cancel(id: string): Call | undefined {
    const call = this.#open.get(id);
    this.#close(id);
    return call;
  }

  /** Resolves when no call is open. */
  settled(): Promise<void> {
    if (this.#open.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#settled = resolve;
    });
  }

  #isAwaited({ id }: Response): boolean {
    return id !== undefined && this.#open.has(id);
  }

  #close(id: string): void {
    this.#open.get(id)?.end();
    this.#open.delete(id);
    if (this.#open.size === 0) this.#settled?.();
  }
}
