/** One process for all channels (`--share`): for a server that keeps no state of its client, or that starts slowly. */

import { ErrorCode } from "../../src/protocol/error-codes.ts";
import {
  emptyResultText,
  errorText,
  INITIALIZED,
  type Message,
  readMessage,
  type Request,
} from "../stdio/message.ts";
import type { ChannelEnd, Outlet, Processes, StartProcess } from "./channels.ts";
import type { ServerProcess } from "./server-process.ts";
import { answerAgain, SharedIds } from "./shared-ids.ts";
import { Subscribers } from "./subscribers.ts";

/** The one process, and what is known of it. */
interface Running {
  readonly process: ServerProcess;
  readonly ids: SharedIds;
  readonly introduction: Introduction;
  readonly subscribers: Subscribers;
}

/** The first `initialize`: a process takes one, so that all others have the same answer. */
interface Introduction {
  isAsked: boolean;
  /** The answer, once it is there. */
  answer?: string;
  /** Whether the server was told that it is initialized. */
  isDone: boolean;
  /** Who waits for the answer. */
  readonly waiting: { readonly channel: string; readonly id: string }[];
}

const NOTHING = Promise.resolve();
const UNCLEAR =
  "Several clients share this process, and it is not clear whose call asks. Publish the server without --share";

export class SharedProcess implements Processes {
  readonly #start: StartProcess;
  readonly #outlet: Outlet;
  readonly #channels = new Set<string>();
  #running: Running | undefined;
  /** When the last channel was closed. */
  #leftAt = 0;

  constructor(start: StartProcess, outlet: Outlet) {
    this.#start = start;
    this.#outlet = outlet;
  }

  open(channel: string): void {
    this.#channels.add(channel);
    this.#running ??= this.#begin();
  }

  deliver(channel: string, message: Message): void {
    if (this.#running === undefined) return;
    const [part] = message.parts;
    if (part?.kind === "request" && part.method === "initialize") {
      this.#introduce(this.#running, channel, message, part);
      return;
    }
    if (part?.kind === "notification" && part.method === INITIALIZED) {
      if (this.#running.introduction.isDone) return;
      this.#running.introduction.isDone = true;
    }
    this.#send(this.#running, channel, message);
  }

  close(channel: string): Promise<void> {
    if (!this.#channels.delete(channel)) return NOTHING;
    const { process, ids, subscribers } = this.#running ?? {};
    subscribers?.forget(channel);
    for (const text of ids?.forget(channel) ?? []) process?.write(text);
    this.#leftAt = Date.now();
    return NOTHING;
  }

  async closeAll(): Promise<void> {
    this.#channels.clear();
    const running = this.#running;
    this.#running = undefined;
    await running?.process.stop();
  }

  /** A gateway looks at a server by a channel that it closes at once, so that the process stays for the next one. */
  isUnused(idleMs: number): boolean {
    return this.#channels.size === 0 && Date.now() - this.#leftAt >= idleMs;
  }

  hold(isHeld: boolean): void {
    this.#running?.process.hold(isHeld);
  }

  #begin(): Running {
    const running: Running = {
      process: this.#start({
        onMessage: (message) => this.#take(running, message),
        onEnd: (end) => this.#end(end),
      }),
      ids: new SharedIds(),
      introduction: { isAsked: false, isDone: false, waiting: [] },
      subscribers: new Subscribers(),
    };
    return running;
  }

  #introduce(
    { process, ids, introduction }: Running,
    channel: string,
    message: Message,
    { id }: Request,
  ): void {
    if (introduction.answer !== undefined)
      this.#answer(channel, answerAgain(introduction.answer, id));
    else if (introduction.isAsked) introduction.waiting.push({ channel, id });
    else {
      introduction.isAsked = true;
      const text = ids.toServer(channel, message);
      if (text !== undefined) process.write(text);
    }
  }

  #send({ process, ids, subscribers }: Running, channel: string, message: Message): void {
    const [part] = message.parts;
    if (part?.kind === "request" && !subscribers.isForServer(channel, part)) {
      this.#answer(channel, readMessage(emptyResultText(part.id)));
      return;
    }
    const text = ids.toServer(channel, message);
    if (text !== undefined) process.write(text);
  }

  #take(running: Running, message: Message): void {
    const [part] = message.parts;
    if (part?.kind === "request" && part.method === "ping") {
      running.process.write(emptyResultText(part.id));
      return;
    }
    const goes = running.ids.fromServer(message);
    if (goes.kind === "unclear") {
      running.process.write(errorText(goes.id, ErrorCode.InvalidRequest, UNCLEAR));
    } else if (goes.kind === "all") {
      for (const channel of this.#channels) this.#answer(channel, readMessage(goes.text));
    } else if (goes.kind === "one") {
      this.#answer(goes.channel, readMessage(goes.text));
      if (goes.answers === "initialize") this.#introduced(running, goes.text);
    }
  }

  #introduced({ introduction }: Running, text: string): void {
    const [part] = readMessage(text)?.parts ?? [];
    // A refusal is for those that waited; the next one asks once more.
    introduction.isAsked = part?.kind === "response" && part.result !== undefined;
    if (introduction.isAsked) introduction.answer = text;
    for (const { channel, id } of introduction.waiting.splice(0)) {
      this.#answer(channel, answerAgain(text, id));
    }
  }

  #answer(channel: string, message: Message | undefined): void {
    if (message !== undefined) this.#outlet.message(channel, message);
  }

  #end(end: ChannelEnd): void {
    this.#running = undefined;
    const channels = [...this.#channels];
    this.#channels.clear();
    for (const channel of channels) this.#outlet.closed(channel, end);
  }
}
