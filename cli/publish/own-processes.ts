/** A process for each channel: servers keep state of their one client, and pass messages as they are. */

import type { Message } from "../stdio/message.ts";
import type { Outlet, Processes, StartProcess } from "./channels.ts";
import type { ServerProcess } from "./server-process.ts";

export class OwnProcesses implements Processes {
  readonly #start: StartProcess;
  readonly #outlet: Outlet;
  readonly #processes = new Map<string, ServerProcess>();

  constructor(start: StartProcess, outlet: Outlet) {
    this.#start = start;
    this.#outlet = outlet;
  }

  open(channel: string): void {
    const process = this.#start({
      onMessage: (message) => this.#outlet.message(channel, message),
      onEnd: (end) => {
        this.#processes.delete(channel);
        this.#outlet.closed(channel, end);
      },
    });
    this.#processes.set(channel, process);
  }

  deliver(channel: string, { text }: Message): void {
    this.#processes.get(channel)?.write(text);
  }

  async close(channel: string): Promise<void> {
    const process = this.#processes.get(channel);
    this.#processes.delete(channel);
    await process?.stop();
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#processes.keys()].map((channel) => this.close(channel)));
  }

  isUnused(): boolean {
    return false;
  }

  hold(isHeld: boolean): void {
    for (const process of this.#processes.values()) process.hold(isHeld);
  }
}
