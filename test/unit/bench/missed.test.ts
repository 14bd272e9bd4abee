/** Each target that is missed has a paragraph that says why, and no other has one. */

import { test } from "vitest";

import { unexplained } from "../../../bench/missed.ts";

const documentOf = (outcome: string, paragraphs: string): string => `# Benchmarks

<!-- targets: from npm run bench -- --write -->

| target | against | measured | wanted |  |
|---|---|---|---|--:|
| Quick | another \\| one | 0.50 | at least 0.9 | ${outcome} |
| Small | another | 0.50 | at most 0.9 | met |

<!-- end of targets -->

${paragraphs}

## Measurements

- **Quick** is said elsewhere.
`;

test("a missed target wants a paragraph below the table", ({ expect }) => {
  const [sentence = "", ...more] = unexplained(documentOf("missed", "- **Other**: no."));
  expect(sentence).toContain('"Quick" is missed');
  expect(more).toEqual([]);
  expect(unexplained(documentOf("missed", "- **Quick**: it is slow."))).toEqual([]);
});

test("one paragraph may be about several", ({ expect }) => {
  expect(unexplained(documentOf("missed", "- **Slow** and **Quick**: the same."))).toEqual([]);
});

test("a target that is met wants none", ({ expect }) => {
  expect(unexplained(documentOf("met", ""))).toEqual([]);
  const [sentence = ""] = unexplained(documentOf("met", "- **Quick**: it is slow."));
  expect(sentence).toContain('"Quick" is met');
});

test("what was not measured wants none, and keeps the one that it has", ({ expect }) => {
  expect(unexplained(documentOf("not measured", ""))).toEqual([]);
  expect(unexplained(documentOf("not measured", "- **Quick**: it is slow."))).toEqual([]);
});

test("a document without a table of targets is no document", ({ expect }) => {
  expect(() => unexplained("# Benchmarks")).toThrow('has no block "targets"');
});
