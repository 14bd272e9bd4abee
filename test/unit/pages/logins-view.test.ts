/** The steps of an attempt to sign in, as the login doctor shows them. */

import { test } from "vitest";

import { loginTraceView } from "../../../src/pages/view/logins-view.ts";
import { textOf } from "../../support/oauth-html.ts";
import { MODELS } from "../../support/page-models.ts";

test.for([
  [999, "+999 ms"],
  [1000, "+1.0 s"],
  [59_949, "+59.9 s"],
  [59_950, "+1 min 0 s"],
  [61_400, "+1 min 1 s"],
  [119_499, "+1 min 59 s"],
  [119_600, "+2 min 0 s"],
] as const)("a step %d ms after the first stands at %s", ([ms, words], { expect }) => {
  const { startedAt } = MODELS.trace;
  const step = { title: "Came", detail: undefined, outcome: "noted" } as const;
  const steps = [0, ms].map((after) => ({ ...step, at: startedAt + after }));
  const text = textOf(String(loginTraceView({ ...MODELS.trace, steps }).body));
  expect(text).toContain(`Came +0 ms Came ${words}`);
});
