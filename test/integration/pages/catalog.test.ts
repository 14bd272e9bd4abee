/** `/catalog` without sign-in: what the lists of clients have, and nothing that the policy hides. */

import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, test } from "vitest";

import { Browser, type Page } from "../../support/oauth-browser.ts";
import type { Json } from "../../support/scripted-upstream-script.ts";
import { setLimits } from "../own-limits.ts";
import { takeSeveral } from "../several-servers.ts";
import { Upstream } from "../upstream.ts";

const ORIGIN = "http://localhost:8787";
const browser = new Browser(ORIGIN, (url, sent) =>
  exports.default.fetch(new Request(url, { ...sent, redirect: "manual" })),
);

const schema = { type: "object", properties: { q: { type: "string", description: "Words" } } };
const tool = (name: string, more = {}) => ({ name, inputSchema: schema, ...more });
const DEAD = [{ status: 0, isLasting: true }] as const;
const ICON = `data:image/svg+xml;base64,${btoa("<svg onload=alert(1) />")}`;
const BREAKING = `<img src=x onerror=alert(1)></script>"'`;

let open: Upstream;
let strict: Upstream;
let large: Upstream;
let down: Upstream;
let refused: Upstream;

/** The entry of a server at which the gateway has an account of its own, with a wrong secret. */
async function wrongSecret(): Promise<Json> {
  const answer = { status: 401, pieces: ['{"error":"invalid_client"}'], isLasting: true } as const;
  const headers = { "Content-Type": "application/json" };
  const reactions = { response: [{ ...answer, headers }] };
  const { slug } = await Upstream.take({ server: "modern", reactions });
  const servers = JSON.parse(String(env["MCP_SERVERS"])) as Record<string, Json>;
  const tokenEndpoint = servers[slug]?.["url"];
  const oauth = { issuer: ORIGIN, tokenEndpoint, clientId: "c", clientSecret: "wrong" };
  return { auth: "client-credentials", oauth };
}

beforeAll(async () => {
  // Nothing is left out of a page because the machine is busy.
  setLimits({ catalogWaitMilliseconds: 60_000 });
  const tools = [
    tool("find", { title: "Find things", annotations: { readOnlyHint: true } }),
    tool("wipe", {
      ...{ description: BREAKING, annotations: { destructiveHint: true } },
      icons: [{ src: ICON, mimeType: "image/svg+xml" }],
    }),
    tool("a/b?c", { annotations: { destructiveHint: false }, title: BREAKING }),
  ];
  const many = Array.from({ length: 250 }, (_, n) => tool(`tool-${n}`));
  const entry = await wrongSecret();
  [open, strict, large, down, refused] = (await takeSeveral([
    { script: { server: "modern", tools } },
    {
      script: { server: "legacy", tools: [tool("seen"), tool("secret_a")] },
      entry: { tools: { deny: ["secret*"] } },
    },
    { script: { server: "modern", tools: many } },
    {
      script: {
        server: "modern",
        reactions: { "server/discover": DEAD, initialize: DEAD, GET: DEAD, "tools/list": DEAD },
      },
    },
    { script: { server: "modern", tools }, entry },
  ])) as [Upstream, Upstream, Upstream, Upstream, Upstream];
});

const visit = (path: string): Promise<Page> => browser.visit(path);

describe("the catalog", () => {
  test("has each server with its tools, and what they do", async ({ expect }) => {
    const { status, text, html } = await visit("/catalog");
    expect(status).toBe(200);
    expect(text).toContain("Find things Reads");
    expect(text).toContain("wipe Can destroy");
    expect(text).toContain("3 tools");
    expect(html).toContain(`href="/catalog/${open.slug}/find"`);
    expect(text).toContain("tool-0");
    expect(text).toContain(`Show all 250 of`);
    expect(text).not.toContain("tool-200");
  });

  test("needs no script, and lets none in", async ({ expect }) => {
    const { headers, html } = await visit("/catalog");
    expect(html).not.toContain("<script");
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(headers.get("content-security-policy")).not.toContain("script-src");
  });

  test("is searched on the server", async ({ expect }) => {
    const { text } = await visit("/catalog?q=THINGS%20find");
    expect(text).toContain("1 match");
    expect(text).toContain("Find things");
    expect(text).not.toContain("wipe");
    const nothing = await visit("/catalog?q=%3Cb%3Enothing");
    expect(nothing.text).toContain("Nothing has <b>nothing in it");
    // Of these, nobody knows whether they have it.
    const left = `Not searched: ${down.slug} (not available), ${refused.slug} (not available)`;
    for (const page of [text, nothing.text]) expect(page).toContain(left);
    expect((await visit("/catalog")).text).not.toContain("Not searched");
    expect((await visit(`/catalog/${down.slug}?q=x`)).text).not.toContain("Nothing has");
  });

  test("P1: has no word of what the policy hides, in lists, searches and by its address", async ({
    expect,
  }) => {
    const paths = ["/catalog", "/catalog?q=secret", `/catalog/${strict.slug}`];
    for (const path of [...paths, `/catalog/${strict.slug}?q=ret_a`]) {
      const { text } = await visit(path);
      expect(text).not.toContain("secret_a");
    }
    const hidden = await visit(`/catalog/${strict.slug}/secret_a`);
    const unknown = await visit(`/catalog/${strict.slug}/nonsense`);
    const nonce = /nonce="[^"]+"/g;
    expect(hidden.status).toBe(404);
    expect(hidden.html.replaceAll(nonce, "")).toBe(unknown.html.replaceAll(nonce, ""));
    expect((await visit(`/catalog/${strict.slug}/seen`)).status).toBe(200);
  });

  test("comes in pages", async ({ expect }) => {
    const path = `/catalog/${large.slug}`;
    const [first, last, beyond] = await Promise.all(
      ["", "?page=3", "?page=99"].map((query) => visit(path + query)),
    );
    expect(first?.text).toContain("Page 1 of 3");
    expect(first?.text).toContain("tool-99");
    expect(first?.text).not.toContain("tool-100");
    expect(last?.text).toContain("tool-249");
    expect(beyond?.text).toBe(last?.text);
    expect((await visit(`${path}?q=tool-24`)).text).toContain("tool-249");
  });

  test("shows one tool with its schema, whatever its name", async ({ expect }) => {
    const page = await visit(`/catalog/${open.slug}/${encodeURIComponent("a/b?c")}`);
    expect(page.status).toBe(200);
    expect(page.text).toContain("a/b?c");
    expect(page.text).toContain("q string Words");
    expect(page.text).toContain("It adds or changes, and destroys nothing.");
  });

  test("P4: shows the markup of a server as text, and none of its icons", async ({ expect }) => {
    const page = await visit(`/catalog/${open.slug}/wipe`);
    for (const { html } of [page, await visit("/catalog"), await visit(`/catalog/${open.slug}`)]) {
      expect(html).not.toContain("<img");
      expect(html).not.toContain(ICON);
    }
    expect(page.text).toContain(BREAKING);
  });

  test("says which server does not answer, beside those that do", async ({ expect }) => {
    const { text } = await visit("/catalog");
    expect(text).toMatch(new RegExp(`${down.slug} Not available`));
    expect(text).toContain(`Upstream "${down.slug}"`);
    expect((await visit(`/catalog/${down.slug}`)).status).toBe(200);
    const tool = await visit(`/catalog/${down.slug}/find`);
    expect([tool.status, tool.text]).toEqual([
      503,
      expect.stringMatching(new RegExp(`${down.slug} Not available.*Upstream "${down.slug}"`)),
    ]);
    // Of a server to which this person has no account, nothing is shown.
    expect((await visit(`/catalog/${refused.slug}/find`)).status).toBe(404);
  });

  test("of a gateway whose own account does not work leads to the page that says why", async ({
    expect,
  }) => {
    for (const path of ["/catalog", `/catalog/${refused.slug}`]) {
      const { text, html } = await visit(path);
      expect(text).toContain("The gateway’s own account there does not work.");
      expect(text).not.toContain("your account there");
      expect(html).not.toContain(`/connect/${refused.slug}`);
      expect(html).toContain(`href="/admin/servers/${refused.slug}"`);
    }
    const { text } = await visit(`/admin/servers/${refused.slug}`);
    expect(text).toMatch(/does not work: .*(secret|client)/);
  });

  test("does not exist for servers that are not configured", async ({ expect }) => {
    expect((await visit("/catalog/nowhere")).status).toBe(404);
    expect((await visit("/catalog/nowhere/find")).status).toBe(404);
    expect((await visit("/catalog/constructor")).status).toBe(404);
  });

  test("is one of the two pages that there are without sign-in", async ({ expect }) => {
    const { html } = await visit("/");
    expect(html).toContain('href="/catalog"');
    expect(html).not.toContain('href="/account"');
  });
});
