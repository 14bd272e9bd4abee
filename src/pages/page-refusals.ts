/**
 * Responses to requests for pages that do not exist or are not allowed, and to forms that no page
 * of ours sent.
 */

import type { AuthContext } from "../auth/context/context.ts";
import { page } from "./respond.ts";
import { notFoundView } from "./view/ends.ts";
import { problemView } from "./view/problem-view.ts";

type Where = Pick<AuthContext, "origin">;

/**
 * The same response for things that never existed, that are gone, and that belong to another user.
 */
export function notFound({ origin }: Where): Response {
  return page(notFoundView(), { origin, status: 404 });
}

/** Cross-site request forgery, or a page that was left open over a sign-in. */
export function foreignForm({ origin }: Where): Response {
  return refusal(origin, 403, {
    title: "This form is out of date",
    whatHappened: "It does not come from a page that this sign-in was shown.",
    whatToDo: ["Go back, load the page again, and try once more."],
  });
}

export function unreadableForm({ origin }: Where): Response {
  return refusal(origin, 400, {
    title: "This form cannot be read",
    whatHappened: "Something is missing in what was sent.",
    whatToDo: ["Go back, load the page again, and try once more."],
  });
}

export function adminsOnly({ origin }: Where): Response {
  return refusal(origin, 403, {
    title: "For administrators",
    whatHappened: "You are signed in, but not as an administrator.",
    whatToDo: ["Whoever runs this gateway can make you one."],
  });
}

export function notYourself({ origin }: Where): Response {
  return refusal(origin, 400, {
    title: "That is you",
    whatHappened: "You cannot disable yourself: nobody might be left who can undo it.",
    whatToDo: ["Another administrator can."],
  });
}

interface Words {
  readonly title: string;
  readonly whatHappened: string;
  readonly whatToDo: readonly string[];
}

function refusal(origin: string, status: number, words: Words): Response {
  const view = problemView({ ...words, reference: undefined, returnTo: undefined });
  return page(view, { origin, status });
}
