/** The capabilities that an error asks a client to declare, so that its questions can be put again. */

import { test } from "vitest";
import { undeclared } from "../../../../src/relay/modern-to-legacy/finish.ts";
import type { Call } from "../../../../src/protocol/exchange.ts";
import { form, ROOTS, SAMPLE } from "./bridged-call-world.ts";

const URL_PAGE: Call = { method: "elicitation/create", params: { mode: "url", url: "https://a" } };
const TOOLS: Call = { ...SAMPLE, params: { ...SAMPLE.params, tools: [] } };

const CASES = [
  { questions: [form()], required: { elicitation: { form: {} } } },
  { questions: [form(), URL_PAGE], required: { elicitation: { form: {}, url: {} } } },
  { questions: [SAMPLE], required: { sampling: {} } },
  { questions: [TOOLS, SAMPLE], required: { sampling: { tools: {} } } },
  { questions: [ROOTS, URL_PAGE], required: { roots: {}, elicitation: { url: {} } } },
];

test.for(CASES)("the error names $required, and no more", ({ questions, required }, { expect }) => {
  const named = questions.map((question, index): [string, Call] => [`r${index + 1}`, question]);
  expect(undeclared(Object.fromEntries(named))).toMatchObject({
    error: { code: -32021, data: { requiredCapabilities: required } },
  });
  const { error } = undeclared(Object.fromEntries(named)) as { error: { data: unknown } };
  expect(error.data).toEqual({ requiredCapabilities: required });
});
