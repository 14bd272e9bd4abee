/** An edit that was kept before: it says nothing that the server has not. */

import { describe, test } from "vitest";

import { editServer } from "../../../../src/config/registry/edit-server.ts";
import { isEdited } from "../../../../src/config/registry/is-edited.ts";
import type { ServerEdit } from "../../../../src/observability/edited-servers.ts";

const before = {
  slug: "tea",
  label: "Tea",
  entry: {
    url: "https://tea.example/mcp",
    headers: { Authorization: "Bearer ${TOKEN}", "X-Region": "eu", "X-House": "green" },
  },
};
const secrets = { TOKEN: "old-token" };
const unchanged: ServerEdit = { label: "Tea", url: before.entry.url, headers: {}, secrets: {} };

function kept(edit: ServerEdit): readonly [Parameters<typeof isEdited>[0], typeof secrets] {
  const outcome = editServer(before, secrets, edit);
  if (outcome.kind === "mistakes") throw new Error(outcome.sentences.join(" "));
  const { label, entry } = outcome;
  return [{ entry, ...(label !== undefined && { label }) }, outcome.secrets as typeof secrets];
}

const LONG = "a-value-that-nobody-would-have-chosen";
const newHeader = { name: "X-Tea", value: "sencha", isSecret: true };
const EDITS: readonly (readonly [what: string, edit: Partial<ServerEdit>])[] = [
  ["a label", { label: "Tea house" }],
  ["no label", { label: " " }],
  ["an address", { url: " https://tea.example/other " }],
  ["a header", { headers: { "X-Region": " us " } }],
  ["a header less", { headers: { "X-Region": "", "X-House": "green" } }],
  ["a header that looks like a secret", { headers: { "X-Region": LONG } }],
  ["another secret", { secrets: { TOKEN: { kind: "replaced", value: "new-token" } } }],
  ["no secret", { secrets: { TOKEN: { kind: "removed" } } }],
  ["a new header", { newHeader: { ...newHeader, isSecret: false } }],
  ["a new header with a scheme", { newHeader: { ...newHeader, value: `Bearer ${LONG}` } }],
  ["a new header that is secret", { newHeader }],
  ["a way to know callers", { auth: "oauth" }],
];

describe("an edit", () => {
  test.for(EDITS)("is done once it was kept, and not before: %s", ([, edit], { expect }) => {
    const whole = { ...unchanged, ...edit };
    expect(isEdited(before, secrets, whole)).toBe(false);
    expect(isEdited(...kept(whole), whole)).toBe(true);
  });

  test.for<readonly [what: string, one: Partial<ServerEdit>, other: Partial<ServerEdit>]>([
    [
      "the value of a secret",
      { secrets: { TOKEN: { kind: "replaced", value: "new-token" } } },
      { secrets: { TOKEN: { kind: "replaced", value: "other-token" } } },
    ],
    [
      "a secret that is gone",
      { secrets: { TOKEN: { kind: "removed" } } },
      { secrets: { TOKEN: { kind: "replaced", value: "new-token" } } },
    ],
    [
      "what a header became a secret for",
      { headers: { "X-Region": LONG } },
      { headers: { "X-Region": `${LONG}-either` } },
    ],
    ["the value of a new header", { newHeader }, { newHeader: { ...newHeader, value: "black" } }],
    [
      "that a new header is a secret",
      { newHeader: { ...newHeader, isSecret: false } },
      { newHeader },
    ],
  ])("is another one that differs by %s", ([, one, other], { expect }) => {
    expect(isEdited(...kept({ ...unchanged, ...one }), { ...unchanged, ...other })).toBe(false);
  });
});
