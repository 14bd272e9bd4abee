/** What operators paste: addresses and the maps of clients. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { readPasted } from "../../../../src/config/registry/pasted.ts";
import type { Candidate, Left } from "../../../../src/observability/pasted-servers.ts";
import { EXPECTED, FILES, SECRET } from "../../../support/client-maps.ts";

/** @throws Error when nothing could be read. */
function itemsOf(pasted: unknown): readonly (Candidate | Left)[] {
  const read = readPasted(typeof pasted === "string" ? pasted : JSON.stringify(pasted));
  if (read.kind === "mistake") throw new Error(read.sentence);
  return read.items;
}

/** @throws Error when it is left out. */
function candidate(entry: object): Candidate {
  const [item] = itemsOf({ mcpServers: { a: entry } });
  if (item?.kind !== "candidate") throw new Error(item?.sentence);
  return item;
}

function sentenceFor(entry: object): string | undefined {
  const [item] = itemsOf({ mcpServers: { a: entry } });
  return item?.kind === "left" ? item.sentence : undefined;
}

const url = "https://a.example/mcp";

describe("an address", () => {
  test.for([
    ["https://mcp.linear.app/mcp", "linear"],
    [" https://docs.example.com/mcp\n", "docs"],
    ["http://localhost:3001/mcp", "localhost"],
    ["https://192.0.2.1/mcp", "server"],
    ["https://message.example/mcp", "server"],
  ] as const)("%s", ([text, slug], { expect }) => {
    expect(itemsOf(text)).toEqual([
      {
        ...{ kind: "candidate", slug, entry: { url: text.trim() }, fields: [], secrets: {} },
        ...{ remarks: [], provenance: { kind: "url" } },
      },
    ]);
  });

  test.for([
    "https://user:hunter2@a.example/mcp",
    "https://a.example/mcp?api_key=hunter2",
    "https://a.example/mcp?id=0123456789abcdef0123456789abcdef",
  ])("with a secret in it is left, and not quoted: %s", (text, { expect }) => {
    const [item] = itemsOf(text);
    expect(item).toMatchObject({
      kind: "left",
      sentence: expect.stringContaining("a secret in it"),
    });
    expect(JSON.stringify(item)).not.toMatch(/hunter2|0123456789/);
  });
});

describe("a client's map", () => {
  test.for(Object.entries(EXPECTED))("%s", ([file, { served, named }], { expect }) => {
    const items = itemsOf(FILES[`./client-maps/${file}`] ?? "");
    const slugs = items.flatMap((item) => (item.kind === "candidate" ? [item.slug] : []));
    expect(slugs).toEqual(expect.arrayContaining(Object.keys(served)));
    const { size } = new Set(Object.keys({ ...served, ...named }));
    expect(items.length).toBeGreaterThanOrEqual(size);
    for (const item of items) {
      const shown = { ...item, secrets: {} };
      expect(JSON.stringify(shown)).not.toContain(SECRET);
      if (item.kind === "left") expect(item.sentence).toMatch(/^[a-z0-9-]+[^\n]+\.$/);
    }
  });

  test("a member without braces, and an entry without a name", ({ expect }) => {
    expect(itemsOf(`"My GitHub": { "url": "${url}" },`)).toMatchObject([
      { slug: "my-github", label: "My GitHub", provenance: { kind: "map" } },
    ]);
    expect(itemsOf({ serverUrl: url, type: "http" })).toMatchObject([
      { slug: "a", entry: { url, type: "http" } },
    ]);
  });

  test("a program is left, with what to do", ({ expect }) => {
    expect(sentenceFor({ command: "npx", args: ["x"] })).toContain("needs a machine");
    expect(sentenceFor({ command: "npx", args: ["mcp-remote", url] })).toContain(url);
  });

  test("keys of which nothing comes are named, and rules that nobody knows keep a server out", ({
    expect,
  }) => {
    expect(candidate({ url, icon: "cat" }).remarks).toEqual([
      'a: nobody knows "icon", so nothing comes of it.',
    ]);
    expect(sentenceFor({ url, tools: { denied: ["x"] } })).toContain("denied");
    expect(sentenceFor({ url, auth: "oauth", oauth: { scope: 1 } })).toContain("a.oauth");
    expect(sentenceFor({ service: "DEMO" })).toContain("bindings are for MCP_SERVERS only");
  });
});

describe("what is left to fill in", () => {
  test.for([
    ["Bearer ${TOKEN}", "Bearer ${TOKEN}", "TOKEN"],
    ["${env:TOKEN}", "${TOKEN}", "TOKEN"],
    ["Bearer {env:TOKEN}", "Bearer ${TOKEN}", "TOKEN"],
    ["Bearer ${input:api-key}", "Bearer ${API_KEY}", "API_KEY"],
  ] as const)("%s is a secret that is asked for", ([given, template, name], { expect }) => {
    expect(candidate({ url, headers: { Authorization: given } })).toMatchObject({
      entry: { headers: { Authorization: template } },
      fields: [{ name, isSecret: true, isRequired: true }],
      secrets: {},
    });
  });

  test("the default of a placeholder is kept as a secret", ({ expect }) => {
    expect(candidate({ url, headers: { "X-A": "${A:-hunter2}", "X-B": "${B:-}" } })).toMatchObject({
      entry: { headers: { "X-A": "${A}", "X-B": "${B}" } },
      fields: [
        { name: "A", isRequired: false },
        { name: "B", isRequired: false },
      ],
      secrets: { A: "hunter2" },
    });
  });

  test("a placeholder in the address is a field that is shown, unless it names a secret", ({
    expect,
  }) => {
    expect(candidate({ url: "${BASE:-https://a.example}/mcp/${TENANT}" })).toMatchObject({
      entry: { url: "${BASE}/mcp/${TENANT}" },
      fields: [
        { name: "BASE", isSecret: false, isRequired: true, initial: "https://a.example" },
        { name: "TENANT", isSecret: false, isRequired: true },
      ],
    });
    expect(sentenceFor({ url: `${url}?key=\${API_KEY}` })).toContain("has a secret in it");
  });

  test("what only a client can fill in is named", ({ expect }) => {
    expect(sentenceFor({ url, headers: { A: "${command:x}" } })).toContain("only a client");
    expect(sentenceFor({ url: "${file:x}" })).toContain("only a client");
  });
});

describe("a secret that was pasted", () => {
  test("is taken out of the entry", ({ expect }) => {
    const headers = { Authorization: "Bearer hunter2", "x-api-key": "hunter3", "X-Region": "eu" };
    const oauth = { clientId: "c", clientSecret: "hunter4" };
    const read = candidate({ url, headers, auth: "oauth", oauth });
    expect(read.entry).toEqual({
      ...{ url, auth: "oauth", oauth: { clientId: "c", clientSecret: "${CLIENTSECRET}" } },
      headers: {
        Authorization: "Bearer ${AUTHORIZATION}",
        "x-api-key": "${X_API_KEY}",
        "X-Region": "eu",
      },
    });
    const secrets = { AUTHORIZATION: "hunter2", X_API_KEY: "hunter3", CLIENTSECRET: "hunter4" };
    expect(read.secrets).toEqual(secrets);
    expect(read.fields.map(({ isSecret, isRequired }) => [isSecret, isRequired])).toEqual([
      [true, false],
      [true, false],
      [true, false],
    ]);
  });

  test("has no name that a placeholder has", ({ expect }) => {
    const headers = { Authorization: "Bearer hunter2", "X-Other": "${AUTHORIZATION}" };
    expect(candidate({ url, headers })).toMatchObject({
      entry: {
        headers: { Authorization: "Bearer ${AUTHORIZATION_2}", "X-Other": "${AUTHORIZATION}" },
      },
      secrets: { AUTHORIZATION_2: "hunter2" },
    });
  });

  test("beside a placeholder keeps its server out", ({ expect }) => {
    const value = "0123456789abcdef0123456789abcdef${X}";
    const sentence = sentenceFor({ url, headers: { "X-Id": value } });
    expect(sentence).toContain("beside a placeholder");
    expect(sentence).not.toContain("0123");
  });

  test("stands nowhere but among the secrets, whatever the header", ({ expect }) => {
    const secretive = fc.constantFrom(
      "Authorization",
      "X-API-Key",
      "Cookie",
      "x-auth",
      "Api-Token",
    );
    const token = fc.stringMatching(/^[A-Za-z0-9._~+/-]{3,40}$/).map((text) => `!${text}`);
    fc.assert(
      fc.property(
        secretive,
        token,
        fc.constantFrom("", "Bearer ", "basic "),
        (name, text, scheme) => {
          const { secrets, ...shown } = candidate({ url, headers: { [name]: scheme + text } });
          expect(Object.values(secrets)).toEqual([text]);
          expect(JSON.stringify(shown)).not.toContain(text);
        },
      ),
    );
  });
});

function many(count: number): object {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`s${n}`, { url }]));
}

describe("bounds", () => {
  test.for([
    ["", "Paste an address"],
    ["hello", "neither an address"],
    ["[1]", "neither an address"],
    ["{}", "There is no server"],
    [" ".repeat(9) + "x".repeat(65_537), "more than 64 KiB"],
    [`${'{"mcp":'.repeat(40)}1${"}".repeat(40)}`, "nested too deeply"],
    [JSON.stringify(many(51)), "There are 51 servers in this; paste at most 50 at once."],
  ] as const)("%#: %s", ([text, sentence], { expect }) => {
    expect(readPasted(text)).toEqual({
      kind: "mistake",
      sentence: expect.stringContaining(sentence),
    });
  });

  test("fifty are read", ({ expect }) => {
    expect(itemsOf(many(50))).toHaveLength(50);
  });

  test("nothing that is pasted throws", ({ expect }) => {
    const json = fc.json({ maxDepth: 4 });
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          json,
          json.map((text) => `{"mcpServers":${text}}`),
        ),
        (text) => {
          expect(["read", "mistake"]).toContain(readPasted(text).kind);
        },
      ),
    );
  });
});
