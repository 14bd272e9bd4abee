/** What a tool may ask on a page, and the answers in the shape of 2026-07-28. */

import { describe, test } from "vitest";

import { questionsIn, readAnswers } from "../../../src/pages/tool-questions.ts";

const ask = (params: unknown, method = "elicitation/create") => ({ method, params });
const visit = (url: unknown) => questionsIn({ v: ask({ mode: "url", message: "Go", url }) });

describe("questionsIn()", () => {
  test.for(["javascript:alert(1)", "data:text/html,x", "//x", " https://x", 7, undefined])(
    "makes no link of %j",
    (url, { expect }) => {
      expect(visit(url)).toBeUndefined();
    },
  );

  test("makes one of a page on the web", ({ expect }) => {
    expect(visit("https://a.example/")).toMatchObject([{ url: "https://a.example/", fields: [] }]);
  });

  test("answers all that a server asks at once, or nothing", ({ expect }) => {
    const form = ask({
      message: "Who?",
      requestedSchema: { type: "object", properties: { a: {} } },
    });
    expect(questionsIn({ form })).toHaveLength(1);
    expect(questionsIn({ form, model: ask({}, "sampling/createMessage") })).toBeUndefined();
    for (const odd of [undefined, null, [], { a: null }, { a: ask(undefined) }]) {
      expect(questionsIn(odd)?.length ?? 0).toBe(0);
    }
  });
});

describe("readAnswers()", () => {
  const questions =
    questionsIn({
      who: ask({ requestedSchema: { properties: { n: { type: "integer" } }, required: ["n"] } }),
      sure: ask({ requestedSchema: { type: "object" } }),
      visit: ask({ mode: "url", url: "https://a.example/" }),
    }) ?? [];
  const read = (fields: Record<string, string>) =>
    readAnswers(new URLSearchParams(fields), questions);

  test("keeps the fields of several questions apart", ({ expect }) => {
    expect(read({ action: "accept", "q0:n": "3", "q1:n": "4" })).toEqual({
      kind: "answers",
      responses: {
        who: { action: "accept", content: { n: 3 } },
        sure: { action: "accept", content: {} },
        visit: { action: "accept" },
      },
    });
  });

  test("asks again for what is wrong", ({ expect }) => {
    expect(read({ action: "accept", "q0:n": "x" })).toMatchObject({ kind: "errors" });
  });

  test.for([{}, { action: "decline" }, { action: "x", "q0:n": "1" }])(
    "takes %j for a no",
    (fields, { expect }) => {
      const no = { action: "decline" };
      expect(read(fields)).toEqual({
        kind: "answers",
        responses: { who: no, sure: no, visit: no },
      });
    },
  );
});
