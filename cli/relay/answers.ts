/** What the host is told of a response that is no stream. */

import { mediaType } from "../../src/lib/media-type.ts";
import { ErrorCode } from "../../src/protocol/error-codes.ts";
import { readEvents } from "../http/event-stream.ts";
import { Broken, LoginNeeded, NotReached, reasonOf } from "../http/failures.ts";
import { readBody } from "../http/gateway.ts";
import { memberText } from "../stdio/json-text.ts";
import { type Message, readMessage, withId } from "../stdio/message.ts";
import type { Call, Calls } from "./calls.ts";

const MAX_TEXT_CHARS = 300;
const ACCEPTED = "application/json, text/event-stream";

export const POST_HEADERS = { "content-type": "application/json", accept: ACCEPTED } as const;

export function isStream(response: Response): boolean {
  return mediaType(response.headers.get("content-type")) === "text/event-stream";
}

/** Reads the answer to a request that nothing else is told of. @throws Broken where there is none. */
export async function onlyAnswer(response: Response): Promise<string> {
  if (!isStream(response)) return readBody(response);
  for await (const text of readEvents(response, {})) {
    if (readMessage(text)?.parts.some(({ kind }) => kind === "response") === true) return text;
  }
  throw new Broken("the gateway closed it");
}

/** Answers calls with a body that was read whole. @returns the message in it, if it is one. */
export async function answerWith(
  calls: Calls,
  asked: readonly Call[],
  { url, status }: Response,
  text: string,
): Promise<Message | undefined> {
  const message = readMessage(text);
  const [only] = asked;
  if (message === undefined || only === undefined) {
    const said = message === undefined ? text : memberText(message.text, "error");
    const sentence = `${url} answered with status ${status}${said === "" ? "" : `: ${oneLine(said ?? "")}`}`;
    for (const call of asked) await calls.fail(call, ErrorCode.Transport, sentence);
    return message;
  }
  const [first] = message.parts;
  const isNameless = first?.kind === "response" && first.id === undefined && !message.isBatch;
  return calls.deliver(isNameless ? withId(message.text, only.request.id) : message.text);
}

/** Answers calls that failed on the way to the gateway, or back. */
export async function failWith(
  calls: Calls,
  asked: readonly Call[],
  error: unknown,
  url: URL,
): Promise<void> {
  const [code, sentence] = sentenceOf(error, url);
  for (const call of asked) await calls.fail(call, code, sentence);
}

function sentenceOf(error: unknown, { href }: URL): readonly [code: number, sentence: string] {
  if (error instanceof NotReached || error instanceof LoginNeeded) {
    return [ErrorCode.Transport, error.message];
  }
  const reason = reasonOf(error);
  if (!(error instanceof Broken)) return [ErrorCode.InternalError, reason];
  const unknown = `The connection to ${href} broke before the answer came (${reason}); whether the call ran is unknown`;
  return [ErrorCode.InternalError, unknown];
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim().slice(0, MAX_TEXT_CHARS);
}
