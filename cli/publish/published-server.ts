/** One server of this machine that the gateway serves: its channels, and how often its processes may be started. */

import { readMessage } from "../stdio/message.ts";
import type { ChannelEnd, Channels, Outlet, StartProcess } from "./channels.ts";
import { Crashes } from "./crashes.ts";
import type { ProcessEnd } from "./local-process.ts";
import type { LocalServer } from "./local-server.ts";
import { OwnProcesses } from "./own-processes.ts";
import { ServerProcess } from "./server-process.ts";
import { SharedProcess } from "./shared-process.ts";

export interface PublishedServerOptions {
  readonly server: LocalServer;
  /** One process serves all channels. */
  readonly isShared: boolean;
  readonly outlet: Outlet;
  /** Called when it has ended too often: it takes no channel for this long. */
  readonly onOffline: (ms: number) => void;
  /** Tells the person at stderr. */
  readonly notice: (text: string) => void;
}

export class PublishedServer {
  readonly #options: PublishedServerOptions;
  readonly #channels: Channels;
  readonly #crashes = new Crashes();
  /** Processes that are being ended. */
  readonly #ending = new Set<Promise<void>>();
  #isOffline = false;

  constructor(options: PublishedServerOptions) {
    this.#options = options;
    const Kind = options.isShared ? SharedProcess : OwnProcesses;
    this.#channels = new Kind(this.#start, options.outlet);
  }

  get name(): string {
    return this.#options.server.name;
  }

  get isShared(): boolean {
    return this.#options.isShared;
  }

  get isOffline(): boolean {
    return this.#isOffline;
  }

  /** The requests of the gateway that run. */
  get calls(): number {
    return this.#channels.calls;
  }

  open(channel: string): void {
    if (this.#isOffline) this.#options.outlet.closed(channel, { reason: "crashing" });
    else {
      this.close(channel);
      this.#channels.open(channel);
    }
  }

  deliver(channel: string, text: string): void {
    const message = readMessage(text);
    if (message !== undefined) this.#channels.deliver(channel, message);
  }

  close(channel: string): void {
    this.#end(this.#channels.close(channel));
  }

  /** Resolves when no process of it is left, of those either that were ended before. */
  async closeAll(): Promise<void> {
    this.#end(this.#channels.closeAll());
    await Promise.all(this.#ending);
  }

  closeIdle(idleMs: number): void {
    for (const channel of this.#channels.idle(idleMs)) {
      this.close(channel);
      this.#options.outlet.closed(channel, { reason: "idle" });
    }
    if (this.#channels.isUnused(idleMs)) this.#end(this.#channels.closeAll());
  }

  hold(isHeld: boolean): void {
    this.#channels.hold(isHeld);
  }

  /** It may be offered once more. */
  revive(): void {
    this.#isOffline = false;
  }

  #end(ending: Promise<void>): void {
    const tracked = ending.finally(() => this.#ending.delete(tracked));
    this.#ending.add(tracked);
  }

  readonly #start: StartProcess = ({ onMessage, onEnd }) =>
    new ServerProcess({
      server: this.#options.server,
      delayMs: this.#crashes.pauseMs(Date.now()),
      notice: (text) => this.#options.notice(`${this.name}: ${text}`),
      onMessage,
      onEnd: (end) => onEnd(this.#crashed(end)),
    });

  /** @returns what the gateway is told. */
  #crashed(end: ProcessEnd): ChannelEnd {
    const { notice, onOffline } = this.#options;
    notice(`${this.name}: ${sentenceOf(end)}`);
    const offlineMs = this.#crashes.note(Date.now());
    if (offlineMs === undefined) return end;
    this.#isOffline = true;
    notice(
      `${this.name}: ended five times in a minute. It is offline for ${offlineMs / 60_000} min`,
    );
    onOffline(offlineMs);
    return { ...end, reason: "crashing" };
  }
}

function sentenceOf({ reason, code, signal }: ProcessEnd): string {
  if (reason === "spawn-failed") return "could not be started";
  return signal === undefined ? `ended with code ${code}` : `was ended by ${signal}`;
}
