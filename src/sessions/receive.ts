/** Receives a client's messages, one POST at a time. */

import { formatEventId } from "./log/event-id.ts";
import type { StreamMeta } from "./log/stream-meta.ts";
import { settleWithin } from "../lib/time-out.ts";
import { logUnexpected } from "../observability/unexpected.ts";
import { ErrorCode } from "../protocol/error-codes.ts";
import { type Arrival, startSpan } from "../protocol/call-span.ts";
import type { Peer } from "../protocol/exchange.ts";
import type { Tracer } from "../protocol/tracer.ts";
import {
  isRequestId,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type Parsed,
  replyOf,
  requestsOf,
  respond,
} from "../protocol/json-rpc.ts";
import { allowsBatches } from "../protocol/revisions.ts";
import { deliverAnswer, placeOfQuestion } from "./asks.ts";
import { PostAnswer, SharedAnswer } from "./answer.ts";
import { answerAlone, LogFull } from "./calls.ts";
import {
  type Core,
  isPolling,
  type OpenChannel,
  type OpenSession,
  peerOn,
  readPost,
  streamRefusal,
} from "./core.ts";
import type { Dispatch } from "./dispatch.ts";
import { type Opened, type SessionOutcome, refuseRequest } from "./session-outcome.ts";

const MAX_NOTIFICATION_WAIT_MS = 5000;

/** What a POST is, beside its messages. */
export interface Post {
  readonly isBatch: boolean;
  readonly arrival: Arrival;
  /** What records the spans of its requests, if anything does. */
  readonly tracer?: Tracer | undefined;
  /** Makes the channel to the client's stream, if the answer becomes one. */
  readonly openChannel: OpenChannel;
}

/** Takes the messages of one POST. */
export async function receive(
  core: Core,
  messages: readonly Parsed[],
  post: Post,
): Promise<SessionOutcome> {
  const { isBatch } = post;
  if (core.open === undefined) return receiveEarly(core, messages, isBatch);
  const { client, dispatch } = core.open;
  if (isBatch && !allowsBatches(client.revision)) {
    const message = `Revision ${client.revision} has no batches: send one message for each POST`;
    return refuseRequest(400, ErrorCode.InvalidRequest, message);
  }
  const requests = requestsOf(messages);
  const refusal = core.calls.refusal(requests);
  if (refusal !== undefined) return refusal;

  for (const parsed of messages) {
    if (parsed.kind === "notification") {
      // Awaited, so that later messages find it done; the time-out bounds the wait.
      const received = receiveNotification(core, dispatch, parsed.message);
      await settleWithin(received, MAX_NOTIFICATION_WAIT_MS);
    }
    if (parsed.kind === "response") receiveAnswer(core, dispatch, parsed.message);
  }
  if (requests.length === 0) return { kind: "accepted" };
  // Other requests may have arrived during the wait.
  const second = core.calls.refusal(requests);
  if (second !== undefined) return second;
  return run(core, core.open, requests, post);
}

/** Before `initialize`: only with HTTP+SSE, since Streamable HTTP opens a session with `initialize`. */
async function receiveEarly(
  { calls, streams }: Core,
  messages: readonly Parsed[],
  isBatch: boolean,
): Promise<SessionOutcome> {
  const [request] = isBatch ? [] : requestsOf(messages);
  const reply = request === undefined ? undefined : answerAlone(request.method);
  if (request === undefined || reply === undefined) {
    const message = "The session is not initialized yet";
    return refuseRequest(400, ErrorCode.InvalidRequest, message, request?.id);
  }
  const refusal = calls.refusal([request]);
  if (refusal !== undefined) return refusal;
  await streams.unsolicited.send(respond(request.id, reply));
  return { kind: "accepted" };
}

async function receiveNotification(
  { asks, calls }: Core,
  dispatch: Dispatch,
  { method, params }: JsonRpcNotification,
): Promise<void> {
  if (method === "notifications/cancelled") {
    const { requestId, reason } = params ?? {};
    if (!isRequestId(requestId)) return;
    const why = typeof reason === "string" ? reason : "The client cancelled the request";
    calls.cancel(requestId, new Error(why));
    return;
  }
  if (method === "notifications/progress") {
    const progressToken = asks.originalToken(params?.progressToken);
    if (progressToken === undefined) return;
    await dispatch.notify({ method, params: { ...params, progressToken } });
    return;
  }
  await dispatch.notify(params === undefined ? { method } : { method, params });
}

/**
 * Takes the client's answer to a question. The answer is stored before the client gets its 202, and
 * until the server has it: the client would not send it again.
 */
function receiveAnswer({ asks, log }: Core, dispatch: Dispatch, message: JsonRpcResponse): void {
  const { id } = message;
  if (id === undefined) return;
  const reply = replyOf(message);
  const question = asks.find(id);
  const position = placeOfQuestion(id);
  const resumeToken =
    question === undefined && position !== undefined
      ? log.inheritedResumeToken(position)
      : question?.resumeToken;
  if (position !== undefined && resumeToken !== undefined) {
    if (!log.keepAnswer(position, resumeToken, JSON.stringify(reply))) return;
    if (question === undefined) void deliverAnswer(log, dispatch, { position, resumeToken, reply });
    else void question.delivered?.then(() => log.answerDelivered(position));
  }
  asks.settle(id, reply);
}

/** Runs the requests of one POST. */
function run(
  core: Core,
  open: OpenSession,
  requests: readonly JsonRpcRequest[],
  { isBatch, arrival, tracer, openChannel }: Post,
): Promise<SessionOutcome> | SessionOutcome {
  const { log, streams, calls, limits } = core;
  if (core.transport === "http+sse") {
    for (const request of requests) {
      const answer = new SharedAnswer({ log, streams }, request);
      settle(core, open, { requests: [request], arrival, tracer }, answer);
    }
    return { kind: "accepted" };
  }
  const refusal = streamRefusal(core, requests[0]?.id);
  if (refusal !== undefined) return refusal;
  const read = (meta: StreamMeta): Opened => ({
    ...openChannel((channel) => readPost(core, { meta, after: 0 }, channel)),
    start: formatEventId(meta.id, 0),
  });
  const onFull = (): void => {
    for (const { id } of requests) calls.cancel(id, new LogFull());
  };
  const streamAfterMs = limits.streamAfterSeconds * 1000;
  const answer = new PostAnswer({ log, streams, requests, streamAfterMs, onFull, read });
  if (isBatch) answer.open();
  settle(core, open, { requests, arrival, tracer }, answer);
  return answer.outcome;
}

function settle(
  core: Core,
  { client: { clientInfo }, dispatch }: OpenSession,
  {
    requests,
    arrival,
    tracer,
  }: Pick<Post, "arrival" | "tracer"> & {
    readonly requests: readonly JsonRpcRequest[];
  },
  answer: PostAnswer | SharedAnswer,
): void {
  const peer: Peer = {
    ...peerOn(core, answer),
    routed: (resumeToken) => answer.routed(resumeToken),
    primed: (resumeToken) => answer.prime(resumeToken),
    released: () => {
      if (isPolling(core)) answer.release();
    },
  };
  const peerFor = ({ params }: JsonRpcRequest): Peer => {
    const span = startSpan({ ...arrival, tracer, params, era: "legacy", clientInfo });
    return { ...peer, span };
  };
  void core.calls
    .runAll(dispatch, requests, peerFor, (body) => answer.reply(body))
    .catch(logUnexpected)
    .then(() => answer.end());
}
