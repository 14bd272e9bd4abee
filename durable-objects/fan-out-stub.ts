/** The `FanOut` port over a Durable Object namespace: a fixed number of branches. */

import { branchName, branchOf } from "../src/notifications/fan-out/branches.ts";
import { openNewsSocket } from "../src/notifications/fan-out/news-socket.ts";
import type { FanOut, Interests, News } from "../src/catalog/feeds.ts";
import { count } from "../src/observability/costs.ts";
import type { FanOutObject } from "./fan-out-object.ts";

type Namespace = DurableObjectNamespace<FanOutObject>;

const HEADER = "Edgeway-Listener";

/** One branch. Every call may fail when its object restarts, and may then be repeated. */
export interface BranchStub {
  subscribe(session: string, interests: Interests): Promise<Interests>;
  unsubscribe(session: string, interests?: Interests): Promise<void>;
  /**
   * Hands over news of a server; when the call returns, the branch will deliver it, even after a restart.
   * News whose number is not above the highest so far of that server is dropped as a repetition.
   */
  publish(news: News): Promise<void>;
  /** @returns a socket for `openNewsSocket`. */
  open(listener: string): Promise<WebSocket>;
}

/** @param branch 0 to `BRANCHES` - 1. */
export function branchAt(namespace: Namespace, branch: number): BranchStub {
  /** A stub that has failed stays failed, so each call has its own. */
  const stub = (): DurableObjectStub<FanOutObject> => {
    count("objectRequests");
    return namespace.get(namespace.idFromName(branchName(branch)));
  };
  return {
    subscribe: (session, interests) => stub().subscribe(session, interests),
    unsubscribe: (session, interests) => stub().unsubscribe(session, interests),
    publish: (news) => stub().publish(news),
    async open(listener) {
      const { webSocket } = await stub().fetch(listenRequest(listener));
      if (webSocket === null) throw new Error("A branch of the fan-out has opened no WebSocket");
      return webSocket;
    },
  };
}

export function fanOutIn(namespace: Namespace): FanOut {
  const ofSubscriber = (id: string): BranchStub => branchAt(namespace, branchOf(id));
  return {
    subscribe: (session, interests) => ofSubscriber(session).subscribe(session, interests),
    unsubscribe: (session, interests) => ofSubscriber(session).unsubscribe(session, interests),
    async listen(interests) {
      const listener = crypto.randomUUID();
      return openNewsSocket(await ofSubscriber(listener).open(listener), interests);
    },
  };
}

function listenRequest(listener: string): Request {
  const headers = { Upgrade: "websocket", [HEADER]: listener };
  return new Request("https://branch.internal/", { headers });
}

/** @returns the listener's id in a request that `open` has made. */
export function readListenRequest({ headers }: Request): string {
  return headers.get(HEADER) ?? "";
}
