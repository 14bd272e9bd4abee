/**
 * Relays between one host and one gateway, in the era of the host and untranslated: the gateway serves both.
 * Each request of 2026-07-28 says its revision; everything else belongs to the session that `initialize` opens.
 */

import { settleWithin } from "../../src/lib/time-out.ts";
import { unlessAborted } from "../../src/lib/unless-aborted.ts";
import type { Gateway } from "../http/gateway.ts";
import { isModern } from "../http/modern-headers.ts";
import type { Host } from "../stdio/host.ts";
import { CANCELLED, type Message, readMessage, requestIdOf } from "../stdio/message.ts";
import { Calls } from "./calls.ts";
import { LegacySession } from "./legacy-session.ts";
import { ModernRequests } from "./modern-requests.ts";
import type { RelayOptions } from "./options.ts";

/** An answer that is on its way when the host goes still reaches it; the rest is taken back. */
const GRACE_MS = 400;
/** Hosts kill a server that is still there after two seconds. */
const CLOSE_MS = 1200;

export class Connection {
  readonly #host: Host;
  readonly #options: RelayOptions;
  readonly #calls: Calls;
  readonly #legacy: LegacySession;
  readonly #modern: ModernRequests;

  constructor(host: Host, gateway: Gateway, options: RelayOptions) {
    this.#host = host;
    this.#options = options;
    this.#calls = new Calls(host);
    this.#legacy = new LegacySession(gateway, this.#calls, options);
    this.#modern = new ModernRequests(gateway, this.#calls, options);
  }

  /** Resolves when the host has gone, and all is taken back. @param stop ends it earlier. */
  async run(stop: AbortSignal): Promise<void> {
    const reading = this.#host.read((line) => this.#take(line));
    await unlessAborted(reading, stop).catch(() => undefined);
    if (!stop.aborted) await settleWithin(this.#calls.settled(), GRACE_MS);
    await settleWithin(
      this.#close().catch(() => undefined),
      CLOSE_MS,
    );
  }

  async #close(): Promise<void> {
    const closing = this.#legacy.close();
    this.#modern.close();
    await closing;
  }

  #take(line: string): void {
    const message = readMessage(line);
    const [part] = message?.parts ?? [];
    if (message === undefined || part === undefined) {
      // An answer would need an id, and no MCP schema allows `null`.
      this.#options.notice("a line of the host is no message of JSON-RPC 2.0, and is dropped");
      return;
    }
    if (message.isBatch || part.kind === "response") {
      this.#legacy.take(message);
    } else if (part.kind === "notification") {
      if (part.method === CANCELLED) this.#cancel(message);
      else if (isModern(part) || !this.#legacy.isWanted) this.#modern.notify(message, part);
      else this.#legacy.take(message);
    } else if (isModern(part)) {
      this.#modern.request(message, part);
    } else {
      this.#legacy.take(message);
    }
  }

  /** Closing the stream cancels a request of 2026-07-28; a session is told. */
  #cancel(message: Message): void {
    const id = requestIdOf(message);
    const call = id === undefined ? undefined : this.#calls.cancel(id);
    if (call !== undefined && isModern(call.request)) return;
    if (this.#legacy.isWanted) this.#legacy.take(message);
  }
}
