/**
 * The level of log messages of a session, which is the session's at a legacy server and each request's
 * for modern clients: the lowest that any request wants which runs now.
 */

import { abortAfter } from "../../lib/time-out.ts";
import type { Call } from "../../protocol/exchange.ts";
import type { JsonObject, Reply } from "../../protocol/json-rpc.ts";
import { type LogLevel, lowest } from "../../protocol/log-levels.ts";
import { UpstreamError } from "../../upstream/upstream-error.ts";

/** For setting a level; then the call goes on without. */
const TIMEOUT_MS = 5000;

export class LogLevelControl {
  readonly #request: (call: Call, signal: AbortSignal) => Promise<Reply>;
  readonly #wanted = new Map<object, LogLevel>();
  #level: string | undefined;
  #setting: Promise<void> = Promise.resolve();

  /**
   * @param level that the server was told last.
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
    this.#wanted.set(by, level);
  }

  leave(by: object): void {
    this.#wanted.delete(by);
  }

  /** Tells the server what is wanted, if it is another than before. Never rejects. */
  agree({ logging }: JsonObject): Promise<void> {
    if (logging === undefined) return Promise.resolve();
    this.#setting = this.#setting.then(() => this.#set());
    return this.#setting;
  }

  async #set(): Promise<void> {
    const level = lowest(this.#wanted.values());
    if (level === undefined || level === this.#level) return;
    const before = this.#level;
    // A server that refuses it, or says nothing to it, is not asked for the same again and again.
    this.#level = level;
    const call = { method: "logging/setLevel", params: { level } };
    try {
      await abortAfter(TIMEOUT_MS, (signal) => this.#request(call, signal));
    } catch (error) {
      // It may come too loud or not at all; the request itself tells of a server that is gone.
      if (error instanceof UpstreamError) this.#level = before;
    }
  }
}
