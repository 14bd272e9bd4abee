/** The `FanOut` port over a Durable Object namespace. */

import type { FanOut, NewsSocket } from "../src/catalog/feeds.ts";
import { listenRequest, openNewsSocket } from "../src/notifications/fan-out/news-socket.ts";
import { settleWithin } from "../src/lib/time-out.ts";
import { SERVERS_KEY } from "../src/upstream/server-key.ts";
import { renewConfig } from "./live-config.ts";
import { branchAt, branchFor } from "./ports.ts";

/** The longest wait for the branches, while a feed answers nobody. */
const BRANCHES_MS = 5000;

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

/**
 * Tells branches that nothing is promised to them any more.
 *
 * @param key of the feed's server.
 * @returns whether all of them know. Never rejects.
 */
export async function withdrawFrom(
  env: Env,
  branches: Iterable<number>,
  key: string,
): Promise<boolean> {
  const told = Array.from(branches, (branch) => branchAt(env, branch).withdrawn(key));
  const all = settleWithin(Promise.all(told), BRANCHES_MS);
  return (await all.catch(() => undefined)) !== undefined;
}
