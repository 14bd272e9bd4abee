/** A process for each channel: servers keep state of their one client, and pass messages as they are. */

import type { Message } from "../stdio/message.ts";
import { Activity } from "./activity.ts";
import type { Channels, Outlet, StartProcess } from "./channels.ts";
import type { ServerProcess } from "./server-process.ts";

interface Channel {
  readonly process: ServerProcess;
  readonly activity: Activity;
}

export class OwnProcesses implements Channels {
  readonly #start: StartProcess;
  readonly #outlet: Outlet;
  readonly #channels = new Map<string, Channel>();

  constructor(start: StartProcess, outlet: Outlet) {
    this.#start = start;
    this.#outlet = outlet;
  }

  get calls(): number {
    return [...this.#channels.values()].reduce((sum, { activity }) => sum + activity.calls, 0);
  }

  open(channel: string): void {
    const activity = new Activity(Date.now());
    const process = this.#start({
      onMessage: (message) => {
        activity.note("<", message, Date.now());
        this.#outlet.message(channel, message.text);
      },
      onEnd: (end) => {
        this.#channels.delete(channel);
        this.#outlet.closed(channel, end);
      },
    });
    this.#channels.set(channel, { process, activity });
  }

  deliver(channel: string, message: Message): void {
    const { process, activity } = this.#channels.get(channel) ?? {};
    activity?.note(">", message, Date.now());
    process?.write(message.text);
  }

  async close(channel: string): Promise<void> {
    const found = this.#channels.get(channel);
    this.#channels.delete(channel);
    await found?.process.stop();
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#channels.keys()].map((channel) => this.close(channel)));
  }

  isUnused(): boolean {
    return false;
  }

  idle(idleMs: number): readonly string[] {
    const now = Date.now();
    return [...this.#channels].flatMap(([channel, { activity }]) =>
      activity.isIdle(now, idleMs) ? [channel] : [],
    );
  }

  hold(isHeld: boolean): void {
    for (const { process } of this.#channels.values()) process.hold(isHeld);
  }
}
