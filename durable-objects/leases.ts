/**
 * Who has to be told when a grant or an API key ends: the Workers that hold streams open for it.
 * Each holds a WebSocket to its user's object, which sleeps beside them until there is something
 * to tell; so a stream is closed when its token is revoked, and waiting for that costs nothing.
 */

import { LEASE_ENDED_CODE } from "../src/auth/resource/lease.ts";

export class Leases {
  readonly #ctx: DurableObjectState;

  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx;
  }

  /** @param request of `leaseRequest`: whoever sends it checks the token once the lease is open. */
  open(request: Request): Response {
    const tags = new URL(request.url).searchParams.getAll("tag");
    const { 0: client, 1: server } = new WebSocketPair();
    this.#ctx.acceptWebSocket(server, tags);
    return new Response(null, { status: 101, webSocket: client });
  }

  /** @param tags grants, keys, or users. */
  end(tags: readonly string[]): void {
    for (const tag of tags) {
      for (const socket of this.#ctx.getWebSockets(tag)) socket.close(LEASE_ENDED_CODE, "ended");
    }
  }
}

/** @param tags what the lease ends with: a grant or key, and its user. */
export function leaseRequest(tags: readonly string[]): Request {
  const url = new URL("https://shard/lease");
  for (const tag of tags) url.searchParams.append("tag", tag);
  return new Request(url, { headers: { Upgrade: "websocket" } });
}
