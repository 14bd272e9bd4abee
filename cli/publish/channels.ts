/** The connections that the gateway has to one published server. */

import type { Message } from "../stdio/message.ts";
import type { ProcessEnd } from "./local-process.ts";
import type { ServerProcess, ServerProcessOptions } from "./server-process.ts";

/** How a channel ends that the gateway has not closed. */
export type ChannelEnd =
  | ProcessEnd
  | (Omit<ProcessEnd, "reason"> & { readonly reason: "idle" | "crashing" });

/** What the processes of channels say. */
export interface Outlet {
  message(channel: string, message: Message): void;
  closed(channel: string, end: ChannelEnd): void;
}

/** A process that is told nothing but where its messages go, and what follows from its end. */
export type StartProcess = (
  options: Pick<ServerProcessOptions, "onMessage"> & {
    /** @param end the reason that the gateway is told. */
    readonly onEnd: (end: ChannelEnd) => void;
  },
) => ServerProcess;

/** The processes behind the channels of a server. */
export interface Processes {
  /** @param channel is not open. */
  open(channel: string): void;
  /** @param channel is open. */
  deliver(channel: string, message: Message): void;
  /** Resolves when no process of its own is left. */
  close(channel: string): Promise<void>;
  closeAll(): Promise<void>;
  /** True if a process has had no channel for so long. */
  isUnused(idleMs: number): boolean;
  /** Reads no more of what the processes say, until it may go on. */
  hold(isHeld: boolean): void;
}
