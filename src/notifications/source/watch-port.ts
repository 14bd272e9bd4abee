/**
 * The port between a watch manager and the one watch on its server, and the notifications that a watch
 * accepts. A watch is opened once and ends once; after its end a new one is opened.
 */

import { RESOURCE_UPDATED } from "../../protocol/change-notices.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import type { Call, Peer } from "../../protocol/exchange.ts";
import { errorReply } from "../../protocol/json-rpc.ts";
import type { UsableCredential } from "../../upstream/credentials.ts";
import type { UpstreamTarget } from "../../upstream/target.ts";
import type { Topic } from "../../catalog/feeds.ts";
import { listChangedBy, type ListTopic } from "../../catalog/topics.ts";

const DONE = Promise.resolve();

/** The server and resources to watch. */
export interface WatchRequest {
  readonly target: UpstreamTarget;
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
  answered(topics: readonly Topic[]): void;
  /** The watch is open, but has missed notifications since it was opened. */
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
  /**
   * @returns whether the server will announce this; `undefined` while it is being asked; `"failed"` when there was
   *   no answer, and `retry` asks again.
   */
  verdict(topic: Topic): boolean | "failed" | undefined;
  /** The server's notifications are being received. */
  readonly isReceiving: boolean;
  /** @param uris resources that have become wanted, or are no longer wanted. */
  revise(uris: readonly string[]): void;
  /**
   * Repeats the requests that failed.
   *
   * @param isRefusedToo asks again for the resources that the server has refused.
   */
  retry(isRefusedToo: boolean): void;
  /**
   * Disconnects from the server. No event follows the call; it never rejects.
   *
   * @param last the credential of the watch, when its account has ended.
   */
  close(last?: UsableCredential): Promise<void>;
}

/** Accepts a notification of a change; any other is ignored. */
export function takeNotice(
  { method, params }: Call,
  events: Pick<WatchEvents, "changed" | "updated">,
): void {
  if (method === RESOURCE_UPDATED) {
    const uri = params?.uri;
    if (typeof uri === "string") events.updated(uri);
    return;
  }
  const list = listChangedBy(method);
  if (list !== undefined) events.changed(list);
}

/** Accepts notifications and refuses requests: the gateway declared no capabilities. */
export function noticePeer(onNotice: (notice: Call) => void): Peer {
  return {
    notify(notice) {
      onNotice(notice);
      return DONE;
    },
    ask: () => Promise.resolve(errorReply(ErrorCode.MethodNotFound, "Method not found")),
  };
}
