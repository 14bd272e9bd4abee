/**
 * The port between a watch manager and the one watch on its server. A watch is opened once and ends
 * once; after its end a new one is opened.
 */

import type { JsonObject } from "../../protocol/json-rpc.ts";
import type { UpstreamTarget } from "../../upstream/target.ts";
import type { Topic } from "../../catalog/feeds.ts";
import type { ListTopic } from "../../catalog/topics.ts";

/** The server and resources to watch, and the client information to send. */
export interface WatchRequest {
  readonly target: UpstreamTarget;
  readonly clientInfo: JsonObject;
  /** The resources that are wanted at this moment. The owner of this set goes on changing it. */
  readonly uris: ReadonlySet<string>;
}

/** Called when a server has sent something: never in the turn in which the watch is opened. */
export interface WatchEvents {
  /** The server announces that one of its lists has changed. */
  changed(list: ListTopic): void;
  /** The server has announced it, and `changed` follows: the list as it is known is no longer good. */
  outdated(list: ListTopic): void;
  /** The server announces that a resource has changed, or a part of a watched one. */
  updated(uri: string): void;
  /** The server has answered whether it will announce these; their earlier changes are not known. */
  judged(topics: readonly Topic[]): void;
  /** The watch stands, but has missed notifications since it was opened. */
  missed(): void;
  /** The watch has ended. Called once, and no event follows. */
  ended(end: WatchEnd): void;
}

export type WatchEnd =
  /** The server ended it as it should. */
  | "closed"
  /** It broke, or could not be opened. */
  | "lost"
  /** The server answered that it announces nothing. */
  | "refused";

export interface OpenWatch {
  /** @returns whether the server will announce this; `undefined` while it has not answered. */
  verdict(topic: Topic): boolean | undefined;
  /** The server's notifications are being received. */
  readonly isHearing: boolean;
  /** @param uris resources that have become wanted, or are no longer wanted. */
  revise(uris: readonly string[]): void;
  /** Repeats the requests that failed. */
  retry(): void;
  /** Disconnects from the server. No event follows the call; it never rejects. */
  close(): Promise<void>;
}
