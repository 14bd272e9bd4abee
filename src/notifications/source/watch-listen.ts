/**
 * One `subscriptions/listen` stream of a modern server, from the request to its end. It is
 * read leniently: the stream is one subscription, whatever id and content type the server gives it.
 */

import { LIST_FILTER, SUBSCRIPTIONS_ACKNOWLEDGED } from "../../protocol/change-notices.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import type { Call } from "../../protocol/exchange.ts";
import { CLIENT_INFO } from "../../protocol/gateway-info.ts";
import { isObject, type Reply } from "../../protocol/json-rpc.ts";
import type { Params } from "../../protocol/message-members.ts";
import { forgetVerdict } from "../../upstream/modern/discover.ts";
import { looksLegacy, sendModern } from "../../upstream/modern/send.ts";
import { LIST_TOPICS } from "../../catalog/feeds.ts";
import type { ListTopic } from "../../catalog/topics.ts";
import {
  noticePeer,
  type WatchEnd,
  type WatchEvents,
  type WatchRequest,
  takeNotice,
} from "./watch-port.ts";

const ACKNOWLEDGED_WITHIN_MS = 5000;
/** An acknowledgement repeats every URI; each has quotes, a comma, and may have escapes. */
const CHARS_PER_URI = 16;

/** The topics that a server agreed to announce. */
export interface AcknowledgedTopics {
  readonly lists: ReadonlySet<ListTopic>;
  readonly uris: ReadonlySet<string>;
}

export interface ListenOptions extends Omit<WatchRequest, "uris"> {
  /** The resources asked for, beside every list. */
  readonly uris: ReadonlySet<string>;
  readonly events: Pick<WatchEvents, "changed" | "updated">;
  /** Called at most once. */
  readonly onAcknowledged: (acknowledged: AcknowledgedTopics) => void;
  /** Called once, unless the gateway closed the stream. */
  readonly onEnded: (end: WatchEnd) => void;
}

/** @returns a function that closes the stream, which is how it is unsubscribed. */
export function openListen(options: ListenOptions): () => void {
  const { uris, events, onAcknowledged, onEnded } = options;
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(new Error("The stream was not acknowledged in time"));
  }, ACKNOWLEDGED_WITHIN_MS);
  let isAcknowledged = false;
  let isClosed = false;

  const onNotice = (notice: Call): void => {
    if (isClosed) return;
    if (notice.method !== SUBSCRIPTIONS_ACKNOWLEDGED) {
      // No notification may precede the acknowledgement; one that does is accepted like later ones.
      takeNotice(notice, events);
      return;
    }
    if (isAcknowledged) return;
    isAcknowledged = true;
    clearTimeout(timer);
    onAcknowledged(readAcknowledgement(notice.params, uris));
  };

  void send(options, controller.signal, onNotice)
    .then((reply): WatchEnd => judgeEnd(options, reply, isAcknowledged))
    .catch((): WatchEnd => "lost")
    .then((end) => {
      clearTimeout(timer);
      if (!isClosed) onEnded(end);
    });

  return () => {
    isClosed = true;
    clearTimeout(timer);
    controller.abort(new Error("The stream is not wanted any more"));
  };
}

async function send(
  { target, uris }: ListenOptions,
  signal: AbortSignal,
  onNotice: (notice: Call) => void,
): Promise<Reply> {
  const lists = Object.fromEntries(LIST_TOPICS.map((list) => [LIST_FILTER[list], true]));
  const notifications = {
    ...lists,
    ...(uris.size === 0 ? {} : { resourceSubscriptions: [...uris] }),
  };
  let acknowledgementChars = 0;
  for (const uri of uris) acknowledgementChars += 2 * uri.length + CHARS_PER_URI;
  const { reply } = await sendModern(
    { ...target, maxMessageChars: target.maxMessageChars + acknowledgementChars },
    {
      call: { method: "subscriptions/listen", params: { notifications } },
      clientCapabilities: {},
      clientInfo: CLIENT_INFO,
      signal,
      isLongLived: true,
      peer: noticePeer(onNotice),
    },
  );
  return reply;
}

function judgeEnd({ target }: ListenOptions, reply: Reply, isAcknowledged: boolean): WatchEnd {
  // The known era turns out stale: the server's era is determined again.
  if (looksLegacy(reply)) forgetVerdict(target);
  if ("result" in reply) return isAcknowledged ? "closed" : "refused";
  const isTrouble = isAcknowledged || reply.error.code === ErrorCode.InternalError;
  return isTrouble || looksLegacy(reply) ? "lost" : "refused";
}

/** Types that the server does not support are left out of it (2026-07-28, subscriptions). */
function readAcknowledgement(
  params: Params | undefined,
  asked: ReadonlySet<string>,
): AcknowledgedTopics {
  const honoured: Params = isObject(params?.notifications) ? params.notifications : {};
  const uris = honoured.resourceSubscriptions;
  return {
    lists: new Set(LIST_TOPICS.filter((list) => honoured[LIST_FILTER[list]] === true)),
    uris: new Set(
      Array.isArray(uris)
        ? uris.filter((uri: unknown) => typeof uri === "string" && asked.has(uri))
        : [],
    ),
  };
}
