/** What a watch takes of all that a server says: changes of lists and of resources, nothing else. */

import { ErrorCode } from "../../protocol/error-codes.ts";
import type { Call, Peer } from "../../protocol/exchange.ts";
import { errorReply } from "../../protocol/json-rpc.ts";
import type { ListTopic, WatchEvents } from "./watch-port.ts";

const LIST_CHANGES: Readonly<Record<string, ListTopic>> = {
  "notifications/tools/list_changed": "tools",
  "notifications/prompts/list_changed": "prompts",
  "notifications/resources/list_changed": "resources",
};

const DONE = Promise.resolve();

export function takeNotice(
  { method, params }: Call,
  events: Pick<WatchEvents, "changed" | "updated">,
): void {
  if (method === "notifications/resources/updated") {
    const uri = params?.["uri"];
    if (typeof uri === "string") events.updated(uri);
    return;
  }
  // Names come off the wire: `constructor` must not be found.
  const list = Object.hasOwn(LIST_CHANGES, method) ? LIST_CHANGES[method] : undefined;
  if (list !== undefined) events.changed(list);
}

/** Listens, and has nobody to ask: the gateway declared no capabilities. */
export function noticePeer(onNotice: (notice: Call) => void): Peer {
  return {
    notify(notice) {
      onNotice(notice);
      return DONE;
    },
    ask: () => Promise.resolve(errorReply(ErrorCode.MethodNotFound, "Method not found")),
  };
}
