/**
 * `/oauth/upstream/<slug>/callback`: the browser is back from the authorization server of a server. What it
 * brings is used only if the session, the cookie and the `state` are of one attempt; anything else changes
 * nothing, and the true answer still counts when it comes.
 */

import { readCookies } from "../auth/cookies.ts";
import { type ConnectContext, finishEnds, isShared } from "./account-context.ts";
import { auditFailure, connectedResponse, problemResponse } from "./account-outcomes.ts";
import { type AccountHandler, connectable, visitOf } from "./account-visit.ts";
import { refusal } from "./page-guard.ts";
import { visitorOf } from "./page-visitor.ts";
import { notFound } from "./respond.ts";

const ATTEMPT_COOKIE = /^__Host-edgeway-connect-/;
const MAX_QUERY_CHARS = 8192;
/** Each at most once (RFC 6749 section 3.1); an empty `iss` is none that could be compared. */
const ONCE = ["code", "state", "iss", "error"];

/** @returns whether the query can be the answer of an authorization server. */
function isAnswer({ search, searchParams }: URL): boolean {
  if (search.length > MAX_QUERY_CHARS) return false;
  if (ONCE.some((name) => searchParams.getAll(name).length > 1)) return false;
  return searchParams.get("iss") !== "" && (searchParams.get("state") ?? "") !== "";
}

export const finishConnect: AccountHandler = async (context, request, slug) => {
  const server = connectable(context, slug);
  if (server === undefined || server.auth.kind === "key") return notFound(context);
  const url = new URL(request.url);
  const visitor = isAnswer(url) ? await visitorOf(context, request) : undefined;
  if (visitor === undefined || (isShared(server) && !visitor.isAdmin)) {
    return unknownAttempt(context);
  }
  const visit = visitOf({ context, request, server, visitor, ask: undefined });
  await finishEnds(context, server, visitor.person);
  const outcome = await visit.vault().finish({
    slug,
    origin: context.origin,
    person: visitor.person,
    query: url.search.slice(1),
    cookies: Object.fromEntries(
      [...readCookies(request)].filter(([name]) => ATTEMPT_COOKIE.test(name)),
    ),
  });
  if (outcome.kind === "unknown") return unknownAttempt(context);
  if (outcome.kind === "connected") return connectedResponse(visit, outcome.account);
  await auditFailure(visit, outcome.problem);
  return problemResponse(visit, outcome.problem);
};

/** Says nothing of any server or person. */
function unknownAttempt(context: ConnectContext): Response {
  return refusal(context, 400, {
    title: "This answer does not fit",
    whatHappened:
      "It was used already, came too late, or belongs to another browser or another sign-in. Nothing was changed.",
    whatToDo: [
      "If you have just begun to connect an account in this browser, finish it in the window in which you began.",
      "Otherwise open the link of your application again, and stay in one browser until you are done.",
    ],
  });
}
