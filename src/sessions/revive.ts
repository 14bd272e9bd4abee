/**
 * Resumes the calls that were in flight when an earlier life of the session's object ended. Each
 * continues at its server where it left off, or ends with an error; it is never sent again.
 */

import { formatEventId } from "./log/event-id.ts";
import type { EventLog, LoggedEvent } from "./log/event-log.ts";
import type { StreamMeta } from "./log/stream-meta.ts";
import { parseLossless } from "../lib/lossless-json.ts";
import type { OpenQuestion } from "../protocol/exchange.ts";
import { type Reply, type RequestId, respond } from "../protocol/json-rpc.ts";
import { deliverAnswer, idOfQuestion, type QuestionStream } from "./asks.ts";
import { LogFull, unanswered } from "./calls.ts";
import { type Core, peerOn } from "./core.ts";

const READ_CHARS = 1024 * 1024;

/** Resumes the calls and delivers the answers that an earlier life has left open. */
export function revive(core: Core): void {
  deliverKeptAnswers(core);
  for (const meta of [...core.log.streams()]) {
    if (meta.id.kind === "post" && !meta.isEnded) void core.calls.answering(reviveCall(core, meta));
  }
}

/** Delivers the accepted answers that the servers may not have. */
function deliverKeptAnswers({ log, open }: Core): void {
  if (open === undefined) return;
  for (const { position, resumeToken, reply } of log.keptAnswers()) {
    void deliverAnswer(log, open.dispatch, {
      position,
      resumeToken,
      reply: parseLossless(reply) as Reply,
    });
  }
}

async function reviveCall(core: Core, meta: StreamMeta): Promise<void> {
  const { transport, open, calls, log, streams } = core;
  if (open === undefined) return;
  const isShared = transport === "http+sse";
  const ids = unanswered(log.record(meta), () => eventsOf(core, meta));
  const carrier = isShared ? streams.unsolicited : carrierOn(core, meta, ids);
  for (const [index, id] of ids.entries()) {
    // In a batch, the resume token cannot be matched to one of the calls.
    const call =
      ids.length === 1
        ? { id, resumeToken: meta.resumeToken, asked: openQuestions(core, meta, carrier) }
        : { id, resumeToken: undefined, asked: [] };
    const reply = await calls.resume(open.dispatch, call, peerOn(core, carrier));
    if (reply === undefined) continue;
    const isFinal = index === ids.length - 1;
    const body = respond(id, reply);
    const options = { isFinal, isAnswer: true };
    const sent = isShared ? carrier.send(body) : streams.send(meta, body, options);
    // In the same turn of the event loop: a call whose record is left would be answered again.
    if (isShared && isFinal) log.forget(meta);
    await sent;
  }
  if (isShared) log.forget(meta);
  else streams.end(meta);
}

/** The questions of a call that the client may still answer. */
function openQuestions(
  { asks, log }: Core,
  meta: StreamMeta,
  carrier: QuestionStream,
): readonly OpenQuestion[] {
  const open: OpenQuestion[] = [];
  let last = 0;
  for (const { seq, data, resumeToken } of loggedIn(log, meta)) {
    const position = { stream: meta.id, seq: last + 1 };
    last = seq;
    const id = formatEventId(meta.id, position.seq);
    if (idOfQuestion(data) !== id || resumeToken === undefined || log.isAnswered(position))
      continue;
    open.push({
      resumeToken,
      wait: (withdrawn, delivered) =>
        asks.resume({ id, resumeToken, delivered, carrier, withdrawn }),
    });
  }
  return open;
}

/** The data of every event. */
function* eventsOf({ log }: Core, meta: StreamMeta): Generator<string, void, void> {
  for (const { data } of loggedIn(log, meta)) yield data;
}

/** Reads every event in portions: a stream may be larger than the memory. */
function* loggedIn(log: EventLog, meta: StreamMeta): Generator<LoggedEvent, void, void> {
  for (let after = 0; after < meta.last;) {
    const events = log.read(meta, after, READ_CHARS);
    yield* events;
    after = events.at(-1)?.seq ?? meta.last;
  }
}

function carrierOn(
  { streams, calls }: Core,
  meta: StreamMeta,
  ids: readonly RequestId[],
): QuestionStream {
  return {
    nextId: () => streams.nextId(meta),
    send: async (message, resumeToken) => {
      const isTaken = await streams.send(meta, message, { resumeToken });
      if (!isTaken) for (const id of ids) calls.cancel(id, new LogFull());
    },
  };
}
