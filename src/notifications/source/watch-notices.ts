/** The notifications that a watch accepts from a server: changes of lists and of resources, no others. */

import { RESOURCE_UPDATED } from "../../protocol/change-notices.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import type { Call, Peer } from "../../protocol/exchange.ts";
import { errorReply } from "../../protocol/json-rpc.ts";
import { listToldBy } from "../../catalog/topics.ts";
import type { WatchEvents } from "./watch-port.ts";

const DONE = Promise.resolve();

export function takeNotice(
  { method, params }: Call,
  events: Pick<WatchEvents, "changed" | "updated">,
): void {
  if (method === RESOURCE_UPDATED) {
    const uri = params?.["uri"];
    if (typeof uri === "string") events.updated(uri);
    return;
  }
  const list = listToldBy(method);
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
