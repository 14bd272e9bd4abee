/** The state that the parts of a session share, and the operations that several of them need. */

import type { EventLog } from "./log/event-log.ts";
import type { Limits } from "../policy/limits.ts";
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

export interface Core {
  readonly transport: ClientTransport;
  readonly limits: Limits;
  readonly log: EventLog;
  readonly streams: Streams;
  readonly asks: Asks;
  readonly calls: Calls;
  /** The client as `initialize` described it, and the connection to its servers; set by `initialize`. */
  readonly open: OpenSession | undefined;
}

export interface OpenSession {
  readonly client: ClientFacts;
  readonly dispatch: Dispatch;
}

/**
 * Makes a channel to a client's stream and attaches a reader to it. The channel's events (room for more,
 * client gone) are for the reader that `read` returns and for no other: the stream may have a newer
 * reader by then.
 */
export type OpenChannel = (read: (channel: Channel) => StreamReader) => Omit<Opened, "start">;

/** Sends messages and questions to the client on the stream of a carrier. */
export function peerOn({ asks }: Core, carrier: QuestionStream): Peer {
  return {
    notify: ({ method, params }, resumeToken) =>
      carrier.send(notification(method, params), resumeToken),
    ask: (request, withdrawn, resumeToken, delivered) =>
      asks.ask(request, carrier, withdrawn, { resumeToken, delivered }),
  };
}

/** Attaches a reader to the stream of a POST, for the longest time of one connection. */
export function readPost(core: Core, place: StreamPosition, channel: Channel): StreamReader {
  const holdMs = isPolling(core) ? core.limits.holdSeconds * 1000 : undefined;
  const reader = core.streams.attach(place, channel, { holdMs });
  reader.pump();
  return reader;
}

/** @returns `true` for a client that reconnects after a closed connection (2025-11-25, polling). */
export function isPolling({ transport, open }: Core): boolean {
  return (
    transport === "streamable-http" && open !== undefined && allowsPriming(open.client.revision)
  );
}

/** @returns a refusal when no more streams may be open at once. */
export function streamRefusal(
  { streams, limits }: Core,
  id?: RequestId,
): RefusedRequest | undefined {
  if (streams.readCount < limits.openStreamsPerSession) return undefined;
  const message = `This session has ${limits.openStreamsPerSession} streams open; close one`;
  return refuseRequest(429, ErrorCode.Transport, message, id);
}
