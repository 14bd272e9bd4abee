/**
 * The modern front door: one request, one answer. It is a JSON body when nothing comes before
 * the result and the result comes soon; otherwise a stream. Closing the stream is the cancel.
 * (2026-07-28, Streamable HTTP.)
 */

import { dispatchModern } from "../dispatch/modern/dispatch-modern.ts";
import { PushStream } from "../lib/push-stream.ts";
import type { Envelope } from "../protocol/envelope.ts";
import { ErrorCode, modernHttpStatus } from "../protocol/error-codes.ts";
import type { Peer } from "../protocol/exchange.ts";
import {
  errorReply,
  type JsonRpcMessage,
  type JsonRpcRequest,
  notification,
  type Reply,
  respond,
} from "../protocol/json-rpc.ts";
import { ownData } from "../protocol/own-error.ts";
import { encodeEvent, KEEP_ALIVE } from "../protocol/sse.ts";
import { eventStream, json } from "./answers.ts";
import type { FrontDoorContext } from "./front-door.ts";

export function answerModern(
  context: FrontDoorContext,
  message: JsonRpcRequest,
  envelope: Envelope,
): Promise<Response> {
  const { request, limits } = context;
  const cancel = new AbortController();
  const gone = (): void => cancel.abort(new Error("The client closed the stream"));
  request.signal.addEventListener("abort", gone, { once: true });

  const { promise: response, resolve } = Promise.withResolvers<Response>();
  let stream: PushStream | undefined;

  // A closed connection is mostly seen by a write alone. While a server works for the client, it is
  // looked for sooner: closing the stream is the cancel (2026-07-28, Streamable HTTP).
  const isListening = message.method === "subscriptions/listen";
  const keepAliveSeconds = isListening
    ? limits.keepAliveSeconds
    : Math.min(limits.callKeepAliveSeconds, limits.keepAliveSeconds);

  /** Commits to a stream: from here on nothing can be said with an HTTP status. */
  function open(): PushStream {
    if (stream !== undefined) return stream;
    clearTimeout(timer);
    stream = new PushStream({ windowBytes: limits.windowBytes, onCancel: gone });
    resolve(eventStream(stream.body, keepAliveSeconds, { preamble: KEEP_ALIVE }));
    return stream;
  }
  const timer = setTimeout(open, limits.streamAfterSeconds * 1000);

  const send = (outgoing: JsonRpcMessage): Promise<void> =>
    open().write(encodeEvent({ event: "message", data: JSON.stringify(outgoing) }));
  const peer: Peer = {
    notify: ({ method, params }) => send(notification(method, params)),
    // This era's wire has no server requests; an upstream of the same era asks in its result.
    ask: () =>
      Promise.resolve(errorReply(ErrorCode.MethodNotFound, "This client takes no requests")),
  };

  async function run(): Promise<void> {
    const inbound = { message, envelope, headers: request.headers };
    const reply = await dispatchModern(context, inbound, peer, cancel.signal);
    clearTimeout(timer);
    if (stream === undefined) resolve(asJson(message, reply));
    else {
      await send(respond(message.id, reply));
      stream.close();
    }
  }
  const running = run().catch(() => {
    // Rejects only when the client has gone: nobody is left to read an answer.
    clearTimeout(timer);
    stream?.close();
    resolve(new Response(null, { status: 499 }));
  });
  // The platform would drop it where it stands when the client has gone: what the call holds would
  // be held for ever, and its line in the log never written.
  context.waitUntil(running);
  return response;
}

function asJson({ id }: JsonRpcRequest, reply: Reply): Response {
  if ("result" in reply) return json(respond(id, reply));
  const { code } = reply.error;
  const { reason, retryAfter } = ownData(reply);
  // Nothing was run, and when to come back is known: that has a status of its own.
  const isTooMuch = code === ErrorCode.Transport && reason === "overloaded";
  if (!isTooMuch || typeof retryAfter !== "number") {
    return json(respond(id, reply), reply.refusedWith ?? modernHttpStatus(code));
  }
  return json(respond(id, reply), 429, { "Retry-After": String(Math.ceil(retryAfter)) });
}
