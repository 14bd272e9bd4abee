/** Changing an added server: a secret stays with the origin that it was given for, and nothing else is lost. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { editableOf, editServer } from "../../../../src/config/registry/edit-server.ts";
import type { ServerEdit } from "../../../../src/observability/edited-servers.ts";

const before = {
  slug: "tea",
  label: "Tea",
  entry: {
    url: "https://tea.example/mcp",
    headers: {
      Authorization: "Bearer ${TOKEN}",
      "X-Pair": "${TOKEN}:${OTHER}",
      "X-Region": "eu",
    },
    tools: { deny: ["pour"] },
    prefix: "t_",
  },
};
const kept = { TOKEN: "old-token", OTHER: "old-other" };
const unchanged: ServerEdit = { label: "Tea", url: before.entry.url, headers: {}, secrets: {} };

function edited(edit: Partial<ServerEdit>, secrets: typeof kept | undefined = kept) {
  const outcome = editServer(before, secrets, { ...unchanged, ...edit });
  if (outcome.kind === "mistakes") throw new Error(outcome.sentences.join(" "));
  return outcome;
}

function mistakes(edit: Partial<ServerEdit>, secrets: typeof kept | undefined): readonly string[] {
  const outcome = editServer(before, secrets, { ...unchanged, ...edit });
  return outcome.kind === "mistakes" ? outcome.sentences : [];
}

function boundSecret(name: string): string {
  return `"${name}" was given for https://tea.example. Enter it again, or remove it.`;
}

describe("what can be changed of a server", () => {
  test("names each secret with where it is sent, and everything that stays", ({ expect }) => {
    expect(editableOf(before.entry)).toEqual({
      url: "https://tea.example/mcp",
      headers: [["X-Region", "eu"]],
      secrets: [
        {
          name: "TOKEN",
          uses: ["Authorization: Bearer ${TOKEN}", "X-Pair: ${TOKEN}:${OTHER}"],
          isLong: false,
        },
        { name: "OTHER", uses: ["X-Pair: ${TOKEN}:${OTHER}"], isLong: false },
      ],
      auth: "headers",
      others: ["tools", "prefix"],
    });
  });

  test("has no way to know callers where the gateway has an account of its own", ({ expect }) => {
    const oauth = { clientId: "x", clientSecret: "${CLIENT_SECRET}" };
    const entry = { url: "https://a.example/mcp", auth: "client-credentials", oauth };
    expect(editableOf(entry)).toMatchObject({
      secrets: [{ name: "CLIENT_SECRET", uses: ["oauth.clientSecret = ${CLIENT_SECRET}"] }],
      others: ["oauth"],
    });
    expect(editableOf(entry).auth).toBeUndefined();
  });
});

describe("an edit", () => {
  test("that changes nothing has no difference", ({ expect }) => {
    const { kind: _, ...outcome } = edited({});
    expect(outcome).toEqual({
      ...{ label: "Tea", entry: before.entry, secrets: kept, differences: [], reach: "same" },
    });
  });

  test("of the label alone leaves the way to it as it is", ({ expect }) => {
    expect(edited({ label: " Green tea " })).toMatchObject({
      label: "Green tea",
      reach: "same",
      differences: [{ what: "Label", before: "Tea", after: "Green tea" }],
    });
    expect(edited({ label: "" }).label).toBeUndefined();
  });

  test("replaces one secret, and keeps the other", ({ expect }) => {
    const { secrets, reach, differences } = edited({
      secrets: { TOKEN: { kind: "replaced", value: "new-token" } },
    });
    expect([secrets, reach]).toEqual([{ TOKEN: "new-token", OTHER: "old-other" }, "changed"]);
    expect(differences).toEqual([{ what: "Secret TOKEN", before: "set", after: "another value" }]);
  });

  test("removes a secret with every header that has it", ({ expect }) => {
    const { entry, secrets } = edited({ secrets: { TOKEN: { kind: "removed" } } });
    expect(entry["headers"]).toEqual({ "X-Region": "eu" });
    expect(secrets).toEqual({});
  });

  test("takes a header out, changes one, and adds one, which is sealed unless it need not be", ({
    expect,
  }) => {
    expect(edited({ headers: { "X-Region": "" } }).entry["headers"]).not.toHaveProperty("X-Region");
    expect(edited({ headers: { "X-Region": "us" } }).entry["headers"]).toMatchObject({
      "X-Region": "us",
    });
    const added = (name: string, value: string, isSecret: boolean) =>
      edited({ newHeader: { name, value, isSecret } });
    const plain = added("X-Plan", "big", false);
    expect([plain.entry["headers"], plain.secrets]).toMatchObject([{ "X-Plan": "big" }, kept]);
    const sealed = added("X-Plan", "big", true);
    expect(sealed.entry["headers"]).toMatchObject({ "X-Plan": "${X_PLAN}" });
    expect(sealed.secrets).toEqual({ ...kept, X_PLAN: "big" });
    // Its name says that it is one, and the name of another secret is not taken.
    const token = added("Token", "Bearer abc", false);
    expect(token.entry["headers"]).toMatchObject({ Token: "Bearer ${TOKEN_2}" });
    expect(token.secrets).toEqual({ ...kept, TOKEN_2: "abc" });
  });

  test("makes a secret of a value in which ${NAME} stands, which would mean another one", ({
    expect,
  }) => {
    const { entry, secrets } = edited({ headers: { "X-Region": "${TOKEN}" } });
    expect(entry["headers"]).toMatchObject({ "X-Region": "${X_REGION}" });
    expect(secrets).toMatchObject({ X_REGION: "${TOKEN}" });
  });

  test("keeps secrets at another path of the same origin", ({ expect }) => {
    const outcome = edited({ url: "https://TEA.example:443/v2/mcp" });
    expect([outcome.reach, outcome.secrets]).toEqual(["changed", kept]);
  });

  test.for([
    "https://tea.example.evil.example/mcp",
    "https://tea.example:8443/mcp",
    "http://tea.example/mcp",
    "https://www.tea.example/mcp",
  ])("gives no kept secret to %s", (url, { expect }) => {
    expect(mistakes({ url }, kept)).toEqual([boundSecret("TOKEN"), boundSecret("OTHER")]);
    const again = { TOKEN: { kind: "replaced", value: "n1" } } as const;
    expect(mistakes({ url, secrets: again }, kept)).toEqual([boundSecret("OTHER")]);
    const outcome = edited({ url, secrets: { ...again, OTHER: { kind: "removed" } } });
    expect([outcome.reach, outcome.secrets]).toEqual(["moved", { TOKEN: "n1" }]);
  });

  test.for(["constructor", "toString", "__proto__"])(
    "gives no kept secret with the name %s to another origin",
    (name, { expect }) => {
      const entry = { url: "https://a.example/mcp", headers: { X: `\${${name}}` } };
      const secrets = Object.fromEntries([[name, "old"]]);
      const outcome = editServer({ slug: "a", entry }, secrets, {
        ...{ label: "", url: "https://b.example/mcp", headers: {}, secrets: {} },
      });
      expect(outcome).toMatchObject({
        kind: "mistakes",
        sentences: [expect.stringContaining("was given for")],
      });
    },
  );

  test("that keeps a secret which no key opens is refused, and one that enters it is not", ({
    expect,
  }) => {
    expect(mistakes({ label: "x" }, undefined)).toEqual([
      'No key that is set opens "TOKEN". Enter it again, or remove it.',
      'No key that is set opens "OTHER". Enter it again, or remove it.',
    ]);
    const secrets = {
      TOKEN: { kind: "replaced", value: "n1" },
      OTHER: { kind: "replaced", value: "n2" },
    } as const;
    expect(edited({ secrets }, undefined).secrets).toEqual({ TOKEN: "n1", OTHER: "n2" });
  });

  test("of what is no address, or has a secret in it, is refused", ({ expect }) => {
    expect(mistakes({ url: "tea" }, kept)[0]).toBe(
      "tea.url must be an absolute http or https URL.",
    );
    expect(mistakes({ url: "https://tea.example/mcp?token=abc" }, kept)[0]).toContain(
      "has a secret in it",
    );
  });

  test.for([
    ["x-region", "us", 'There is a header "x-region" already.'],
    ["", "us", "A new header needs a name and a value."],
    ["X-Plan", " ", "A new header needs a name and a value."],
  ] as const)("adds no header %j of %j", ([name, value, sentence], { expect }) => {
    expect(mistakes({ newHeader: { name, value, isSecret: false } }, kept)).toEqual([sentence]);
  });

  test("of the way to know callers takes the tables of the other way with it", ({ expect }) => {
    const oauth = { clientId: "x", clientSecret: "${CLIENT_SECRET}" };
    const entry = { url: "https://a.example/mcp", auth: "oauth", oauth };
    const one = { slug: "a", entry };
    const edit = { ...unchanged, label: "", url: entry.url };
    const secrets = { CLIENT_SECRET: "s" };
    expect(editServer(one, secrets, { ...edit, auth: "oauth-shared" })).toMatchObject({
      ...{ entry: { auth: "oauth-shared", oauth }, secrets, reach: "changed" },
    });
    expect(editServer(one, secrets, { ...edit, auth: "key" })).toMatchObject({
      ...{ entry: { url: entry.url, auth: "key" }, secrets: {} },
    });
    expect(editServer(one, secrets, { ...edit, auth: "headers" })).toMatchObject({
      differences: [
        {
          what: "Knows callers by",
          before: "each person’s own account",
          after: "the headers here",
        },
      ],
    });
  });

  test("never shows a secret, and never gives a kept one to another origin, whatever is typed", ({
    expect,
  }) => {
    const origins = ["https://tea.example/x", "https://tea.example", "https://a.example/mcp"];
    const change = fc.option(
      fc.oneof(
        fc.constant({ kind: "removed" } as const),
        fc.record({ kind: fc.constant("replaced" as const), value: fc.constant("<new>") }),
      ),
      { nil: undefined },
    );
    fc.assert(
      fc.property(
        ...[fc.constantFrom(...origins), change, change, fc.string({ maxLength: 12 })],
        fc.option(fc.record({ name: fc.string(), value: fc.string(), isSecret: fc.boolean() }), {
          nil: undefined,
        }),
        (url, token, other, region, newHeader) => {
          const secrets = {
            ...(token !== undefined && { TOKEN: token }),
            ...(other !== undefined && { OTHER: other }),
          };
          const more = newHeader === undefined ? {} : { newHeader };
          const outcome = editServer(before, kept, {
            ...unchanged,
            ...{ url, secrets, headers: { "X-Region": region }, ...more },
          });
          const { secrets: sealed = {}, ...shown } = { secrets: undefined, ...outcome };
          expect(JSON.stringify(shown)).not.toMatch(/old-token|old-other|<new>/);
          if (outcome.kind === "edited" && outcome.reach === "moved") {
            expect(JSON.stringify(sealed)).not.toMatch(/old-token|old-other/);
          }
        },
      ),
    );
  });
});
