/**
 * The log level of a session at a legacy server. A modern client sets the level of each request, so
 * the session has the lowest level of the requests that run now.
 */

import { abortAfter } from "../../lib/time-out.ts";
import type { Call } from "../../protocol/exchange.ts";
import type { JsonObject, Reply } from "../../protocol/json-rpc.ts";
import { type LogLevel, lowest } from "../../protocol/log-levels.ts";
import { UpstreamError } from "../../upstream/upstream-error.ts";

/** The time for setting a level, after which the call goes on. */
const TIMEOUT_MS = 5000;

export class LogLevelControl {
  readonly #request: (call: Call, signal: AbortSignal) => Promise<Reply>;
  readonly #levels = new Map<object, LogLevel>();
  #level: string | undefined;
  #setting: Promise<void> = Promise.resolve();

  /**
   * @param level that was set at the server last.
   * @param request makes a request at the server.
   */
  constructor(
    level: string | undefined,
    request: (call: Call, signal: AbortSignal) => Promise<Reply>,
  ) {
    this.#level = level;
    this.#request = request;
  }

  want(by: object, level: LogLevel): void {
    this.#levels.set(by, level);
  }

  leave(by: object): void {
    this.#levels.delete(by);
  }

  /** Sets the level at the server, if it differs from the last one. Never rejects. */
  agree({ logging }: JsonObject): Promise<void> {
    if (logging === undefined) return Promise.resolve();
    this.#setting = this.#setting.then(() => this.#set());
    return this.#setting;
  }

  async #set(): Promise<void> {
    const level = lowest(this.#levels.values());
    if (level === undefined || level === this.#level) return;
    const before = this.#level;
    // A server that refuses the level, or does not answer, is not sent the same level again.
    this.#level = level;
    const call = { method: "logging/setLevel", params: { level } };
    try {
      await abortAfter(TIMEOUT_MS, (signal) => this.#request(call, signal));
    } catch (error) {
      // Log messages may keep the old level; the request itself reports a server that is gone.
      if (error instanceof UpstreamError) this.#level = before;
    }
  }
}
