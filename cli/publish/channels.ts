/** The connections that the gateway has to one published server. */

import type { Message } from "../stdio/message.ts";
import type { ProcessEnd } from "./local-process.ts";
import type { ServerProcess, ServerProcessOptions } from "./server-process.ts";

/** How a channel ends that the gateway has not closed. */
export type ChannelEnd =
  | ProcessEnd
  | (Omit<ProcessEnd, "reason"> & { readonly reason: "idle" | "crashing" });

/** What channels say to the gateway. */
export interface Outlet {
  message(channel: string, text: string): void;
  closed(channel: string, end: ChannelEnd): void;
}

/** A process that is told nothing but where its messages go, and what follows from its end. */
export type StartProcess = (
  options: Pick<ServerProcessOptions, "onMessage"> & {
    /** @param end the reason that the gateway is told. */
    readonly onEnd: (end: ChannelEnd) => void;
  },
) => ServerProcess;

export interface Channels {
  /** The requests of the gateway that run. */
  readonly calls: number;
  /** @param channel is not open. */
  open(channel: string): void;
  deliver(channel: string, message: Message): void;
  /** Resolves when no process of its own is left. */
  close(channel: string): Promise<void>;
  closeAll(): Promise<void>;
  /** The channels that have had nothing to do for so long. */
  idle(idleMs: number): readonly string[];
  /** True if a process has had no channel for so long. */
  isUnused(idleMs: number): boolean;
  /** Reads no more of what the processes say, until it may go on. */
  hold(isHeld: boolean): void;
}
