/**
 * The client of a session, as one of its servers sees it: the one place where a server's messages change
 * on their way to the client. In this order, a message
 *
 * 1. is translated to the client's revision: the server may use a newer one, or another era;
 * 2. waits, if it is a change of a list, until the gateway does not give that list from before any more;
 * 3. is left out, if it is a change that the client does not want or has received through the fan-out;
 * 4. names its server, if the endpoint has several, and marks its progress token with the server;
 * 5. gets a resume token that leads to the server, now and after a restart.
 *
 * The client itself refuses what it has not declared; only a question that its revision cannot express is
 * refused here.
 */

import { type ListTopic, listChangedBy } from "../catalog/topics.ts";
import { attributedQuestion } from "../endpoint/attribution.ts";
import { tryLossless } from "../lib/lossless-json.ts";
import { metaOf, replaceProgressToken } from "../protocol/envelope.ts";
import { ErrorCode } from "../protocol/error-codes.ts";
import type { Call, Peer } from "../protocol/exchange.ts";
import { errorReply, isRequestId, type RequestId } from "../protocol/json-rpc.ts";
import type { LegacyRevision } from "../protocol/revisions.ts";
import { rephrase } from "../protocol/revisions/ask-legacy-client.ts";
import { toLegacyNotice } from "../protocol/revisions/translate-notices.ts";
import type { Unsolicited } from "../sessions/dispatch.ts";
import {
  resumeTokenAmong,
  resumeTokensIn,
  resumeTokenWith,
  serverResumeToken,
} from "./server-resume-token.ts";

/** The name and revision under which the client of a session sees one server. */
export interface ServerView {
  readonly slug: string;
  readonly revision: LegacyRevision;
  /** False for the only server of an endpoint: the client knows which server asks. */
  readonly isNamed: boolean;
  /** False for a change that the client does not want, or has received through the fan-out. */
  readonly passes: (notice: Call) => boolean;
  /** A list has changed. The client is told of that when the promise has resolved; it never rejects. */
  readonly outdated: (list: ListTopic) => Promise<void>;
}

/**
 * For the messages of a server while it runs a request.
 *
 * @param peer waits for that request.
 * @param leadTo makes the session's resume token of the server's own.
 */
export function clientPeer(
  peer: Peer,
  { slug, revision, isNamed, passes, outdated }: ServerView,
  leadTo = (own: string): string => serverResumeToken(slug, own),
): Peer {
  const resumeToken = (own: string | undefined): string | undefined =>
    own === undefined ? undefined : leadTo(own);
  return {
    span: peer.span,
    async notify(notice, own) {
      const translated = toLegacyNotice(notice, revision);
      if (translated === undefined) return;
      const list = listChangedBy(translated.method);
      if (list !== undefined) await outdated(list);
      if (!passes(translated)) return;
      await peer.notify(translated, resumeToken(own));
    },
    ask(question, withdrawn, own, delivered) {
      const asked = rephrase(question, revision, () => crypto.randomUUID());
      if (asked.kind === "unsupported") {
        const message = `The client's revision ${revision} has no ${asked.lacking}`;
        return Promise.resolve(errorReply(ErrorCode.InvalidParams, message));
      }
      const marked = markToken(asked.call, slug);
      const named = isNamed ? attributedQuestion(marked, slug) : marked;
      return peer.ask(named, withdrawn, resumeToken(own), delivered);
    },
    primed: (own) => peer.primed?.(resumeToken(own)),
    released: () => peer.released?.(),
  };
}

/** For the messages that belong to no request. */
export function unsolicitedPeer(unsolicited: Unsolicited, view: ServerView): Peer {
  const { slug } = view;
  const leadTo = (own: string): string =>
    resumeTokenAmong(unsolicited.lastResumeToken(), slug, own);
  return {
    ...clientPeer(unsolicited, view, leadTo),
    primed(own) {
      const newest = unsolicited.lastResumeToken();
      const resumeToken = own === undefined ? undefined : resumeTokenWith(newest, slug, own);
      unsolicited.primed(resumeToken, !resumeTokensIn(newest).has(slug));
    },
  };
}

/** @returns the question unchanged when its server gave no progress token. */
export function markToken(question: Call, slug: string): Call {
  const token = metaOf(question.params).progressToken;
  if (!isRequestId(token)) return question;
  const { params } = replaceProgressToken(question.params, JSON.stringify([slug, token]));
  return params === undefined ? question : { ...question, params };
}

/** @returns the server that gave the progress token, and its own token with its type. */
export function readToken(
  token: unknown,
): { readonly slug: string; readonly token: RequestId } | undefined {
  const value = typeof token === "string" ? tryLossless(token) : undefined;
  if (!Array.isArray(value)) return undefined;
  const [slug, own] = value as readonly unknown[];
  return typeof slug === "string" && isRequestId(own) ? { slug, token: own } : undefined;
}
