/**
 * The host at the other end of stdin and stdout: one message a line, and nothing else on stdout (transports,
 * stdio, in all revisions).
 */

import type { Readable, Writable } from "node:stream";

import { readLines } from "./lines.ts";

/** It takes more, or nothing ever again. */
const ROOM = ["drain", "close", "error"] as const;

export class Host {
  readonly #input: Readable;
  readonly #output: Writable;
  /** Of all writes that wait: each of its own listeners would be one too many where many answers wait. */
  #room: Promise<void> | undefined;

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
  }

  /** Calls `take` with each line, and resolves when the host has closed its end. */
  read(take: (line: string) => void): Promise<void> {
    readLines(this.#input, take);
    return new Promise((resolve) => {
      this.#input.once("end", resolve);
      // A host that reads no more has gone, too; each later write fails like the first.
      for (const stream of [this.#input, this.#output]) {
        stream.once("close", resolve).on("error", () => resolve());
      }
    });
  }

  /** Resolves when the host has room for more, so that a slow host holds its stream at the gateway back. */
  async write(text: string): Promise<void> {
    if (this.#output.destroyed || this.#output.write(`${text}\n`)) return;
    this.#room ??= this.#nextRoom();
    await this.#room;
  }

  #nextRoom(): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        for (const event of ROOM) this.#output.off(event, done);
        this.#room = undefined;
        resolve();
      };
      for (const event of ROOM) this.#output.once(event, done);
    });
  }
}
