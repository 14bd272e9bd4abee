/**
 * The problem pages of a sign-in that cannot continue: what happened, and what the person can do.
 */

import type { AuthContext } from "../auth/context/context.ts";
import type { Problem, ProblemKind } from "../auth/sign-in/attempt.ts";
import { page } from "./respond.ts";
import { problemView, type ProblemView } from "./view/problem-view.ts";

type ProblemWords = ProblemView & { readonly status: number };

const FROM_THE_APPLICATION = "Go back to the application and connect again.";
const ASK_THE_MAKER = "If it happens again, tell whoever makes the application.";
const ASK_THE_OPERATOR = "If it happens again, tell whoever runs this gateway.";

const PROBLEMS: Readonly<Record<ProblemKind, ProblemWords>> = {
  unreadable: {
    status: 400,
    title: "This request cannot be read",
    whatHappened: "The application has asked for access in a way that is not clear.",
    whatToDo: [FROM_THE_APPLICATION, ASK_THE_MAKER],
  },
  "too-long": {
    status: 414,
    title: "This request is too long",
    whatHappened: "The application has sent more than an address can hold.",
    whatToDo: [FROM_THE_APPLICATION, ASK_THE_MAKER],
  },
  limited: {
    status: 429,
    title: "Too many at once",
    whatHappened: "There were many requests from this address in a short time.",
    whatToDo: ["Wait a minute, then try again."],
  },
  "unknown-client": {
    status: 400,
    title: "This application is not known here",
    whatHappened:
      "It uses a registration that this gateway does not have, or not any more. Only the application can make a new one.",
    whatToDo: [
      "In the application, remove this server and add it again.",
      "Then connect. The application registers anew.",
    ],
  },
  "client-document": {
    status: 400,
    title: "This application cannot be identified",
    whatHappened: "What it says of itself could not be used.",
    whatToDo: ["Try again in a minute.", ASK_THE_MAKER],
  },
  "bad-redirect": {
    status: 400,
    title: "The way back does not fit",
    whatHappened:
      "The application wants the answer at an address that it has not registered, so nothing was sent there.",
    whatToDo: ["In the application, remove this server and add it again.", ASK_THE_MAKER],
  },
  "client-changed": {
    status: 400,
    title: "The application has changed",
    whatHappened: "While you were signing in, it changed what it says of itself.",
    whatToDo: ["Go back to the application, connect again, and read the question once more."],
  },
  "attempt-gone": {
    status: 400,
    title: "This page is out of date",
    whatHappened:
      "It was answered already, was left open for too long, or was opened in another browser.",
    whatToDo: [
      FROM_THE_APPLICATION,
      "Stay in one browser until you are done, and let it keep cookies of this site.",
    ],
  },
  "foreign-form": {
    status: 403,
    title: "This form came from elsewhere",
    whatHappened: "It was not sent by a page of this gateway, so nothing was done.",
    whatToDo: [FROM_THE_APPLICATION],
  },
  "no-form": {
    status: 400,
    title: "This form cannot be read",
    whatHappened: "Something is missing in what was sent.",
    whatToDo: ["Go back, load the page again, and try once more."],
  },
  "nothing-chosen": {
    status: 400,
    title: "Nothing was chosen",
    whatHappened: "The application would have got access to nothing at all.",
    whatToDo: ["Go back and choose something that it may do, or press Deny."],
  },
  "not-allowed": {
    status: 403,
    title: "This account may not come in",
    whatHappened: "You are who you say you are, but not among those who may use this gateway.",
    whatToDo: ["Sign in with another account.", "Or ask whoever runs this gateway to let you in."],
  },
  disabled: {
    status: 403,
    title: "This account is disabled",
    whatHappened: "An administrator of this gateway has disabled it.",
    whatToDo: ["Ask whoever runs this gateway."],
  },
  "bad-return": {
    status: 400,
    title: "This sign-in does not fit",
    whatHappened:
      "It was used already, was left for too long, or was begun in another browser or with another provider.",
    whatToDo: [
      "Begin again where you came from.",
      "Stay in one browser until you are done, and let it keep cookies of this site.",
    ],
  },
  "provider-failed": {
    status: 400,
    title: "The sign-in failed",
    whatHappened:
      "The sign-in provider did not say who you are, or said it in a way that is not valid.",
    whatToDo: ["Begin again where you came from.", ASK_THE_OPERATOR],
  },
  "provider-unreachable": {
    status: 503,
    title: "The sign-in provider cannot be reached",
    whatHappened: "It does not answer at the moment.",
    whatToDo: ["Wait a minute, then begin again where you came from.", ASK_THE_OPERATOR],
  },
  "not-fresh": {
    status: 403,
    title: "Sign in anew for this",
    whatHappened:
      "What you want to do gives lasting access, and the sign-in provider did not ask you anew who you are.",
    whatToDo: ["Sign out at the sign-in provider, then try again."],
  },
  "no-statement": {
    status: 403,
    title: "Nobody says who you are",
    whatHappened:
      "This gateway expects a proxy in front of this page that says who you are, like Cloudflare Access, and this request did not come through it.",
    whatToDo: ["Ask the operator of this gateway to put this page behind that proxy."],
  },
  "setup-gone": {
    status: 410,
    title: "This link does not work any more",
    whatHappened: "It was used already, or is older than 30 minutes.",
    whatToDo: [
      "If the owner code was made, sign in with it.",
      "If it was made and nobody has it, set another one: npx wrangler secret put OWNER_CODE.",
      "If not, open the sign-in page: a new link is then written to the gateway's log.",
    ],
  },
  failed: {
    status: 500,
    title: "That did not work",
    whatHappened: "Something failed inside the gateway before it had an answer for you.",
    whatToDo: ["Go back and send the page again.", ASK_THE_OPERATOR],
  },
};

const RETRY_SECONDS = 60;

/** For an application that may have asked for a server which an operator has added. */
export function serversUnknownPage({ origin }: Pick<AuthContext, "origin">): Response {
  const view = problemView({
    title: "This server cannot be looked up",
    whatHappened: "It is not known right now which servers were added to this gateway.",
    whatToDo: [
      "Wait a minute, then go back to the application and connect again.",
      ASK_THE_OPERATOR,
    ],
  });
  const headers = new Headers({ "Retry-After": String(RETRY_SECONDS) });
  return page(view, { origin, status: 503, headers });
}

export function problemPage(
  { origin }: Pick<AuthContext, "origin">,
  { problem, sentence, reference, retryAfterSeconds }: Omit<Problem, "kind">,
): Response {
  const { status, ...words } = PROBLEMS[problem];
  const headers = new Headers();
  if (retryAfterSeconds !== undefined) headers.set("Retry-After", String(retryAfterSeconds));
  const whatHappened = sentence ?? words.whatHappened;
  return page(problemView({ ...words, whatHappened, reference }), { origin, status, headers });
}
