/** The tools on the page of a server: what hides each, and how one is denied to everybody and allowed again. */

// Has an isolate of its own: it lists the servers that its scripts are for.
import { env } from "cloudflare:workers";
import { beforeAll, describe, test, vi } from "vitest";

import { serverStoreIn } from "../../../durable-objects/live-config.ts";
import { Browser, type Page } from "../../support/oauth-browser.ts";
import type { Json } from "../../support/scripted-upstream-script.ts";
import { modern, send, Session } from "../client.ts";
import { responseIn } from "../event-reader.ts";
import { takeSeveral } from "../several-servers.ts";
import type { Upstream } from "../upstream.ts";

const ORIGIN = "http://localhost:8787";
const browser = new Browser(ORIGIN, (url, sent) => send(url, { ...sent, redirect: "manual" }));
const tool = (name: string): Json => ({ name, inputSchema: { type: "object" } });
/** Names with characters that turn the text around them: no page has those in it. */
const TURNED = ["wipe", "wipe\u200e", "\u202ewipe"];
const capabilities = { tools: {} };

let few: Upstream;
let many: Upstream;
let full: Upstream;
let turned: Upstream;

beforeAll(async () => {
  const names = ["read", "write", "secret_1", "secret_2", "other"];
  const rules = { allow: ["read", "write", "secret_1"], deny: ["secret_*"] };
  const numbered = Array.from({ length: 230 }, (_, n) => tool(`tool-${n}`));
  [few, many, full, turned] = (await takeSeveral([
    {
      script: { server: "modern", capabilities, tools: names.map(tool) },
      entry: { tools: rules },
    },
    { script: { server: "modern", capabilities, tools: numbered } },
    { script: { server: "modern", capabilities, tools: [tool("last")] } },
    { script: { server: "modern", capabilities, tools: TURNED.map(tool) } },
  ])) as [Upstream, Upstream, Upstream, Upstream];
});

const pathOf = ({ slug }: Upstream): string => `/admin/servers/${slug}`;
const visit = (upstream: Upstream, query = ""): Promise<Page> =>
  browser.visit(pathOf(upstream) + query);

async function press(upstream: Upstream, button: string, query = ""): Promise<Page> {
  return browser.submit(await visit(upstream, query), { button });
}

async function namesAt(mcp: string): Promise<readonly unknown[]> {
  const { result } = await responseIn(await modern({ mcp }, "tools/list"));
  return ((result?.["tools"] ?? []) as readonly Json[]).map(({ name }) => name);
}

/** What a client of each era is told of a call, without the ids of the request and the names. */
async function refusals(mcp: string, prefix: string, name: string): Promise<readonly unknown[]> {
  const params = { name: prefix + name, arguments: {} };
  const now = await responseIn(await modern({ mcp }, "tools/call", params));
  const session = await Session.inUse(mcp);
  const before = await responseIn(await session.request("tools/call", params));
  return [now.error, before.error].map((error) => JSON.stringify(error).replaceAll(name, "NAME"));
}

describe("the page of a server", () => {
  test("lists all of its tools, each with the rule that hides it", async ({ expect }) => {
    const { text, html } = await visit(few);
    for (const name of ["read", "write", "secret_1", "secret_2", "other"]) {
      expect(text).toContain(name);
    }
    expect(text).toMatch(/secret_1.*Hidden.*tools\.deny has secret_\*.*secret_2/s);
    expect(text).toMatch(/other.*Hidden.*nothing in tools\.allow fits/s);
    expect(html.match(/<button class="plain">\s*Deny/g)).toHaveLength(2);
  });

  test("denies a tool, which is then refused and listed nowhere, like one of tools.deny", async ({
    expect,
  }) => {
    const own = `${few.slug}__`;
    expect(await namesAt(few.mcp)).toEqual(["read", "write"]);
    const before = await visit(few);
    const page = await browser.submit(before, { button: "Deny write" });
    expect(page.text).toContain("The tool is denied");
    // A second click on the same button has nothing to do.
    const second = await browser.submit(before, { button: "Deny write" });
    expect(second.text).toContain("The tool is denied");
    expect(page.text).toMatch(/Denied here: 1\./);
    expect(await namesAt(few.mcp)).toEqual(["read"]);
    expect(await namesAt("/mcp")).toContain(`${own}read`);
    expect(await namesAt("/mcp")).not.toContain(`${own}write`);
    for (const [mcp, prefix] of [[few.mcp, ""] as const, ["/mcp", own] as const]) {
      const denied = await refusals(mcp, prefix, "write");
      expect(denied).toEqual(await refusals(mcp, prefix, "secret_1"));
      expect(denied).toEqual(await refusals(mcp, prefix, "absent"));
    }
    expect(await few.sent("tools/call")).toEqual([]);
    expect((await browser.visit(`/catalog/${few.slug}/write`)).status).toBe(404);
    expect((await browser.visit(`/catalog/${few.slug}`)).text).not.toContain("write");
  });

  test("allows it again, and nothing that the configuration hides", async ({ expect }) => {
    const page = await press(few, "Allow again write");
    expect(page.text).toContain("The tool is allowed again");
    expect(await namesAt(few.mcp)).toEqual(["read", "write"]);
    const forge = async (fields: Readonly<Record<string, string>>): Promise<Page> =>
      browser.submit(page, { button: "Deny read", fields });
    expect((await forge({ tool: '"secret_1"', to: "denied" })).status).toBe(404);
    expect((await forge({ tool: '"absent"', to: "denied" })).status).toBe(404);
    for (const name of ["secret_1", "other"]) {
      await forge({ tool: JSON.stringify(name), to: "allowed" });
    }
    expect(await namesAt(few.mcp)).toEqual(["read", "write"]);
    const late = await forge({ revision: "77" });
    expect(late.text).toContain("It has changed since that page was loaded");
    expect(await namesAt(few.mcp)).toEqual(["read", "write"]);
  });

  test("keeps what is denied when the server is switched off and on, or lists it no more", async ({
    expect,
  }) => {
    await press(few, "Deny read");
    await press(few, `Switch off for everybody ${few.slug}`);
    await press(few, `Switch on ${few.slug}`);
    expect(await namesAt(few.mcp)).toEqual(["write"]);
    await few.script({ server: "modern", capabilities, tools: [tool("write")] });
    // A look within a second of the last one is that one.
    await vi.waitFor(
      async () => {
        await press(few, `Check now ${few.slug}`);
        expect((await visit(few)).text).toMatch(/read Not listed Denied/);
      },
      { timeout: 20_000, interval: 1100 },
    );
    await press(few, "Allow again read");
    expect((await visit(few)).text).not.toContain("Not listed");
  });

  test("denies a tool by its very name, whatever characters are in it", async ({ expect }) => {
    const listed = await namesAt(turned.mcp);
    expect(listed).toEqual(TURNED);
    for (const [n, name] of TURNED.entries()) {
      const page = await visit(turned);
      const form = page.forms.filter(({ action }) => action.endsWith("/tools"))[n];
      const denied = await browser.submit({ ...page, forms: form === undefined ? [] : [form] });
      expect(denied.text).toContain("The tool is denied");
      expect(await namesAt(turned.mcp)).toEqual(listed.filter((each) => each !== name));
      const { forms } = denied;
      const back = forms.filter(({ action }) => action.endsWith("/tools"))[n];
      await browser.submit({ ...denied, forms: back === undefined ? [] : [back] });
      expect(await namesAt(turned.mcp)).toEqual(TURNED);
    }
  });

  test("searches and pages, and comes back to the same place", async ({ expect }) => {
    const third = await visit(many, "?page=3");
    expect(third.text).toContain("Page 3 of 3");
    expect(third.text).toContain("tool-229");
    expect(third.text).not.toContain("tool-199");
    const after = await press(many, "Deny tool-205", "?q=tool-2&page=1");
    expect(after.url.search).toBe("?q=tool-2&done=tool-denied");
    expect(after.url.hash).toBe("#tools");
    expect(after.text).not.toContain("tool-199");
    expect(after.text).toMatch(/tool-205.*Denied.*tool-206/s);
  });

  test("says so when no more can be kept, and denies nothing then", async ({ expect }) => {
    const deniedTools = Array.from({ length: 4 }, (_, n) => `${n}${"x".repeat(8180)}`);
    await serverStoreIn(env).putSwitch(full.slug, { deniedTools }, 0);
    const page = await press(full, "Deny last");
    expect(page.text).toContain("No more can be denied here");
    expect(await namesAt(full.mcp)).toEqual(["last"]);
  });
});
