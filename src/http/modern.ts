/**
 * Streamable HTTP of 2026-07-28: one request, one answer. The answer is a JSON body when the result comes
 * first and soon; otherwise it is a stream. Closing the stream cancels the request.
 */

import { dispatchModern } from "../dispatch/modern/dispatch-modern.ts";
import { PushStream } from "../lib/push-stream.ts";
import { settleWithin } from "../lib/time-out.ts";
import type { Envelope } from "../protocol/envelope.ts";
import { ErrorCode, modernHttpStatus } from "../protocol/error-codes.ts";
import { startSpan } from "../protocol/call-span.ts";
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
import { answered, traceIn } from "./trace.ts";

export async function answerModern(
  context: FrontDoorContext,
  message: JsonRpcRequest,
  envelope: Envelope,
): Promise<Response> {
  const { request, limits, person, application, tracer } = context;
  const span = startSpan({
    person,
    application,
    params: message.params,
    trace: traceIn(request),
    tracer: tracer?.(),
    era: "modern",
    clientInfo: envelope.clientInfo,
  });
  const cancel = new AbortController();
  const gone = (): void => cancel.abort(new Error("The client closed the stream"));
  request.signal.addEventListener("abort", gone, { once: true });

  const { promise: response, resolve } = Promise.withResolvers<Response>();
  let stream: PushStream | undefined;

  // Mostly, only a write shows that a connection is closed. While a call runs, writes are more frequent,
  // since closing the stream cancels the call (2026-07-28, Streamable HTTP).
  const isListening = message.method === "subscriptions/listen";
  const keepAliveSeconds = isListening
    ? limits.keepAliveSeconds
    : Math.min(limits.callKeepAliveSeconds, limits.keepAliveSeconds);

  /** Commits to a stream: the HTTP status is 200 from here on. */
  function open(): PushStream {
    if (stream !== undefined) return stream;
    clearTimeout(timer);
    stream = new PushStream({ windowBytes: limits.windowBytes, onCancel: gone });
    resolve(eventStream(stream.body, keepAliveSeconds, { preamble: KEEP_ALIVE }));
    return stream;
  }
  const timer = setTimeout(open, limits.streamAfterSeconds * 1000);

  /** A client that stays connected and takes nothing counts as gone: its call would be held for ever. */
  async function send(outgoing: JsonRpcMessage): Promise<void> {
    const text = encodeEvent({ event: "message", data: JSON.stringify(outgoing) });
    const written = open()
      .write(text)
      .then(() => true);
    if ((await settleWithin(written, limits.stallSeconds * 1000)) !== true) gone();
    cancel.signal.throwIfAborted();
  }
  const peer: Peer = {
    span,
    notify: ({ method, params }) => send(notification(method, params)),
    // 2026-07-28 has no server requests; a server of that revision asks in its result.
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
    // Rejects only when the client has gone: no client is left to read an answer.
    clearTimeout(timer);
    stream?.close();
    resolve(new Response(null, { status: 499 }));
  });
  // Otherwise the platform would stop the call when the client has gone: what the call holds would never
  // be released, and its log line never written.
  context.waitUntil(running);
  return answered(await response, span.trace);
}

function asJson({ id }: JsonRpcRequest, reply: Reply): Response {
  if ("result" in reply) return json(respond(id, reply));
  const { code } = reply.error;
  const { retryAfter } = ownData(reply);
  const status = reply.refusedWith ?? modernHttpStatus(code);
  const headers = status === 429 ? { "Retry-After": String(retryAfter) } : undefined;
  return json(respond(id, reply), status, headers);
}
