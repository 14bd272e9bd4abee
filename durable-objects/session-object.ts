/** The Durable Object of one legacy session, and the connections that read its streams. */

import { DurableObject } from "cloudflare:workers";

import type { News } from "../src/catalog/feeds.ts";
import type { MessageArrival, Received } from "../src/http/front-door.ts";
import { readStreamRequest, streamResponse } from "../src/http/client-stream.ts";
import { parseLossless } from "../src/lib/lossless-json.ts";
import { TokenBucket } from "../src/lib/token-bucket.ts";
import type { DeliveryAnswer } from "../src/notifications/fan-out/deliveries.ts";
import { count } from "../src/observability/costs.ts";
import { ErrorCode } from "../src/protocol/error-codes.ts";
import { parseMessages } from "../src/protocol/json-rpc.ts";
import type { Forgotten, Watched } from "../src/sessions/dispatch.ts";
import { CLIENT_GONE_CODE } from "../src/sessions/frame.ts";
import { readClaims } from "../src/sessions/session-id.ts";
import {
  refuseRequest,
  type WrittenOutcome,
  writeOutcome,
} from "../src/sessions/session-outcome.ts";
import type { EndedAccount } from "../src/upstream/credentials.ts";
import { SessionHost } from "./session-host.ts";
import { SessionReaders } from "./session-readers.ts";
import { tracerHere } from "./tracing.ts";

export class SessionObject extends DurableObject<Env> {
  readonly #host: SessionHost;
  readonly #readers: SessionReaders;
  readonly #streamOpens: TokenBucket;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    count("objectsConstructed");
    const host = new SessionHost(ctx, env);
    this.#host = host;
    this.#readers = new SessionReaders(ctx, host.limits.windowBytes);
    this.#streamOpens = new TokenBucket(host.limits.streamOpensPerMinute);
    host.begin(() => this.#readers.find(host.session, host.log));
  }

  async receive(claims: string, body: string, arrival: MessageArrival = {}): Promise<Received> {
    await this.#host.follow();
    const session = this.#host.use(readClaims(claims));
    if (session === undefined) return this.#refused;
    const value = parseLossless(body);
    const messages = parseMessages(value) ?? [];
    const isBatch = Array.isArray(value);
    const outcome = writeOutcome(
      await session.receive(messages, {
        isBatch,
        arrival,
        tracer: tracerHere(),
        openChannel: this.#readers.openLine,
      }),
    );
    const calls = arrival.takesCalls === true ? this.#host.endedCalls() : [];
    return calls.length === 0 ? outcome : { ...outcome, calls };
  }

  /** Opens or resumes a client's stream: a WebSocket of frames, or an outcome as JSON. */
  override fetch(request: Request): Response | Promise<Response> {
    const following = this.#host.follow();
    if (following === undefined) return this.#open(request);
    return following.then(() => this.#open(request));
  }

  /** The answer where there is no session, or none of its endpoint's servers is known. */
  get #refused(): WrittenOutcome {
    if (!this.#host.isThere) return { kind: "unknown" };
    const message = "No server of this session's endpoint can be served right now; try again later";
    return writeOutcome(refuseRequest(503, ErrorCode.Transport, message));
  }

  #open(request: Request): Response {
    if (request.signal.aborted) return new Response(null, { status: 499 });
    const { claims, lastEventId, openedAt: returning } = readStreamRequest(request);
    const isNew = lastEventId === undefined;
    const session = this.#host.use(claims, { isNew, isOfNow: returning === undefined });
    if (session === undefined) return Response.json(this.#refused);
    if (!this.#streamOpens.take()) {
      const message = "This session opens streams too often; wait a minute";
      return Response.json(writeOutcome(refuseRequest(429, ErrorCode.Transport, message)));
    }
    const place = session.placeFor(lastEventId);
    if ("kind" in place) return Response.json(writeOutcome(place));
    const opening = { signal: request.signal, isResumed: !isNew, returning };
    const { socket, openedAt } = this.#readers.open(session, place, opening);
    this.#host.opened();
    return streamResponse(socket, openedAt);
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    this.#readers.acknowledged(socket, Number(message));
  }

  override async webSocketClose(socket: WebSocket, code: number): Promise<void> {
    if (this.#readers.closed(socket) === "while asleep") this.#host.session?.leftAsleep();
    if (code === CLIENT_GONE_CODE) await this.#host.clientLeft();
  }

  override webSocketError(socket: WebSocket): Promise<void> {
    return this.webSocketClose(socket, 0);
  }

  /** Takes a message from a watch that runs in the Worker that holds the client's stream. */
  async receiveWatched(claims: string, watched: string): Promise<void> {
    const session = this.#host.use(readClaims(claims), { isOfNow: false });
    // The watch tries again.
    if (session === undefined && this.#host.isThere)
      throw new Error("The servers are not known yet");
    await session?.receiveWatched(parseLossless(watched) as Watched);
  }

  /** Such a watch found that a server no longer knows its session. */
  async upstreamForgotten(claims: string, lost: Forgotten): Promise<void> {
    await this.#host.use(readClaims(claims), { isOfNow: false })?.upstreamForgotten(lost);
  }

  /** Called by a vault: what was opened with the account ends. */
  accountEnded(ended: EndedAccount): Promise<void> {
    return this.#host.accountEnded(ended);
  }

  /** Takes news of the session's subscriptions; the same news may arrive twice. */
  deliver(news: News): Promise<DeliveryAnswer> {
    return this.#host.deliver(news);
  }

  /** The reader of a stream that `receive` returned has gone. */
  detach(reader: string): void {
    this.#readers.detach(reader);
  }

  /** Deletes the session. @returns `false` when it no longer existed. */
  async close(claims: string): Promise<boolean> {
    const read = readClaims(claims);
    this.#host.use(read);
    if (!this.#host.isThere) return false;
    await this.#host.end(read.expiresAt * 1000);
    return true;
  }

  override alarm(): Promise<void> {
    return this.#host.wake();
  }
}
