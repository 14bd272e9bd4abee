/** Content that a client's revision does not know becomes content that it does. */

import { describe, test } from "vitest";

import { LEGACY_REVISIONS, type LegacyRevision } from "../../../../src/protocol/revisions.ts";
import { contentFor } from "../../../../src/protocol/revisions/to-legacy-result.ts";

const annotations = { audience: ["user"], priority: 0.5 };
const _meta = { "com.example/own": 1 };
const audio = { type: "audio", data: "UklGRg==", mimeType: "audio/wav", annotations, _meta };
const link = {
  ...{ type: "resource_link", uri: "file:///a.md", name: "a", title: "The A", size: 7 },
  ...{ description: "All of it", mimeType: "text/markdown", annotations, _meta, icons: [] },
};

/** Every type, and the revision that introduced it. */
const KNOWN: readonly { block: object; since: LegacyRevision }[] = [
  { block: { type: "text", text: "t", annotations, _meta }, since: "2024-11-05" },
  { block: { type: "image", data: "aaaa", mimeType: "image/png" }, since: "2024-11-05" },
  { block: { type: "resource", resource: { uri: "a:b", text: "t" } }, since: "2024-11-05" },
  { block: audio, since: "2025-03-26" },
  { block: link, since: "2025-06-18" },
];

describe.for(LEGACY_REVISIONS)("to %s", (revision) => {
  test.for(KNOWN.filter(({ since }) => since <= revision))(
    "$block.type stays as it is",
    ({ block }, { expect }) => {
      expect(contentFor(revision, block)).toEqual(block);
    },
  );

  test.for(KNOWN.filter(({ since }) => since > revision))(
    "$block.type becomes something else",
    ({ block }, { expect }) => {
      const translated = contentFor(revision, block);
      expect(["text", "resource"]).toContain((translated as { type?: string }).type);
      // The annotations of the content go to its replacement.
      expect(translated).toMatchObject({ annotations, _meta });
    },
  );

  test.for([
    { type: "video", data: "aaaa" },
    { type: "constructor" },
    { type: 7 },
    {},
    "text",
    null,
    [audio],
  ])("%j is of an unknown type, and stays", (block, { expect }) => {
    expect(contentFor(revision, block)).toBe(block);
  });
});

test("audio is embedded, and two of them are two resources", ({ expect }) => {
  expect([audio, audio].map((block, place) => contentFor("2024-11-05", block, place))).toEqual(
    ["edgeway:audio/0", "edgeway:audio/1"].map((uri) => ({
      type: "resource",
      resource: { uri, mimeType: "audio/wav", blob: "UklGRg==" },
      ...{ annotations, _meta },
    })),
  );
  const nameless = contentFor("2024-11-05", { type: "audio", data: "aaaa" });
  expect(nameless).toEqual({
    type: "resource",
    resource: { uri: "edgeway:audio/0", blob: "aaaa" },
  });
});

test.for([
  { name: "a title and a description", block: link, text: "The A: All of it\nfile:///a.md" },
  { name: "no title", block: { ...link, title: undefined }, text: "a: All of it\nfile:///a.md" },
  { name: "no description", block: { uri: "a:b", name: "n" }, text: "n\na:b" },
  { name: "an empty name", block: { uri: "a:b", name: "" }, text: "a:b" },
  { name: "wrong types", block: { uri: "a:b", name: 7, description: {} }, text: "a:b" },
  { name: "no URI", block: { name: "n" }, text: "n" },
])("a link with $name becomes a text with its URI", ({ block, text }, { expect }) => {
  expect(contentFor("2025-03-26", { ...block, type: "resource_link" })).toMatchObject({
    type: "text",
    text,
  });
});
