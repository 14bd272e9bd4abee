/**
 * Resumes the calls that were in flight when an earlier life of the session's object ended. Each
 * continues at its server where it left off, or ends with an error; it is never sent again.
 */

import { formatEventId } from "./log/event-id.ts";
import type { EventLog, LoggedEvent } from "./log/event-log.ts";
import type { StreamMeta } from "./log/stream-meta.ts";
import type { OpenQuestion } from "../protocol/exchange.ts";
import { type Reply, type RequestId, respond } from "../protocol/json-rpc.ts";
import type { QuestionStream } from "./asks.ts";
import { bring } from "./bring.ts";
import { unanswered } from "./call-record.ts";
import { LogFull } from "./calls.ts";
import { type Core, peerOn } from "./core.ts";
import { idOfQuestion } from "./logged-questions.ts";

const READ_CHARS = 1024 * 1024;

/** Resumes the calls and delivers the answers that an earlier life has left open. */
export function revive(core: Core): void {
  bringKeptAnswers(core);
  for (const head of [...core.log.heads()]) {
    if (head.id.kind === "post" && !head.isEnded) void reviveCall(core, head);
  }
}

/** Delivers the accepted answers that the servers may not have. */
function bringKeptAnswers({ log, open }: Core): void {
  if (open === undefined) return;
  for (const { position, ticket: resumeToken, reply } of log.keptAnswers()) {
    void bring(log, open.dispatch, { position, resumeToken, reply: JSON.parse(reply) as Reply });
  }
}

async function reviveCall(core: Core, head: StreamMeta): Promise<void> {
  const { transport, open, calls, log, streams } = core;
  if (open === undefined) return;
  const isShared = transport === "http+sse";
  const ids = unanswered(log.record(head), () => eventsOf(core, head));
  const carrier = isShared ? streams.unsolicited : carrierOn(core, head, ids);
  for (const [index, id] of ids.entries()) {
    // In a batch, the resume token cannot be matched to one of the calls.
    const call =
      ids.length === 1
        ? { id, resumeToken: head.origin, asked: openQuestions(core, head, carrier) }
        : { id, resumeToken: undefined, asked: [] };
    const reply = await calls.resume(open.dispatch, call, peerOn(core, carrier));
    if (reply === undefined) continue;
    const isFinal = index === ids.length - 1;
    const body = respond(id, reply);
    const options = { isFinal, isAnswer: true };
    const sent = isShared ? carrier.send(body) : streams.send(head, body, options);
    // In the same turn of the event loop: a call whose record is left would be answered again.
    if (isShared && isFinal) log.forget(head);
    await sent;
  }
  if (isShared) log.forget(head);
  else streams.end(head);
}

/** The questions of a call that the client may still answer. */
function openQuestions(
  { asks, log }: Core,
  head: StreamMeta,
  carrier: QuestionStream,
): readonly OpenQuestion[] {
  const open: OpenQuestion[] = [];
  let last = 0;
  for (const { seq, data, origin: resumeToken } of loggedIn(log, head)) {
    const position = { stream: head.id, seq: last + 1 };
    last = seq;
    const id = formatEventId(head.id, position.seq);
    if (idOfQuestion(data) !== id || resumeToken === undefined || log.isAnswered(position))
      continue;
    open.push({
      resumeToken,
      wait: (withdrawn, brought) => asks.resume({ id, resumeToken, brought, carrier, withdrawn }),
    });
  }
  return open;
}

/** The data of every event. */
function* eventsOf({ log }: Core, head: StreamMeta): Generator<string, void, void> {
  for (const { data } of loggedIn(log, head)) yield data;
}

/** Reads every event in portions: a stream may be larger than the memory. */
function* loggedIn(log: EventLog, head: StreamMeta): Generator<LoggedEvent, void, void> {
  for (let after = 0; after < head.last;) {
    const events = log.read(head, after, READ_CHARS);
    yield* events;
    after = events.at(-1)?.seq ?? head.last;
  }
}

function carrierOn(
  { streams, calls }: Core,
  head: StreamMeta,
  ids: readonly RequestId[],
): QuestionStream {
  return {
    nextId: () => streams.nextId(head),
    send: async (message, resumeToken) => {
      const isTaken = await streams.send(head, message, { resumeToken });
      if (!isTaken) for (const id of ids) calls.cancel(id, new LogFull());
    },
  };
}
