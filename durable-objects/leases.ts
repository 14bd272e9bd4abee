/**
 * Leases close a client's streams when its grant or API key ends. Each Worker that holds such a stream
 * has a WebSocket to the user's object, which sleeps beside them until it closes the sockets; so waiting
 * for a revocation costs nothing.
 */

import { LEASE_ENDED_CODE } from "../src/auth/resource/lease.ts";

export class Leases {
  readonly #ctx: DurableObjectState;

  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx;
  }

  /** @param request from `leaseRequest`; its sender checks the token once the lease is open. */
  open(request: Request): Response {
    const tags = new URL(request.url).searchParams.getAll("tag");
    const { 0: client, 1: server } = new WebSocketPair();
    this.#ctx.acceptWebSocket(server, tags);
    return new Response(null, { status: 101, webSocket: client });
  }

  /** Ends the leases of these grants, keys or users. */
  end(tags: readonly string[]): void {
    for (const tag of tags) {
      for (const socket of this.#ctx.getWebSockets(tag)) socket.close(LEASE_ENDED_CODE, "ended");
    }
  }
}

/** @param tags the grant or key, and its user: the lease ends with any of them. */
export function leaseRequest(tags: readonly string[]): Request {
  const url = new URL("https://shard/lease");
  for (const tag of tags) url.searchParams.append("tag", tag);
  return new Request(url, { headers: { Upgrade: "websocket" } });
}
