/** A process of a local server, in messages: what it writes that is none, or too long, ends here. */

import { ErrorCode } from "../../src/protocol/error-codes.ts";
import { refusalOfSize } from "../../src/protocol/publishing.ts";
import { reasonOf } from "../http/failures.ts";
import { DISCOVER, errorText, type Message, readMessage, singlesOf } from "../stdio/message.ts";
import { LocalProcess, type ProcessEnd } from "./local-process.ts";
import type { LocalServer } from "./local-server.ts";

export interface ServerProcessOptions {
  readonly server: LocalServer;
  /** How long its start waits, in milliseconds. */
  readonly delayMs: number;
  /** Tells the person at stderr. */
  readonly notice: (text: string) => void;
  readonly onMessage: (message: Message) => void;
  /**
   * Called when it ends by itself.
   *
   * @param isAtDiscovery it was asked for its era, and nothing else was said to it.
   */
  readonly onEnd: (end: ProcessEnd, isAtDiscovery: boolean) => void;
}

const MAX_SHOWN_CHARS = 200;

export class ServerProcess {
  readonly #options: ServerProcessOptions;
  readonly #timer: NodeJS.Timeout;
  /** What it gets once it is there. */
  #early: string[] = [];
  #process: LocalProcess | undefined;
  /** It was asked for its era, and nothing else; `undefined` as long as nothing was said to it. */
  #isAtDiscovery: boolean | undefined;
  #isOver = false;
  #isHeld = false;

  constructor(options: ServerProcessOptions) {
    this.#options = options;
    this.#timer = setTimeout(() => this.#start(), options.delayMs);
  }

  write(text: string): void {
    this.#isAtDiscovery = this.#isAtDiscovery !== false && isDiscovery(text);
    if (this.#process === undefined) this.#early.push(text);
    else this.#process.write(text);
  }

  /** Reads no more of what it says, until it may go on. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#process?.hold(isHeld);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    clearTimeout(this.#timer);
    await this.#process?.stop();
  }

  #start(): void {
    const { server, notice } = this.#options;
    try {
      this.#process = new LocalProcess(server, {
        onLine: (line) => this.#take(line),
        onEnd: (end) => this.#end(end),
        notice,
        onErrorLine: (line) => process.stderr.write(`[${server.name}] ${line}\n`),
      });
    } catch (error) {
      // Some failures are thrown, like that of a folder to run in that is a file. The other servers go on.
      notice(reasonOf(error));
      this.#end({ reason: "spawn-failed" });
      return;
    }
    this.#process.hold(this.#isHeld);
    for (const text of this.#early.splice(0)) this.#process.write(text);
  }

  #end(end: ProcessEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.onEnd(end, this.#isAtDiscovery === true);
  }

  #take(line: string): void {
    if (this.#isOver) return;
    const message = readMessage(line);
    if (message === undefined) {
      const shown = line.trim().slice(0, MAX_SHOWN_CHARS);
      this.#options.notice(`a line on its stdout is no message of JSON-RPC 2.0: ${shown}`);
      return;
    }
    for (const single of singlesOf(message)) {
      const tooLong = refusalOfSize(single.text);
      if (tooLong === undefined) this.#options.onMessage(single);
      else this.#refuse(single, tooLong);
    }
  }

  /** The one request that a message is of fails; all else goes on. */
  #refuse({ parts: [part] }: Message, sentence: string): void {
    this.#options.notice(sentence);
    if (part?.kind === "notification" || part?.id === undefined) return;
    const text = errorText(part.id, ErrorCode.InternalError, sentence);
    if (part.kind === "request") this.write(text);
    else this.#options.onMessage({ text, parts: [part], isBatch: false });
  }
}

function isDiscovery(text: string): boolean {
  return (
    readMessage(text)?.parts.some((part) => "method" in part && part.method === DISCOVER) === true
  );
}
