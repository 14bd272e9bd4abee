/** The `Sessions` port over a Durable Object namespace. */

import { BoundedCache } from "../src/lib/bounded-cache.ts";
import type { Sessions, SessionStub, StreamOutcome } from "../src/http/front-door.ts";
import { count } from "../src/observability/costs.ts";
import type { SessionClaims } from "../src/sessions/session-id.ts";
import type { SessionOutcome } from "../src/sessions/session-outcome.ts";
import type { SessionObject } from "./session-object.ts";
import { openedAtOf, type StreamRequest, streamRequest } from "./stream-request.ts";

type Namespace = DurableObjectNamespace<SessionObject>;

const TEN_MINUTES_MS = 600_000;
/** Sessions deleted through this isolate: requests that wake no object are refused at once as well. */
const deleted = new BoundedCache<true>({ maxEntries: 10_000, ttlMs: TEN_MINUTES_MS });

export function sessionsIn(namespace: Namespace): Sessions {
  return {
    // Creates only an id: the object comes to life with the session's first message.
    create: () => namespace.newUniqueId().toString(),
    find: (claims) =>
      deleted.get(claims.object) === true ? undefined : stubFor(namespace, claims),
  };
}

function stubFor(namespace: Namespace, claims: SessionClaims): SessionStub {
  /** A stub that has failed stays failed, so each call has its own. */
  const stub = (): DurableObjectStub<SessionObject> => {
    count("objectRequests");
    return namespace.get(namespace.idFromString(claims.object));
  };
  return {
    receive: (messages, isBatch) => stub().receive(claims, messages, isBatch),
    openStream: (lastEventId, openedAt) => openStream(stub(), { claims, lastEventId, openedAt }),
    handOverWatched: (watched) => stub().watched(claims, watched),
    upstreamForgotten: (lost) => stub().upstreamForgotten(claims, lost),
    detach: (reader) => stub().detach(reader),
    async close() {
      const wasOpen = await stub().close(claims);
      deleted.set(claims.object, true);
      return wasOpen;
    },
  };
}

async function openStream(
  stub: DurableObjectStub<SessionObject>,
  request: StreamRequest,
): Promise<StreamOutcome> {
  const response = await stub.fetch(streamRequest(request));
  const { webSocket } = response;
  if (webSocket !== null) {
    return { kind: "socket", socket: webSocket, openedAt: openedAtOf(response) };
  }
  return response.json<Exclude<SessionOutcome, { kind: "stream" }>>();
}
