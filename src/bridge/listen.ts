/**
 * The rules of a `subscriptions/listen` stream, kept whatever the upstream does: acknowledged
 * first, nothing but what was asked for, every message tagged with the listener's own id
 * (2026-07-28, subscriptions).
 */

import { Meta, metaOf, withMeta } from "../protocol/envelope.ts";
import type { Call, Peer } from "../protocol/exchange.ts";
import { isObject, type JsonObject, type Params, type RequestId } from "../protocol/json-rpc.ts";

const ACKNOWLEDGED = "notifications/subscriptions/acknowledged";

const LIST_CHANGES: Readonly<Record<string, string>> = {
  "notifications/tools/list_changed": "toolsListChanged",
  "notifications/prompts/list_changed": "promptsListChanged",
  "notifications/resources/list_changed": "resourcesListChanged",
};

export interface ListenPeer extends Peer {
  isAcknowledged(): boolean;
}

/** Wraps a listener so that only a lawful stream reaches it. */
export function listenPeer(peer: Peer, id: RequestId, params: Params | undefined): ListenPeer {
  const filter = isObject(params?.["notifications"]) ? params["notifications"] : {};
  let isAcknowledged = false;
  return {
    isAcknowledged: () => isAcknowledged,
    async notify(notice) {
      // Nothing of a subscription may come before its acknowledgement, nor a second one after.
      const isAcknowledgement = notice.method === ACKNOWLEDGED;
      if (isAcknowledgement === isAcknowledged) return;
      if (!isAcknowledgement && !isWanted(notice, filter)) return;
      isAcknowledged = true;
      await peer.notify({ ...notice, params: tag(notice.params, id) });
    },
    ask: (request, withdrawn) => peer.ask(request, withdrawn),
  };
}

/** The result that ends a listen stream gracefully. */
export function listenResult(id: RequestId, result: JsonObject): JsonObject {
  return { ...tag(result, id), resultType: "complete" };
}

function isWanted({ method, params }: Call, filter: JsonObject): boolean {
  if (method === "notifications/resources/updated") {
    const uris: unknown = filter["resourceSubscriptions"];
    // A server may speak of a part of what was subscribed to, so the URI itself is not compared.
    return Array.isArray(uris) && uris.length > 0 && typeof params?.["uri"] === "string";
  }
  const member = Object.hasOwn(LIST_CHANGES, method) ? LIST_CHANGES[method] : undefined;
  return member !== undefined && filter[member] === true;
}

/** The tag keeps the JSON type of the listener's id: a number stays a number. */
function tag(params: Params | undefined, id: RequestId): Params {
  return withMeta(params, { ...metaOf(params), [Meta.subscriptionId]: id });
}
