/**
 * A token that resumes an exchange after its holder lost its memory: a text that the holder keeps
 * and does not read.
 */

import { tryLossless } from "../../lib/lossless-json.ts";
import type { Call, Peer } from "../../protocol/exchange.ts";
import { isObject, isRequestId, type Reply, type RequestId } from "../../protocol/json-rpc.ts";
import type { MessageSession } from "./wire.ts";

export interface ResumePoint {
  /** The request's id on this hop. Absent for a message of the standalone stream. */
  readonly request?: RequestId;
  /** The client's own progress token. */
  readonly progressToken?: RequestId;
  /** The upstream's event after which its stream resumes. */
  readonly lastEventId?: string;
  /** The id of the message, if it is a request of the server. */
  readonly ask?: RequestId;
  /**
   * The server's session of the message: servers count their requests, and may count their events, in each. Absent at
   * a server without sessions, and in the tokens of an earlier version.
   */
  readonly session?: string | undefined;
  /** The task whose result the request waits for (2025-11-25, tasks). */
  readonly task?: string;
}

/** @returns `undefined` when the point has neither a stream to resume nor a request to answer. */
export function writeResumeToken(point: ResumePoint): string | undefined {
  if (point.lastEventId === undefined && point.ask === undefined) return undefined;
  return JSON.stringify(point);
}

export function readResumeToken(text: string): ResumePoint {
  const value = tryLossless(text);
  if (!isObject(value)) return {};
  const { request, progressToken, lastEventId, ask, session, task } = value;
  return {
    ...(isRequestId(request) ? { request } : {}),
    ...(isRequestId(progressToken) ? { progressToken } : {}),
    ...(typeof lastEventId === "string" ? { lastEventId } : {}),
    ...(isRequestId(ask) ? { ask } : {}),
    ...(typeof session === "string" ? { session } : {}),
    ...(typeof task === "string" ? { task } : {}),
  };
}

/** True unless the point is of another session: there, its ids are those of others. */
export function isOfSession(
  { session }: ResumePoint,
  current: Pick<MessageSession, "sessionMark"> | undefined,
): boolean {
  return session === undefined || session === current?.sessionMark;
}

/** True when the token leads to a stream that can be resumed. */
export function isResumable(resumeToken: string | undefined): boolean {
  const { request, lastEventId } = readResumeToken(resumeToken ?? "");
  return request !== undefined && lastEventId !== undefined;
}

/** The session and the place in a stream, or the server request, that a message came from. */
export type MessageOrigin = Pick<ResumePoint, "lastEventId" | "ask" | "session">;

/** The recipient of a server's messages on this side of the hop. */
export interface Recipient {
  notify(notice: Call, origin: MessageOrigin): Promise<void>;
  /** @param delivered resolves when the server has received the answer. */
  ask(
    request: Call,
    withdrawn: AbortSignal,
    origin: MessageOrigin,
    delivered?: Promise<void>,
  ): Promise<Reply>;
}

/** A recipient that also learns where its stream can be resumed before it has carried a message. */
export interface PrimedRecipient extends Recipient {
  primed(origin: MessageOrigin): void;
}

/**
 * Gives each message the token that resumes its exchange after it. A message of another stream has no place in that of
 * the exchange, and gets the last one that there was.
 */
export function withResumeTokens(peer: Peer, base: ResumePoint = {}): PrimedRecipient {
  let place: Pick<ResumePoint, "lastEventId" | "session"> = {};
  const tokenOf = ({ ask, ...origin }: MessageOrigin): string | undefined => {
    if (origin.lastEventId !== undefined) place = origin;
    const { session } = origin;
    return writeResumeToken({ ...base, ...place, ...(ask === undefined ? {} : { ask, session }) });
  };
  return {
    notify: (notice, origin) => peer.notify(notice, tokenOf(origin)),
    ask: (request, withdrawn, origin, delivered) =>
      peer.ask(request, withdrawn, tokenOf(origin), delivered),
    primed: (origin) => peer.primed?.(tokenOf(origin)),
  };
}
