/**
 * The calls that ran when an earlier life of the session's holder ended. Each is taken up at the
 * upstream where it left off, or ends in one error that says so: never is it sent again.
 */

import type { Head } from "../event-log/head.ts";
import { type RequestId, respond } from "../protocol/json-rpc.ts";
import type { Carrier } from "./asks.ts";
import { unanswered } from "./call-record.ts";
import { LogFull } from "./calls.ts";
import { type Core, peerOn } from "./core.ts";

const READ_CHARS = 1024 * 1024;

export function reviveCalls(core: Core): void {
  for (const head of [...core.log.heads()]) {
    if (head.id.kind === "post" && !head.isEnded) void reviveCall(core, head);
  }
}

async function reviveCall(core: Core, head: Head): Promise<void> {
  const { door, open, calls, log, streams } = core;
  if (open === undefined) return;
  const isShared = door === "http+sse";
  const ids = unanswered(log.record(head), () => eventsOf(core, head));
  const carrier = isShared ? streams.unsolicited : carrierOn(core, head, ids);
  for (const [index, id] of ids.entries()) {
    // Of a batch, nothing tells which of its calls the place in the upstream belongs to.
    const call = { id, ticket: ids.length === 1 ? head.origin : undefined };
    const reply = await calls.resume(open.dispatch, call, peerOn(core, carrier));
    if (reply === undefined) continue;
    const isFinal = index === ids.length - 1;
    const body = respond(id, reply);
    const options = { isFinal, isAnswer: true };
    const sent = isShared ? carrier.send(body) : streams.send(head, body, options);
    // In the same turn: a record without its answer would be answered again.
    if (isShared && isFinal) log.forget(head);
    await sent;
  }
  if (isShared) log.forget(head);
  else streams.end(head);
}

/** The data of every event, a little at a time: a stream may be larger than the memory. */
function* eventsOf({ log }: Core, head: Head): Generator<string, void, void> {
  for (let after = 0; after < head.last;) {
    const events = log.read(head, after, READ_CHARS);
    for (const { data } of events) yield data;
    after = events.at(-1)?.seq ?? head.last;
  }
}

function carrierOn({ streams, calls }: Core, head: Head, ids: readonly RequestId[]): Carrier {
  return {
    nextId: () => streams.nextId(head),
    send: async (message, ticket) => {
      const isTaken = await streams.send(head, message, { ticket });
      if (!isTaken) for (const id of ids) calls.cancel(id, new LogFull());
    },
  };
}
