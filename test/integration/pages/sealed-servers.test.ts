/** The secrets of added servers when the keys of the gateway are changed, and the servers as TOML. */

// Has an isolate of its own: it adds servers to the gateway, and changes its keys.
import { abortAllDurableObjects } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { parse } from "smol-toml";
import { afterEach, beforeAll, describe, expect, test } from "vitest";

import { serverStoreIn } from "../../../durable-objects/live-config.ts";
import { parseConfig } from "../../../src/config/config.ts";
import { Browser, type Page } from "../../support/oauth-browser.ts";
import type { Json } from "../../support/scripted-upstream-script.ts";
import { modernCall } from "../client.ts";
import { changeConfiguration } from "../configuration.ts";
import { Upstream } from "../upstream.ts";

const ORIGIN = "http://localhost:8787";
const LIST = "/admin/servers";
const SECRET = "tea-with-milk-and-no-sugar";
const [OLD, NEW] = ["a".repeat(44), "b".repeat(44)];
const tools = [{ name: "work", inputSchema: { type: "object" } }];
const store = serverStoreIn(env);
const browser = new Browser(ORIGIN, (url, sent) =>
  exports.default.fetch(new Request(url, { ...sent, redirect: "manual" })),
);

let entries: Record<string, Json>;
let configured: Json;

beforeAll(async () => {
  entries = JSON.parse(String(env["MCP_SERVERS"])) as Record<string, Json>;
  const only = await Upstream.take({ server: "modern" });
  configured = { [only.slug]: entries[only.slug] };
});

afterEach(async () => {
  for (const { slug, revision } of (await store.addedServers()).servers) {
    await store.removeServer(slug, revision);
  }
});

/** As a deployment does it: each isolate and object begins anew. */
async function deployWith(...secrets: readonly string[]): Promise<void> {
  changeConfiguration({
    MCP_SERVERS: JSON.stringify(configured),
    VAULT_SECRET: secrets.join(","),
  });
  await abortAllDurableObjects();
  // An isolate that begins has opened nothing. This one opens again what has changed.
  for (const { revision, ...server } of (await store.addedServers()).servers) {
    await store.putServer(server, revision);
  }
}

async function pasted(servers: Json): Promise<Page> {
  const text = JSON.stringify({ mcpServers: servers });
  const list = await browser.visit(LIST);
  const shown = await browser.submit(list, { button: "Read it", fields: { text } });
  return browser.submit(shown, { button: /^Keep as/ });
}

/** A server with a secret header, which is served. */
async function served(): Promise<Upstream> {
  const upstream = await Upstream.take({ server: "modern", capabilities: { tools: {} }, tools });
  const { slug } = upstream;
  const url = String(entries[slug]?.["url"]);
  await pasted({ [slug]: { url, headers: { Authorization: `Bearer ${SECRET}` } } });
  await press(slug, "Serve it");
  return upstream;
}

async function press(slug: string, button: string): Promise<Page> {
  return browser.submit(await browser.visit(`${LIST}/${slug}`), { button: `${button} ${slug}` });
}

async function sealAnew(): Promise<string> {
  const admin = await browser.visit("/admin");
  const { text } = await browser.submit(admin, { button: "Seal all accounts anew" });
  return text;
}

async function calledWith(upstream: Upstream): Promise<string | undefined> {
  await (await modernCall(upstream)).text();
  return (await upstream.log()).at(-1)?.headers["authorization"];
}

describe("the secret of an added server", () => {
  test("outlives the key that has sealed it, when it is sealed anew before that is removed", async ({
    expect,
  }) => {
    await deployWith(OLD);
    const upstream = await served();
    await deployWith(NEW, OLD);
    expect(await calledWith(upstream)).toBe(`Bearer ${SECRET}`);
    const { version } = await store.addedServers();
    expect(await sealAnew()).toContain("It was not so of 1.");
    await abortAllDurableObjects();
    expect(await sealAnew()).toContain("It was not so of 0.");
    // Nobody was told of a change, since there was none.
    expect((await store.addedServers()).version).toBe(version);
    await deployWith(NEW);
    expect(await calledWith(upstream)).toBe(`Bearer ${SECRET}`);
  });

  test("that was not sealed anew is named with what to do, and both ways mend it", async ({
    expect,
  }) => {
    await deployWith(OLD);
    const { slug } = await served();
    await deployWith(NEW);
    const admin = await browser.visit("/admin");
    expect(admin.text).toMatch(
      /none of the keys that are set opens its secrets\. If VAULT_SECRET was changed, put the earlier one behind the new one, and press Seal all accounts anew/,
    );
    expect(admin.html).toContain(`href="${LIST}/${slug}"`);
    expect((await press(slug, "Pause")).text).toContain("Paused");
    await press(slug, "Resume");
    // Not lost by that: the earlier key still opens it.
    await deployWith(NEW, OLD);
    await sealAnew();
    await deployWith(NEW);
    expect((await browser.visit("/admin")).text).not.toContain("none of the keys");

    await deployWith(OLD);
    const form = await browser.visit(`${LIST}/${slug}/edit`);
    const shown = await browser.submit(form, {
      button: "See what changes",
      fields: { "secret-AUTHORIZATION": "entered-again-by-hand" },
    });
    expect(shown.text).toMatch(/Secret AUTHORIZATION not set becomes set/);
    await browser.submit(shown, { button: "Keep the change" });
    expect(await calledWith(Upstream.named(slug))).toBe("Bearer entered-again-by-hand");
  });

  test("is sealed anew whole, or not at all, when the objects are lost meanwhile", async ({
    expect,
  }) => {
    await deployWith(OLD);
    const upstreams = [await served(), await served(), await served()];
    await deployWith(NEW, OLD);
    const sealing = sealAnew().catch(() => "lost");
    await abortAllDurableObjects();
    await sealing;
    for (const upstream of upstreams) expect(await calledWith(upstream)).toBe(`Bearer ${SECRET}`);
    await sealAnew();
    await deployWith(NEW);
    for (const upstream of upstreams) expect(await calledWith(upstream)).toBe(`Bearer ${SECRET}`);
  });
});

describe("servers that are pasted together", () => {
  const url = "http://127.0.0.1:9/mcp";

  test("are added together, or none of them is", async ({ expect }) => {
    await deployWith(NEW);
    const large = { url, headers: { "X-Large": "x ".repeat(20_000) } };
    const refused = await pasted({ small: { url }, large });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("32768 bytes")]);
    expect((await store.addedServers()).servers).toEqual([]);
    // What was pasted is still there.
    const again = await browser.submit(refused, { button: "Keep as drafts", fields: { add: "0" } });
    expect(again.status).toBe(200);
    expect((await store.addedServers()).servers).toMatchObject([{ slug: "small" }]);
  });

  test("of two operators at once are those of one of them", async ({ expect }) => {
    const list = await browser.visit(LIST);
    const pages = await Promise.all(
      ["mine", "theirs"].map((name) =>
        browser.submit(list, {
          button: "Read it",
          fields: { text: JSON.stringify({ [name]: { url }, both: { url } }) },
        }),
      ),
    );
    const kept = await Promise.all(
      pages.map((page) => browser.submit(page, { button: "Keep as drafts" })),
    );
    expect(kept.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400]);
    expect(kept.find(({ status }) => status === 400)?.text).toContain("slug already");
    const slugs = (await store.addedServers()).servers.map(({ slug }) => slug);
    expect([
      ["mine", "both"],
      ["theirs", "both"],
    ]).toContainEqual(slugs);
  });
});

/** The texts of a page that are to be copied. */
function copied({ html }: Page): readonly string[] {
  const found = html.matchAll(/<pre><code>([^<]*)<\/code><\/pre>/g);
  return Array.from(found, ([, text = ""]) =>
    text
      .replaceAll("&quot;", '"')
      .replaceAll("&#39;", "'")
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&amp;", "&"),
  );
}

const OVERRIDDEN = "MCP_SERVERS has this slug";

/** An added server that nobody is served by can be removed, and that is all. */
function expectOnlyRemove({ text, forms }: Page, slug: string): void {
  expect(text).toMatch(/Added here MCP_SERVERS has this slug.* State Not used/s);
  const actions = forms.map(({ action }) => action).filter((action) => action.includes(slug));
  expect(actions.filter((action) => /state|probe|edit/.test(action))).toEqual([]);
  expect(actions).toContain(`${LIST}/${slug}/remove`);
}

async function expectInBothLists(slug: string): Promise<void> {
  const { text } = await browser.visit(LIST);
  const [, added = "", inConfiguration = ""] = text.split(/Added here|In MCP_SERVERS/);
  expect(added).toMatch(new RegExp(`${slug} Not used`));
  expect(inConfiguration).toMatch(new RegExp(`${slug} Healthy`));
  // The entry is served as it is written: what is wrong is of the added server.
  expect(inConfiguration).not.toContain("Not served");
  expect((await browser.visit("/admin")).text).not.toContain("Not served");
}

describe("the export", () => {
  test("is on a page, without any secret, and serves the same where it is deployed", async ({
    expect,
  }) => {
    await deployWith(NEW);
    const upstream = await served();
    const { slug } = upstream;
    await pasted({
      'Tea & "Coffee" <house>': { url: "https://tea.example/mcp", headers: { "X-Region": "eu" } },
    });
    const list = await browser.visit(LIST);
    expect(list.html).toContain('href="/admin/export"');
    const page = await browser.visit("/admin/export");
    expect(page.html).not.toContain(SECRET);
    const [toml = "", commands = ""] = copied(page);
    const names = commands.split("\n").map((line) => line.replace("npx wrangler secret put ", ""));
    const prefix = slug.replaceAll("-", "_").toUpperCase();
    expect(names).toEqual([`SERVER_${prefix}_AUTHORIZATION`]);
    const { vars } = parse(toml) as { vars: { MCP_SERVERS: Json } };
    const parsed = parseConfig({
      ...{ AUTH_MODE: "none", MCP_SERVERS: vars.MCP_SERVERS },
      ...Object.fromEntries(names.map((name) => [name, SECRET])),
    });
    if (!parsed.ok) throw new Error(parsed.problems.join("\n"));
    const { servers, notices } = parsed.config;
    expect(servers.get(slug)?.target).toMatchObject({
      endpoint: new URL(String(entries[slug]?.["url"])),
      headers: { Authorization: `Bearer ${SECRET}` },
    });
    // A draft serves nobody there, either, and keeps its name.
    expect(notices).toMatchObject([{ name: 'Tea & "Coffee" <house>', state: "off" }]);

    // Where it is deployed, that one wins, and the added one can go.
    const before = await browser.visit(`${LIST}/${slug}`);
    const exported = JSON.parse(JSON.stringify(vars.MCP_SERVERS)) as Json;
    changeConfiguration({
      MCP_SERVERS: JSON.stringify({ ...configured, ...exported }),
      [names[0] ?? ""]: SECRET,
    });
    await abortAllDurableObjects();
    const overridden = await browser.visit(`${LIST}/${slug}`);
    expectOnlyRemove(overridden, slug);
    expect(overridden.text).toContain("Switch off for everybody");
    await expectInBothLists(slug);
    const refused = await browser.submit(before, { button: `Pause ${slug}` });
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining(OVERRIDDEN)]);
    expect((await store.addedServers()).servers).toMatchObject([{ slug, state: "live" }, {}]);
    await press(slug, "Remove it");
    expect(await calledWith(upstream)).toBe(`Bearer ${SECRET}`);
  });

  test("is of no use for a draft that MCP_SERVERS has meanwhile, whose page says so", async ({
    expect,
  }) => {
    await deployWith(NEW);
    const upstream = await Upstream.take({ server: "modern", capabilities: { tools: {} }, tools });
    const { slug } = upstream;
    await pasted({ [slug]: { url: String(entries[slug]?.["url"]) } });
    const before = await browser.visit(`${LIST}/${slug}`);
    changeConfiguration({ MCP_SERVERS: JSON.stringify({ ...configured, [slug]: entries[slug] }) });
    await abortAllDurableObjects();
    expectOnlyRemove(await browser.visit(`${LIST}/${slug}`), slug);
    await expectInBothLists(slug);
    const refused = await browser.submit(before, { button: `Serve it ${slug}` });
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining(OVERRIDDEN)]);

    await press(slug, "Switch off for everybody");
    expect((await browser.visit(LIST)).text).toMatch(/In MCP_SERVERS.*is switched off at/s);
    await press(slug, "Switch on");
    await press(slug, "Remove it");
    const left = await browser.visit(`${LIST}/${slug}`);
    expect(left.text).not.toContain(OVERRIDDEN);
    expect(left.text).toContain("Switch off for everybody");
  });

  test("of no server says so", async ({ expect }) => {
    await deployWith(NEW);
    expect((await browser.visit("/admin/export")).text).toContain("No server has been added");
  });
});
