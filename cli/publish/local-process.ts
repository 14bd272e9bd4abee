/** One process of a local server. It ends with the command: its stdin does, even if the command is killed. */

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { Writable } from "node:stream";

import { settleWithin } from "../../src/lib/time-out.ts";
import { readLines } from "../stdio/lines.ts";
import type { LocalServer } from "./local-server.ts";

/** How a process has ended. */
export interface ProcessEnd {
  readonly reason: "exit" | "spawn-failed";
  readonly code?: number;
  readonly signal?: string;
}

export interface ProcessEvents {
  readonly onLine: (text: string) => void;
  /** Called once, also for a process that never was. */
  readonly onEnd: (end: ProcessEnd) => void;
  /** Tells the person at stderr. */
  readonly notice: (text: string) => void;
  /** Shows the person a line of its stderr. */
  readonly onErrorLine: (text: string) => void;
}

/** Each step of ending a process has this long (transports, stdio, shutdown). */
const STEP_MS = 2000;
/** What a process that has ended left in its pipes comes at once, unless something else holds them. */
const REST_MS = 500;
/** No message is so long; without a bound, a process that writes no line break fills the memory. */
const MAX_LINE_CHARS = 64 * 1024 * 1024;
/** A process that reads nothing any more. */
const MAX_UNREAD_CHARS = 64 * 1024 * 1024;
const MAX_ERROR_CHARS = 16_384;

export class LocalProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #closed: Promise<true>;
  #isClosed = false;
  #stopping: Promise<void> | undefined;

  /** @throws Error for a process that cannot be made; other failures are its end. */
  constructor({ command, environment, cwd }: LocalServer, events: ProcessEvents) {
    this.#child = spawn(command.file, command.args, {
      env: environment,
      cwd,
      windowsHide: true,
      windowsVerbatimArguments: command.isVerbatim,
      // A group of its own, so that a signal reaches what it has started too, and Ctrl-C reaches the command alone.
      detached: process.platform !== "win32",
    });
    const { stdin, stdout, stderr } = this.#child;
    this.#closed = new Promise((resolve) => {
      this.#child.once("close", () => {
        this.#isClosed = true;
        resolve(true);
      });
    });
    this.#child.once("error", (error) => {
      events.notice(error.message);
      if (this.#child.pid === undefined) events.onEnd({ reason: "spawn-failed" });
    });
    this.#child.once("exit", (code, signal) => {
      void settleWithin(this.#closed, REST_MS).then(() => {
        events.onEnd({
          reason: "exit",
          ...(code !== null && { code }),
          ...(signal !== null && { signal }),
        });
        // What it has started may hold its pipes: nobody would end that.
        return this.stop();
      });
    });
    // Where no file can be opened any more, the event says so, and comes later.
    if ((stdin as Writable | undefined) === undefined) throw new Error("has no pipes");
    // It has ended.
    stdin.on("error", () => undefined);
    readLines(stdout, events.onLine, MAX_LINE_CHARS, () => {
      events.notice("wrote a line without an end, and is ended");
      void this.stop();
    });
    readLines(stderr, events.onErrorLine, MAX_ERROR_CHARS);
  }

  write(line: string): void {
    const { stdin } = this.#child;
    if (!stdin.writable) return;
    stdin.write(`${line}\n`);
    if (stdin.writableLength > MAX_UNREAD_CHARS) void this.stop();
  }

  /** Reads no more of what it says, until it may go on. */
  hold(isHeld: boolean): void {
    if (isHeld) this.#child.stdout.pause();
    else this.#child.stdout.resume();
  }

  /** Closes stdin, then asks it to end, then ends it (transports, stdio, shutdown). Begins once, whoever asks. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    if (this.#child.pid === undefined) return;
    this.hold(false);
    this.#child.stdin.end();
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      if ((await settleWithin(this.#closed, STEP_MS)) === true) return;
      this.#signal(this.#child.pid, signal);
    }
    await settleWithin(this.#closed, STEP_MS);
  }

  #signal(pid: number, signal: NodeJS.Signals): void {
    if (this.#isClosed) return;
    if (process.platform === "win32") {
      // Windows has no signals: a program without a window cannot be asked.
      spawn("taskkill", ["/pid", String(pid), "/T", "/F"], { stdio: "ignore" }).on(
        "error",
        () => undefined,
      );
      return;
    }
    try {
      process.kill(-pid, signal);
    } catch {
      // The group has gone.
    }
  }
}
