/** Reads a stream of the gateway's as a client would, one event at a time, and never for ever. */

import { createParser, type EventSourceMessage } from "eventsource-parser";

import type { Json } from "../support/scripted-upstream-script.ts";
import { within } from "./bounded.ts";
import { atEndOfFile } from "./hang-up.ts";

export interface Message extends Json {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Json & { readonly _meta?: Json };
  readonly result?: Json & { readonly _meta?: Json };
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Json };
}

export interface SeenEvent {
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly data: string;
  readonly retry: number | undefined;
}

/** Of the keep-alives of the gateway under test. */
const HALF_AN_INTERVAL_MS = 500;

export class EventReader {
  /** Comments so far: keep-alives. */
  comments = 0;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #ready: SeenEvent[] = [];
  readonly #decoder = new TextDecoder();
  readonly #parser: ReturnType<typeof createParser>;
  #retry: number | undefined;

  constructor(response: Response) {
    if (response.body === null) throw new Error("The response has no body");
    this.#reader = response.body.getReader();
    atEndOfFile(() => this.cancel());
    this.#parser = createParser({
      onEvent: ({ id, event, data }: EventSourceMessage) => {
        this.#ready.push({ id, name: event, data, retry: this.#retry });
        this.#retry = undefined;
      },
      onRetry: (retry) => {
        this.#retry = retry;
      },
      onComment: () => {
        this.comments += 1;
      },
    });
  }

  /** The next event; `undefined` when the stream is over. */
  async next(): Promise<SeenEvent | undefined> {
    while (this.#ready.length === 0) {
      if (!(await this.#read("an event"))) return undefined;
    }
    return this.#ready.shift();
  }

  /** The next message; primings are passed over. */
  async message(): Promise<Message> {
    for (;;) {
      const event = await this.next();
      if (event === undefined) throw new Error("The stream ended instead of bringing a message");
      if (event.data !== "") return JSON.parse(event.data) as Message;
    }
  }

  /** Every event up to the end of the stream. */
  async rest(): Promise<readonly SeenEvent[]> {
    const events: SeenEvent[] = [];
    for (let event = await this.next(); event !== undefined; event = await this.next()) {
      events.push(event);
    }
    return events;
  }

  /** Waits for a keep-alive that took its time, and wants nothing else to come before it. */
  async silence(): Promise<void> {
    // One that waited to be read says nothing of what comes now.
    for (let isFresh = false; !isFresh;) {
      const [before, begun] = [this.comments, performance.now()];
      while (this.comments === before) {
        if (!(await this.#read("a keep-alive"))) throw new Error("The stream ended");
        const unexpected = this.#ready.splice(0).find(({ data }) => data !== "");
        if (unexpected !== undefined) throw new Error(`Unexpected: ${unexpected.data}`);
      }
      isFresh = performance.now() - begun > HALF_AN_INTERVAL_MS;
    }
  }

  /** Reads on in the background, as a client does that is there. @returns what it brings. */
  collect(): readonly Message[] {
    const messages: Message[] = [];
    const read = async (): Promise<void> => {
      for (;;) {
        while (this.#ready.length === 0) {
          const chunk = await this.#reader.read();
          if (chunk.done) return;
          this.#parser.feed(this.#decoder.decode(chunk.value, { stream: true }));
        }
        for (const { data } of this.#ready.splice(0)) {
          if (data !== "") messages.push(JSON.parse(data) as Message);
        }
      }
    };
    read().catch(() => undefined); // whoever waits for a message sees that it does not come
    return messages;
  }

  /** @returns `false` when the stream is over. */
  async #read(what: string): Promise<boolean> {
    const chunk = await within(this.#reader.read(), what);
    if (!chunk.done) this.#parser.feed(this.#decoder.decode(chunk.value, { stream: true }));
    return !chunk.done;
  }

  /** Hangs up. */
  async cancel(): Promise<void> {
    await this.#reader.cancel();
  }
}

/** The messages of an answer, whichever form it has. */
export async function messagesOf(response: Response): Promise<readonly Message[]> {
  if (response.headers.get("content-type") === "text/event-stream") {
    const events = await new EventReader(response).rest();
    return events.filter(({ data }) => data !== "").map(({ data }) => JSON.parse(data) as Message);
  }
  const text = await within(response.text(), "the body");
  return text === "" ? [] : [JSON.parse(text) as Message];
}

/** The one response in an answer. @throws Error when there is none, or more than one. */
export async function responseIn(response: Response): Promise<Message> {
  const messages = await messagesOf(response);
  const [first, second] = messages.filter(({ method }) => method === undefined);
  if (first === undefined || second !== undefined) {
    throw new Error(`Not exactly one response: ${JSON.stringify(messages)}`);
  }
  return first;
}
