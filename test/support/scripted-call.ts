/**
 * A tool call that says numbered things and then answers, and stops on the way where its script
 * has it stop, so that a test can pull a plug at exactly that moment. It remembers what it said.
 */

import type { Json } from "./clients-face.ts";
import type { EventJournal } from "./event-journal.ts";
import { pause } from "./until.ts";

/** Where a call can stop before the first of its events: at 0 its stream is open, here it is not. */
export const BEFORE_THE_ANSWER = -1;

/** The arguments of the `stream` tool. */
export interface Script {
  /** Names the call: no two calls of an upstream share a name. */
  readonly call: string;
  readonly events: number;
  /** Stops after so many events; never, unless given. After the last it stops before the result. */
  readonly stopAfter?: number;
  readonly intervalMs: number;
  /** The size of each event, about. */
  readonly bytes: number;
}

export class ScriptedCall {
  /** How often a client has asked for it: one is right. */
  posts = 0;
  /** Every message it has sent, as it was sent. */
  readonly sent: Json[] = [];
  #stoppedAfter: number | undefined;
  #release: (() => void) | undefined;

  /** After how many events it stands still, if it does. */
  get stoppedAfter(): number | undefined {
    return this.#stoppedAfter;
  }

  get isOver(): boolean {
    return "result" in (this.sent.at(-1) ?? {});
  }

  /** Lets it go on to its end. */
  release(): void {
    this.#release?.();
  }

  /** @param open opens the stream that the call speaks on. */
  async run(
    { id, params }: { readonly id?: unknown; readonly params: Json },
    open: () => EventJournal,
  ): Promise<void> {
    const script = params["arguments"] as Script;
    const meta = params["_meta"] as { progressToken?: unknown } | undefined;
    await this.#stopIf(script, BEFORE_THE_ANSWER);
    const journal = open();
    const send = (message: Json): void => {
      this.sent.push({ jsonrpc: "2.0", ...message });
      journal.append({ jsonrpc: "2.0", ...message });
    };
    await this.#stopIf(script, 0);
    for (let number = 1; number <= script.events; number++) {
      send(eventOf(script, number, meta?.progressToken));
      await pause(script.intervalMs);
      await this.#stopIf(script, number);
    }
    const text = `${script.call} said ${script.events} things`;
    send({ id, result: { content: [{ type: "text", text }] } });
    journal.end();
  }

  async #stopIf({ stopAfter }: Script, count: number): Promise<void> {
    if (stopAfter !== count) return;
    await new Promise<void>((resolve) => {
      this.#release = resolve;
      this.#stoppedAfter = count;
    });
    this.#stoppedAfter = undefined;
  }
}

/** Reports of progress and lines of a log in turn: they take different ways through a gateway. */
function eventOf({ call, events, bytes }: Script, number: number, progressToken: unknown): Json {
  const text = `${number} of ${events}, "${call}" ☂\n`.padEnd(bytes, ".");
  if (number % 2 === 0 || progressToken === undefined) {
    const params = { level: "info", logger: call, data: { number, text } };
    return { method: "notifications/message", params };
  }
  const params = { progressToken, progress: number, total: events, message: text };
  return { method: "notifications/progress", params };
}
