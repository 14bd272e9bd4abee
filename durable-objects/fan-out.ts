/** The `FanOut` port over a Durable Object namespace. */

import type { FanOut, NewsSocket } from "../src/catalog/feeds.ts";
import { listenRequest, openNewsSocket } from "../src/notifications/fan-out/news-socket.ts";
import { SERVERS_KEY } from "../src/upstream/server-key.ts";
import { renewConfig } from "./live-config.ts";
import { branchFor } from "./ports.ts";

export function fanOutIn(env: Env): FanOut {
  return {
    async listen(interests) {
      const listener = crypto.randomUUID();
      const { webSocket } = await branchFor(env, listener).fetch(listenRequest(listener));
      if (webSocket === null) throw new Error("A branch of the fan-out has opened no WebSocket");
      return withNewServers(env, await openNewsSocket(webSocket, interests));
    },
  };
}

/** Whoever hears that the servers have changed finds them changed in this isolate. */
function withNewServers(env: Env, socket: NewsSocket): NewsSocket {
  return {
    honoured: socket.honoured,
    close: () => socket.close(),
    async next() {
      const news = await socket.next();
      if (news?.slug === SERVERS_KEY) await renewConfig(env);
      return news;
    },
  };
}
