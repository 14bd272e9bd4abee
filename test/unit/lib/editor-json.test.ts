import { test } from "vitest";

import { parseEditorJson } from "../../../src/lib/editor-json.ts";

test("JSON is parsed as editors keep it, with comments and commas", ({ expect }) => {
  const text = String.raw`{ // one
    "a": "x // \" y", /* two
    */ "b": [1, 2,], "c,}": ",]", }`;
  expect(parseEditorJson(text)).toEqual({ a: 'x // " y', b: [1, 2], "c,}": ",]" });
  expect(parseEditorJson(`\uFEFF${text}`)).toEqual(parseEditorJson(text));
  expect(parseEditorJson("\uFEFF\uFEFF{}")).toBeUndefined();
  expect(parseEditorJson("{a: 1}")).toBeUndefined();
});
