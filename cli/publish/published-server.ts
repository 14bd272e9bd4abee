/** One server of this machine that the gateway serves: its channels, and how often its processes may be started. */

import { readMessage } from "../stdio/message.ts";
import { Activity } from "./activity.ts";
import type { ChannelEnd, Processes, StartProcess } from "./channels.ts";
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
  /** Called with each message for the gateway. */
  readonly onMessage: (channel: string, text: string) => void;
  /** Called when a channel ends that the gateway has not closed. */
  readonly onClosed: (channel: string, end: ChannelEnd) => void;
  /** Called when it has ended too often: it takes no channel for this long. */
  readonly onOffline: (ms: number) => void;
  /** Tells the person at stderr. */
  readonly notice: (text: string) => void;
}

export class PublishedServer {
  readonly #options: PublishedServerOptions;
  readonly #processes: Processes;
  /** Of each channel that is open. */
  readonly #activities = new Map<string, Activity>();
  readonly #crashes = new Crashes();
  /** Processes that are being ended. */
  readonly #ending = new Set<Promise<void>>();
  #isOffline = false;

  constructor(options: PublishedServerOptions) {
    this.#options = options;
    const Kind = options.isShared ? SharedProcess : OwnProcesses;
    this.#processes = new Kind(this.#start, {
      message: (channel, message) => {
        const activity = this.#activities.get(channel);
        activity?.note("<", message, Date.now());
        if (activity !== undefined) options.onMessage(channel, message.text);
      },
      closed: (channel, end) => this.#closed(channel, end),
    });
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
    return [...this.#activities.values()].reduce((sum, { calls }) => sum + calls, 0);
  }

  open(channel: string): void {
    if (this.#isOffline) this.#closed(channel, { reason: "crashing" });
    else {
      this.close(channel);
      this.#activities.set(channel, new Activity(Date.now()));
      this.#processes.open(channel);
    }
  }

  deliver(channel: string, text: string): void {
    const message = readMessage(text);
    const activity = this.#activities.get(channel);
    if (message === undefined || activity === undefined) return;
    activity.note(">", message, Date.now());
    this.#processes.deliver(channel, message);
  }

  close(channel: string): void {
    this.#activities.delete(channel);
    this.#end(this.#processes.close(channel));
  }

  /** Resolves when no process of it is left, of those either that were ended before. */
  async closeAll(): Promise<void> {
    this.#endAll();
    await Promise.all(this.#ending);
  }

  closeIdle(idleMs: number): void {
    const now = Date.now();
    for (const [channel, activity] of this.#activities) {
      if (!activity.isIdle(now, idleMs)) continue;
      this.close(channel);
      this.#closed(channel, { reason: "idle" });
    }
    if (this.#processes.isUnused(idleMs)) this.#endAll();
  }

  hold(isHeld: boolean): void {
    this.#processes.hold(isHeld);
  }

  /** It may be offered once more. */
  revive(): void {
    this.#isOffline = false;
  }

  #closed(channel: string, end: ChannelEnd): void {
    this.#activities.delete(channel);
    this.#options.onClosed(channel, end);
  }

  #endAll(): void {
    this.#activities.clear();
    this.#end(this.#processes.closeAll());
  }

  #end(ending: Promise<void>): void {
    const tracked = ending.finally(() => this.#ending.delete(tracked));
    this.#ending.add(tracked);
  }

  readonly #start: StartProcess = ({ onMessage, onEnd }) => {
    const process: ServerProcess = new ServerProcess({
      server: this.#options.server,
      delayMs: this.#crashes.pauseMs(Date.now()),
      notice: (text) => this.#options.notice(`${this.name}: ${text}`),
      onMessage,
      onEnd: (end, isAtDiscovery) => {
        // What it has started may still run, and has to end before the command does.
        this.#end(process.stop());
        onEnd(this.#ended(end, isAtDiscovery));
        // The gateway takes all channels of a server that is offline for closed.
        if (this.#isOffline) this.#endAll();
      },
    });
    return process;
  };

  /** @returns what the gateway is told. */
  #ended(end: ProcessEnd, isAtDiscovery: boolean): ChannelEnd {
    const { notice, onOffline } = this.#options;
    notice(`${this.name}: ${sentenceOf(end)}`);
    // Some servers of the session era end at whatever comes before a handshake. The gateway then begins with one.
    if (end.reason === "exit" && isAtDiscovery) return end;
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
