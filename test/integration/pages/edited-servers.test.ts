/** Changing an added server at its page: shown first, looked at, kept; a secret goes to no other origin. */

// Has an isolate of its own: it adds servers to the gateway.
import { abortAllDurableObjects } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { afterEach, beforeAll, describe, test, vi } from "vitest";

import { serverStoreIn } from "../../../durable-objects/live-config.ts";
import type { AddedServer } from "../../../src/observability/added-servers.ts";
import { Browser, type Page } from "../../support/oauth-browser.ts";
import type { Submission } from "../../support/oauth-forms.ts";
import type { Json } from "../../support/scripted-upstream-script.ts";
import { modern, modernCall, Session } from "../client.ts";
import { changeConfiguration } from "../configuration.ts";
import { responseIn } from "../event-reader.ts";
import { Upstream } from "../upstream.ts";

const ORIGIN = "http://localhost:8787";
const LIST = "/admin/servers";
const SECRET = "tea-with-milk-and-no-sugar";
const OTHER_SECRET = "coffee-without-milk-or-sugar";
const ENTER_AGAIN = "What you entered as secrets is not shown again: enter it once more.";
const KEPT = "The change is kept, and holds within ten seconds everywhere.";
const MOVED = "The change is kept. At another address it is a draft";
const tools = [{ name: "work", inputSchema: { type: "object" } }];
const store = serverStoreIn(env);
const browser = new Browser(ORIGIN, (url, sent) =>
  exports.default.fetch(new Request(url, { ...sent, redirect: "manual" })),
);

let entries: Record<string, Json>;

beforeAll(async () => {
  entries = JSON.parse(String(env["MCP_SERVERS"])) as Record<string, Json>;
  const only = await Upstream.take({ server: "modern" });
  changeConfiguration({ MCP_SERVERS: JSON.stringify({ [only.slug]: entries[only.slug] }) });
});

afterEach(() => void vi.restoreAllMocks());

const addressOf = ({ slug }: Upstream): string => String(entries[slug]?.["url"]);

interface Served {
  readonly upstream: Upstream;
  readonly slug: string;
}

/** A server with a secret header, which is served. */
async function served(): Promise<Served> {
  const upstream = await Upstream.take({ server: "modern", capabilities: { tools: {} }, tools });
  const { slug } = upstream;
  const headers = { Authorization: `Bearer ${SECRET}`, "X-Region": "eu" };
  const text = JSON.stringify({ mcpServers: { [slug]: { url: addressOf(upstream), headers } } });
  const list = await browser.visit(LIST);
  const shown = await browser.submit(list, { button: "Read it", fields: { text } });
  const draft = await browser.submit(shown, { button: "Keep as a draft" });
  await browser.submit(draft, { button: `Serve it ${slug}` });
  return { upstream, slug };
}

async function storedAs(slug: string): Promise<AddedServer | undefined> {
  return (await store.addedServers()).servers.find((each) => each.slug === slug);
}

const editPath = (slug: string): string => `${LIST}/${slug}/edit`;

type Fields = NonNullable<Submission["fields"]>;

async function review(slug: string, fields: Fields): Promise<Page> {
  return browser.submit(await browser.visit(editPath(slug)), {
    button: "See what changes",
    fields,
  });
}

/** @returns what a page says that an edit changes. */
function differences({ text }: Page): string | undefined {
  return /Differences.*(?=What was found)/.exec(text)?.[0];
}

async function keep(slug: string, fields: Fields): Promise<Page> {
  return browser.submit(await review(slug, fields), { button: "Keep the change" });
}

async function remove({ slug }: Served): Promise<void> {
  await browser.submit(await browser.visit(`${LIST}/${slug}`), { button: `Remove it ${slug}` });
}

/** @returns the headers with which the last call came. */
async function calledWith(upstream: Upstream): Promise<Readonly<Record<string, string>>> {
  await (await modernCall(upstream)).text();
  return (await upstream.log()).at(-1)?.headers ?? {};
}

async function names(): Promise<string> {
  const { result } = await responseIn(await modern({ mcp: "/mcp" }, "tools/list"));
  return JSON.stringify(result);
}

describe("the form", () => {
  test("has all that can be changed, and no secret", async ({ expect }) => {
    const one = await served();
    const { status, text, html } = await browser.visit(editPath(one.slug));
    expect(status).toBe(200);
    expect(text).toMatch(
      /AUTHORIZATION It is set\. Sent as Authorization: Bearer \$\{AUTHORIZATION\}/,
    );
    expect(html).toContain(`value="${addressOf(one.upstream)}"`);
    expect(html).toContain('value="eu"');
    expect(html).not.toContain(SECRET);
    await remove(one);
  });

  test("is not there for a server that nobody has added", async ({ expect }) => {
    expect((await browser.visit(editPath("nobody"))).status).toBe(404);
  });
});

describe("a server that is served", () => {
  test("is shown as it would be, looked at so, and changed after that", async ({ expect }) => {
    const one = await served();
    const { slug, upstream } = one;
    expect(await calledWith(upstream)).toMatchObject({
      authorization: `Bearer ${SECRET}`,
      "x-region": "eu",
    });
    const shown = await review(slug, {
      "secret-AUTHORIZATION": OTHER_SECRET,
      "header-0": "us",
      label: "Tea house",
    });
    expect(shown.text).toMatch(
      /Label none becomes Tea house Header X-Region eu becomes us Secret AUTHORIZATION set becomes another value/,
    );
    expect(shown.text).toMatch(/Reached.*1: work.*goes on serving/s);
    expect(shown.html).not.toMatch(new RegExp(`${SECRET}|${OTHER_SECRET}`));
    // What was looked at is the server as it would be; it still serves as it is.
    expect((await upstream.log()).at(-1)?.headers).toMatchObject({ "x-region": "us" });
    expect(await calledWith(upstream)).toMatchObject({ authorization: `Bearer ${SECRET}` });

    const kept = await browser.submit(shown, { button: "Keep the change" });
    expect(kept.text).toContain("The change is kept");
    expect(await calledWith(upstream)).toMatchObject({
      authorization: `Bearer ${OTHER_SECRET}`,
      "x-region": "us",
    });
    expect(await storedAs(slug)).toMatchObject({ state: "live", label: "Tea house" });
    expect(JSON.stringify(await store.addedServers())).not.toMatch(
      new RegExp(`${SECRET}|${OTHER_SECRET}`),
    );
    await remove(one);
  });

  test("keeps its sessions when only its label changes", async ({ expect }) => {
    const one = await served();
    const session = await Session.inUse(one.upstream.mcp);
    const asked = (await one.upstream.log()).length;
    const shown = await review(one.slug, { label: "Green tea" });
    expect(shown.text).toContain("It goes on serving.");
    await browser.submit(shown, { button: "Keep the change" });
    // No look, and nothing begun anew.
    expect(await one.upstream.log()).toHaveLength(asked);
    const { result } = await responseIn(await session.request("tools/call", { name: "work" }));
    expect(result).toBeDefined();
    await remove(one);
  });

  test("goes on at another path of its origin, with its secrets", async ({ expect }) => {
    const one = await served();
    const url = `${addressOf(one.upstream)}?v=2`;
    expect((await keep(one.slug, { url })).text).toContain("The change is kept");
    expect(await storedAs(one.slug)).toMatchObject({ state: "live", entry: { url } });
    expect(await calledWith(one.upstream)).toMatchObject({ authorization: `Bearer ${SECRET}` });
    await remove(one);
  });

  test("is a draft at another origin, which gets no secret that was not entered for it", async ({
    expect,
  }) => {
    const one = await served();
    const { slug, upstream } = one;
    const url = addressOf(upstream).replace("127.0.0.1", "localhost");
    expect(url).not.toBe(addressOf(upstream));
    const asked = (await upstream.log()).length;
    const refused = await review(slug, { url });
    expect([refused.status, refused.text]).toEqual([
      400,
      expect.stringContaining('"AUTHORIZATION" was given for http://127.0.0.1'),
    ]);
    expect(await upstream.log()).toHaveLength(asked);
    const shown = await review(slug, { url, "secret-AUTHORIZATION": OTHER_SECRET });
    expect(shown.text).toContain("it becomes a draft");
    for (const { headers } of (await upstream.log()).slice(asked)) {
      expect(headers["authorization"]).toBe(`Bearer ${OTHER_SECRET}`);
    }
    expect(await names()).toContain(`${slug}__work`);
    const kept = await browser.submit(shown, { button: "Keep the change" });
    expect(kept.text).toMatch(/serves nobody until you have it served.*Draft.*What was found/s);
    expect(await names()).not.toContain(`${slug}__work`);
    await browser.submit(kept, { button: `Serve it ${slug}` });
    expect(await calledWith(upstream)).toMatchObject({ authorization: `Bearer ${OTHER_SECRET}` });
    await remove(one);
  });

  test("is sent no secret any more that was removed", async ({ expect }) => {
    const one = await served();
    const page = await keep(one.slug, { "remove-AUTHORIZATION": "on" });
    expect(page.text).toContain("Secrets none");
    expect(await calledWith(one.upstream)).not.toHaveProperty("authorization");
    expect((await storedAs(one.slug))?.sealed).toBeUndefined();
    await remove(one);
  });
});

describe("an edit", () => {
  test.for([
    "https://10.0.0.1/mcp",
    "https://169.254.169.254/mcp",
    "http://intranet.example/mcp",
    "not an address",
  ])("to %s is refused before any request", async (url, { expect }) => {
    const one = await served();
    const fetching = vi.spyOn(globalThis, "fetch");
    const page = await review(one.slug, { url, "secret-AUTHORIZATION": OTHER_SECRET });
    expect([page.status, page.text]).toEqual([400, expect.stringContaining(`${one.slug}.url`)]);
    expect(page.html).not.toContain(OTHER_SECRET);
    expect(page.text).toContain(ENTER_AGAIN);
    expect(fetching).not.toHaveBeenCalled();
    await remove(one);
  });

  test("that comes back with a mistake asks again for the secrets that were entered", async ({
    expect,
  }) => {
    const one = await served();
    const url = "not an address";
    expect((await review(one.slug, { url })).text).not.toContain(ENTER_AGAIN);
    expect((await review(one.slug, { url, "remove-AUTHORIZATION": "on" })).text).not.toContain(
      ENTER_AGAIN,
    );
    const header = { "new-name": "X-Tea", "new-value": OTHER_SECRET, "new-secret": "on" };
    for (const secret of [{ "secret-AUTHORIZATION": OTHER_SECRET }, header]) {
      const page = await review(one.slug, { url, ...secret });
      expect([page.status, page.text]).toEqual([400, expect.stringContaining(ENTER_AGAIN)]);
      expect(page.html).not.toContain(OTHER_SECRET);
    }
    await remove(one);
  });

  test("that is changed again is in the form as it was entered, but for its secrets", async ({
    expect,
  }) => {
    const one = await served();
    const { slug, upstream } = one;
    const url = `${addressOf(upstream)}?v=2`;
    const header = { "new-name": "X-House", "new-value": "green", "new-secret": [] };
    const fields = { ...header, url, label: "Tea", "header-0": "us" };
    const shown = await review(slug, { ...fields, "secret-AUTHORIZATION": OTHER_SECRET });
    const form = await browser.submit(shown, { button: "Change it again" });
    expect([form.status, form.text]).toEqual([200, expect.stringContaining(ENTER_AGAIN)]);
    expect(form.html).not.toMatch(new RegExp(`${SECRET}|${OTHER_SECRET}`));
    const again = await browser.submit(form, {
      button: "See what changes",
      fields: { "secret-AUTHORIZATION": OTHER_SECRET },
    });
    expect(differences(again)).toBe(differences(shown));
    const without = await browser.submit(form, { button: "See what changes" });
    const kept = await browser.submit(without, { button: "Change it again" });
    expect(kept.text).not.toContain(ENTER_AGAIN);
    await browser.submit(again, { button: "Keep the change" });
    expect(await calledWith(upstream)).toMatchObject({
      ...{ authorization: `Bearer ${OTHER_SECRET}`, "x-region": "us", "x-house": "green" },
    });
    await remove(one);
  });

  test.for([
    ["X-House", "green", "green"],
    // They are kept as secrets, whatever the form says.
    ["X-House", OTHER_SECRET, ""],
    ["X-Key", "green", ""],
  ])("that comes back with a mistake has the new header %s: %s as %j", async (each, { expect }) => {
    const [name = "", value = "", shown = ""] = each;
    const one = await served();
    const header = { "new-name": name, "new-value": value, "new-secret": [] };
    const page = await review(one.slug, { url: "not an address", ...header });
    const controls = page.forms.flatMap((form) => form.controls);
    const found = controls.find((control) => control.name === "new-value");
    expect([page.status, found?.value]).toEqual([400, shown]);
    expect(page.text.includes(ENTER_AGAIN)).toBe(shown === "");
    await remove(one);
  });

  test("that changes nothing says so", async ({ expect }) => {
    const one = await served();
    const page = await review(one.slug, {});
    expect([page.status, page.text]).toEqual([
      400,
      expect.stringContaining("Nothing is different"),
    ]);
    await remove(one);
  });

  test("of a server that somebody else has changed since is told so, at either step", async ({
    expect,
  }) => {
    const one = await served();
    const { slug } = one;
    const form = await browser.visit(editPath(slug));
    const shown = await review(slug, { label: "Mine" });
    await keep(slug, { label: "Theirs" });
    const late = await browser.submit(form, {
      button: "See what changes",
      fields: { label: "Mine" },
    });
    expect(late.text).toContain("It has changed since that page was loaded");
    const later = await browser.submit(shown, { button: "Keep the change" });
    expect(later.text).toContain("It has changed since that page was loaded");
    expect(await storedAs(slug)).toMatchObject({ label: "Theirs" });
    await remove(one);
  });

  test.for<readonly [what: string, fields: Readonly<Record<string, string>>, said: string]>([
    ["a label and a secret", { label: "Tea", "secret-AUTHORIZATION": OTHER_SECRET }, KEPT],
    ["a header that is no secret", { "header-0": "" }, KEPT],
    ["a secret that is removed", { "remove-AUTHORIZATION": "on" }, KEPT],
    ["a new header", { "new-name": "X-Tea", "new-value": OTHER_SECRET, "new-secret": "on" }, KEPT],
    ["another origin", { url: "http://127.0.0.1:9/mcp", "remove-AUTHORIZATION": "on" }, MOVED],
  ])("is kept once by two clicks, and both say so: %s", async ([, fields, said], { expect }) => {
    const one = await served();
    const shown = await review(one.slug, fields);
    for (let n = 0; n < 2; n++) {
      const page = await browser.submit(shown, { button: "Keep the change" });
      expect([page.url.pathname, page.text]).toEqual([
        `${LIST}/${one.slug}`,
        expect.stringContaining(said),
      ]);
    }
    await remove(one);
  });

  test("is kept once by two clicks at the same time, and both say so", async ({ expect }) => {
    const one = await served();
    const shown = await review(one.slug, { label: "Tea" });
    const press = (): Promise<Page> => browser.submit(shown, { button: "Keep the change" });
    for (const { text } of await Promise.all([press(), press()])) expect(text).toContain(KEPT);
    await remove(one);
  });

  test("that differs from what is kept by the value of a secret alone is another edit", async ({
    expect,
  }) => {
    const one = await served();
    const shown = await Promise.all(
      [OTHER_SECRET, `${OTHER_SECRET}-at-all`].map((secret) =>
        review(one.slug, { "secret-AUTHORIZATION": secret }),
      ),
    );
    const texts: string[] = [];
    for (const page of shown) {
      texts.push((await browser.submit(page, { button: "Keep the change" })).text);
    }
    expect(texts).toEqual([
      expect.stringContaining(KEPT),
      expect.stringContaining("It has changed since that page was loaded"),
    ]);
    expect(await calledWith(one.upstream)).toMatchObject({
      authorization: `Bearer ${OTHER_SECRET}`,
    });
    await remove(one);
  });

  test("that was made for another server, or is forged, is not kept", async ({ expect }) => {
    const [one, other] = [await served(), await served()];
    const mine = await review(one.slug, { label: "Mine" });
    const [, carried = ""] = /name="edit" value="([^"]+)"/.exec(mine.html) ?? [];
    expect(carried.length).toBeGreaterThan(50);
    const theirs = await review(other.slug, { label: "Theirs" });
    for (const edit of [carried, "abcdef12.2.forged", ""]) {
      const page = await browser.submit(theirs, { button: "Keep the change", fields: { edit } });
      expect(page.text).toContain("That page was out of date");
    }
    expect((await storedAs(other.slug))?.label).toBeUndefined();
    await remove(one);
    await remove(other);
  });

  test("is whole, or has not happened, when the objects are lost before it is kept", async ({
    expect,
  }) => {
    const one = await served();
    const shown = await review(one.slug, { "secret-AUTHORIZATION": OTHER_SECRET });
    await abortAllDurableObjects();
    expect(await calledWith(one.upstream)).toMatchObject({ authorization: `Bearer ${SECRET}` });
    await browser.submit(shown, { button: "Keep the change" });
    await abortAllDurableObjects();
    expect(await calledWith(one.upstream)).toMatchObject({
      authorization: `Bearer ${OTHER_SECRET}`,
    });
    await remove(one);
  });

  test("after too many looks is shown without one", async ({ expect }) => {
    const one = await served();
    let text = "";
    // A dozen a minute are looked at.
    for (let n = 0; n < 15 && !text.includes("It was not looked at"); n++) {
      ({ text } = await review(one.slug, { "header-0": `region-${n}` }));
    }
    expect(text).toMatch(/It was not looked at: that was done too often.*Keep the change/s);
    await remove(one);
  });
});
