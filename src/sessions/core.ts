/** What the parts of a session share, and the two things that several of them do with it. */

import type { EventLog } from "./log/event-log.ts";
import { ErrorCode } from "../protocol/error-codes.ts";
import type { Peer } from "../protocol/exchange.ts";
import { notification, type RequestId } from "../protocol/json-rpc.ts";
import { allowsPriming } from "../protocol/revisions.ts";
import type { Asks, QuestionStream } from "./asks.ts";
import type { Calls } from "./calls.ts";
import type { ClientFacts, Dispatch } from "./dispatch.ts";
import type { Channel, StreamReader } from "./stream-reader.ts";
import { type Opened, refuseRequest, type RefusedRequest } from "./session-outcome.ts";
import type { StreamPosition, Streams } from "./streams.ts";

export type ClientTransport = "streamable-http" | "http+sse";

export interface SessionLimits {
  readonly stallMs: number;
  readonly askTimeoutMs: number;
  /** How long nothing must have happened before the session may sleep beside an open stream. */
  readonly quietMs: number;
  /** How long the upstream is listened to after the client's last stream broke. */
  readonly lingerMs: number;
  readonly maxInFlight: number;
  readonly maxOpenStreams: number;
  /** An answer that takes longer becomes a stream, which can be kept alive. */
  readonly streamAfterMs: number;
  /** A connection that answers a call is held no longer where the client can poll. */
  readonly holdMs: number;
}

export interface Core {
  readonly transport: ClientTransport;
  readonly limits: SessionLimits;
  readonly log: EventLog;
  readonly streams: Streams;
  readonly asks: Asks;
  readonly calls: Calls;
  /** What `initialize` fixed, and the way to the upstream that begins with it. */
  readonly open: { readonly client: ClientFacts; readonly dispatch: Dispatch } | undefined;
}

/**
 * Makes the way to a client's stream, and has it read. What the way tells of its reader, that it has
 * room or has gone, is for the feed that `read` returns and for no other: the stream may have a newer
 * reader by then.
 */
export type OpenChannel = (read: (channel: Channel) => StreamReader) => Omit<Opened, "start">;

/** Speaks to the client on the stream of a carrier. */
export function peerOn({ asks }: Core, carrier: QuestionStream): Peer {
  return {
    notify: ({ method, params }, ticket) => carrier.send(notification(method, params), ticket),
    ask: (request, withdrawn, ticket, brought) =>
      asks.ask(request, carrier, withdrawn, { ticket, brought }),
  };
}

/** Has the stream of a POST read, for as long as one connection is to be held. */
export function readPost(core: Core, place: StreamPosition, channel: Channel): StreamReader {
  const holdMs = isPolling(core) ? core.limits.holdMs : undefined;
  const feed = core.streams.attach(place, channel, { holdMs });
  feed.pump();
  return feed;
}

/** Whether this client knows that a closed connection need not be a closed stream. */
export function isPolling({ transport: door, open }: Core): boolean {
  return door === "streamable-http" && open !== undefined && allowsPriming(open.client.revision);
}

/** @returns a refusal when no more streams may be open at once. */
export function streamRefusal(
  { streams, limits }: Core,
  id?: RequestId,
): RefusedRequest | undefined {
  if (streams.readCount < limits.maxOpenStreams) return undefined;
  const message = `This session has ${limits.maxOpenStreams} streams open; close one`;
  return refuseRequest(429, ErrorCode.Transport, message, id);
}
