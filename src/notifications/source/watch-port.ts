/**
 * The port between a desk and the one watch on its server. A watch is opened once and ends once;
 * what is brought back after its end is another one.
 */

import type { JsonObject } from "../../protocol/json-rpc.ts";
import type { UpstreamTarget } from "../../upstream/target.ts";
import type { Topic } from "../../catalog/feeds.ts";
import type { ListTopic } from "../../catalog/topics.ts";

/** What is to be watched, and as whom. */
export interface WatchRequest {
  readonly target: UpstreamTarget;
  readonly clientInfo: JsonObject;
  /** The resources that are wanted at this moment; whoever gave it goes on changing it. */
  readonly uris: ReadonlySet<string>;
}

/** Said when a server has spoken: never in the turn that a watch is opened in. */
export interface WatchEvents {
  /** The server says that a list of its has changed. */
  changed(list: ListTopic): void;
  /** The server says that a resource has changed, or a part of one that is watched. */
  updated(uri: string): void;
  /** The server has answered whether it will tell of these; what they were before is not known. */
  judged(topics: readonly Topic[]): void;
  /** The watch stands, but has not heard everything since it was opened. */
  missed(): void;
  /** It is over. Said once, and nothing after it. */
  ended(end: WatchEnd): void;
}

export type WatchEnd =
  /** The server ended it as it should. */
  | "closed"
  /** It broke, or never came to be. */
  | "lost"
  /** The server tells of nothing, and said so. */
  | "refused";

export interface OpenWatch {
  /** Whether the server will tell of this; `undefined` while it has not answered. */
  verdict(topic: Topic): boolean | undefined;
  /** Whether what it tells at this moment is heard. */
  readonly isHearing: boolean;
  /** These have become wanted, or are no longer. */
  revise(uris: readonly string[]): void;
  /** Asks again for what could not be asked for. */
  retry(): void;
  /** Leaves the server. Nothing is said after it was called; it never rejects. */
  close(): Promise<void>;
}
