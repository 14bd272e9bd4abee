/** Streams of events, read and counted: every event has to be there, in order, once. */

import { readEvents } from "../../test/support/read-events.ts";
import { type Headers, legacyHeaders, META, modernHeaders, post } from "./mcp.ts";

export interface Heard {
  /** Messages, the answer included. */
  readonly count: number;
  /** The id of the first event that held a message. */
  readonly firstId: string | undefined;
}

interface Message {
  readonly id?: unknown;
  readonly result?: { readonly isError?: boolean };
  readonly params?: {
    readonly progress?: number;
    readonly data?: { readonly n?: number };
  };
}

const REQUEST_ID = 7;

/** Calls the tool `burst` and hears it out. @throws Error when anything is missing. */
export async function burst(
  url: string,
  session: Headers | undefined,
  count: number,
  bytes: number,
): Promise<Heard> {
  const headers =
    session === undefined ? modernHeaders("tools/call", "burst") : legacyHeaders(session);
  const _meta = { ...(session === undefined ? META : {}), progressToken: "burst" };
  const params = { name: "burst", arguments: { count, bytes }, _meta };
  const response = await post(url, headers, { id: REQUEST_ID, method: "tools/call", params });
  const heard = await hear(response, 1, count);
  if (heard.count !== count + 1) throw new Error(`${heard.count} messages came of ${count + 1}`);
  return heard;
}

/**
 * Reads messages that are numbered, from this number on.
 *
 * @param last ends it, if no answer comes before.
 * @throws Error when one is missing, twice there, or out of order.
 */
export async function hear(response: Response, first: number, last: number): Promise<Heard> {
  let expected = first;
  let firstId: string | undefined;
  let isAnswered = false;
  const done = new AbortController();
  const reading = readEvents(response, {
    event({ id, data }) {
      if (data === "") return; // it says where the stream can be taken up
      firstId ??= id;
      const { id: answers, result, params } = JSON.parse(data) as Message;
      if (answers === REQUEST_ID) {
        if (result === undefined || result.isError === true) throw new Error(`It failed: ${data}`);
        isAnswered = true;
      } else {
        const number = params?.progress ?? params?.data?.n;
        if (number !== expected) throw new Error(`${number} came where ${expected} was due`);
        expected += 1;
      }
      if (isAnswered || (expected > last && params?.data !== undefined)) done.abort();
    },
  });
  // A server may leave a stream open that it has replayed.
  const over = new Promise<void>((resolve) => {
    done.signal.addEventListener("abort", () => resolve());
  });
  await Promise.race([reading, over]);
  reading.catch(() => undefined); // whoever asked hangs up
  return { count: expected - first + Number(isAnswered), firstId };
}

/** Takes a stream up after an event. */
export async function resume(
  url: string,
  session: Headers,
  lastEventId: string | undefined,
  signal: AbortSignal,
): Promise<Response> {
  const last = lastEventId === undefined ? {} : { "Last-Event-ID": lastEventId };
  const headers = { ...legacyHeaders(session), ...last, Accept: "text/event-stream" };
  const response = await fetch(url, { headers, signal });
  if (!response.ok) throw new Error(`A stream was refused with ${response.status}`);
  return response;
}
