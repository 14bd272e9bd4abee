/** Adding a server at `/admin/servers`, without sign-in: pasted, shown, kept as a draft, looked at, served, removed. */

// Has an isolate of its own: it adds servers to the gateway.
import { env, exports } from "cloudflare:workers";
import { afterEach, beforeAll, describe, test, vi } from "vitest";

import { serverStoreIn } from "../../../durable-objects/live-config.ts";
import { Browser, type Page } from "../../support/oauth-browser.ts";
import type { Json } from "../../support/scripted-upstream-script.ts";
import { modern } from "../client.ts";
import { changeConfiguration } from "../configuration.ts";
import { responseIn } from "../event-reader.ts";
import { Upstream } from "../upstream.ts";

const ORIGIN = "http://localhost:8787";
const LIST = "/admin/servers";
const SECRET = "tea-with-milk-and-no-sugar";
const store = serverStoreIn(env);
const browser = new Browser(ORIGIN, (url, sent) =>
  exports.default.fetch(new Request(url, { ...sent, redirect: "manual" })),
);

let entries: Record<string, Json>;
let only: Upstream;

beforeAll(async () => {
  entries = JSON.parse(String(env["MCP_SERVERS"])) as Record<string, Json>;
  only = await Upstream.take({ server: "modern" });
  changeConfiguration({ MCP_SERVERS: JSON.stringify({ [only.slug]: entries[only.slug] }) });
});

afterEach(() => void vi.restoreAllMocks());

const work = { name: "work", inputSchema: { type: "object" } };
const addressOf = ({ slug }: Upstream): string => String(entries[slug]?.["url"]);

async function paste(text: string): Promise<Page> {
  const page = await browser.visit(LIST);
  return browser.submit(page, { button: "Read it", fields: { text } });
}

async function add(text: string, fields: Readonly<Record<string, string>>): Promise<Page> {
  return browser.submit(await paste(text), { button: /^Keep as/, fields });
}

async function names(): Promise<string> {
  const { result } = await responseIn(await modern({ mcp: "/mcp" }, "tools/list"));
  return JSON.stringify(result);
}

async function press(slug: string, button: string): Promise<Page> {
  return browser.submit(await browser.visit(`${LIST}/${slug}`), { button: `${button} ${slug}` });
}

describe("a server whose address is pasted", () => {
  test("P16: is shown first, then a draft that was looked at, and serves after a click", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({ server: "modern", tools: [work] });
    const { slug } = upstream;
    const shown = await paste(addressOf(upstream));
    expect([shown.status, shown.text]).toEqual([200, expect.stringContaining("Keep as a draft")]);
    expect(await upstream.log()).toEqual([]);
    expect((await store.addedServers()).servers).toEqual([]);

    const draft = await browser.submit(shown, {
      button: "Keep as a draft",
      fields: { "slug-0": slug },
    });
    expect(draft.url.pathname).toBe(`${LIST}/${slug}`);
    expect(draft.text).toMatch(/Draft.*Reached.*modern.*Streamable|Draft.*Reached.*modern/s);
    expect(draft.text).toContain("1: work");
    expect(await names()).not.toContain(`${slug}__work`);
    expect((await browser.visit(LIST)).text).toMatch(new RegExp(`${slug} Draft`));

    expect((await press(slug, "Serve it")).text).toContain("The server is served");
    expect(await names()).toContain(`${slug}__work`);
    expect((await press(slug, "Pause")).text).toContain("Paused");
    expect(await names()).not.toContain(`${slug}__work`);
    await press(slug, "Resume");
    expect(await names()).toContain(`${slug}__work`);
    expect((await press(slug, "Remove it")).text).toContain("The server is removed");
    expect(await names()).not.toContain(`${slug}__work`);
    expect((await store.addedServers()).servers).toEqual([]);
    expect((await browser.visit(`${LIST}/${slug}`)).status).toBe(404);
  });

  test("and wants a login is named so", async ({ expect }) => {
    const refused = { status: 401, isLasting: true } as const;
    const upstream = await Upstream.take({
      server: "modern",
      reactions: { "server/discover": [refused], initialize: [refused] },
    });
    const { slug } = upstream;
    const page = await add(addressOf(upstream), { "slug-0": slug });
    expect(page.text).toContain("Wants a login");
    await press(slug, "Remove it");
  });

  test("and cannot be reached is named so, and is kept all the same", async ({ expect }) => {
    const page = await add("http://127.0.0.1:9/mcp", { "slug-0": "nobody" });
    expect(page.text).toMatch(/Draft.*Not reached/s);
    await press("nobody", "Remove it");
  });

  test.for([
    "https://10.0.0.1/mcp",
    "https://169.254.169.254/latest/meta-data",
    "https://[fd00::1]/mcp",
    "https://printer.local/mcp",
    "https://metadata.goog/mcp",
    "http://intranet.example/mcp",
    "https://public.example:8443/mcp",
  ])(
    "P15: is refused at the private address %s, and no request leaves",
    async (url, { expect }) => {
      const fetching = vi.spyOn(globalThis, "fetch");
      const page = await add(url, { "slug-0": "private" });
      expect(page.status).toBe(400);
      expect(page.text).toMatch(/private\.url: The (?:host|address)/);
      expect(fetching).not.toHaveBeenCalled();
      expect((await store.addedServers()).servers).toEqual([]);
    },
  );

  test.for(["no slug at all!", "message"])("is not kept as %j", async (slug, { expect }) => {
    const page = await add("https://tea.example/mcp", { "slug-0": slug });
    expect([page.status, page.text]).toEqual([400, expect.stringContaining("A slug has")]);
    expect((await store.addedServers()).servers).toEqual([]);
  });

  test("P17: is not kept under a slug of MCP_SERVERS", async ({ expect }) => {
    const page = await add("https://tea.example/mcp", { "slug-0": only.slug });
    expect([page.status, page.text]).toEqual([
      400,
      expect.stringContaining("MCP_SERVERS has a server of this slug already"),
    ]);
  });
});

test("what is no server is said so, and not shown again", async ({ expect }) => {
  const page = await paste(`Bearer ${SECRET}`);
  expect(page.status).toBe(400);
  expect(page.html).not.toContain(SECRET);
});

test("a form of which no server is ticked comes back whole", async ({ expect }) => {
  const url = "http://127.0.0.1:9/mcp";
  const two = { black: { url, headers: { "X-Key": "${BLACK_KEY}" } }, green: { url } };
  const shown = await paste(JSON.stringify(two));
  const fields = { add: [], "slug-1": "sencha" };
  const page = await browser.submit(shown, { button: "Keep as drafts", fields });
  expect([page.status, page.text]).toEqual([400, expect.stringContaining("No server was chosen.")]);
  // Nothing is asked for a server that is not wanted.
  expect(page.text).not.toContain("needs a value");
  const again = await browser.submit(page, { button: "Keep as drafts", fields: { add: "1" } });
  expect(again.url.pathname).toBe(`${LIST}/sencha`);
  await press("sencha", "Remove it");
});

test("a form that was made of another page is refused", async ({ expect }) => {
  const page = await paste("https://tea.example/mcp");
  const forged = await browser.submit(page, {
    button: "Keep as a draft",
    fields: { pasted: "abcdef12.2.forged" },
  });
  expect([forged.status, forged.text]).toEqual([400, expect.stringContaining("out of date")]);
  const strange = await browser.submit(page, {
    button: "Keep as a draft",
    headers: { Origin: "https://evil.example" },
  });
  expect(strange.status).toBe(403);
  expect((await store.addedServers()).servers).toEqual([]);
});

test("a form that comes back with a mistake says that its secrets have to be entered again", async ({
  expect,
}) => {
  const again = "What you entered as secrets is not shown again: enter it once more.";
  const headers = { Authorization: "Bearer YOUR_KEY" };
  const shown = await paste(
    JSON.stringify({
      tea: { url: "http://127.0.0.1:9/mcp", headers },
      water: { url: "http://127.0.0.1:9/mcp" },
    }),
  );
  const secret = /name="(field-[A-Z_]+-0)"/.exec(shown.html)?.[1] ?? "";
  const fields = { "slug-0": only.slug };
  const without = await browser.submit(shown, { button: "Keep as drafts", fields });
  expect([without.status, without.text.includes(again)]).toEqual([400, false]);
  const page = await browser.submit(shown, {
    button: "Keep as drafts",
    fields: { ...fields, [secret]: SECRET },
  });
  expect([page.status, page.text]).toEqual([400, expect.stringContaining(again)]);
  expect(page.html).not.toContain(SECRET);
});

const CHANGED = "It has changed since that page was loaded, so nothing was done.";

test("of two operators, the second one is told, and undoes nothing", async ({ expect }) => {
  const page = await add("http://127.0.0.1:9/mcp", { "slug-0": "twice" });
  await browser.submit(page, { button: "Serve it twice" });
  const late = await browser.submit(page, { button: "Remove it twice" });
  expect(late.text).toContain(CHANGED);
  const live = await browser.visit(`${LIST}/twice`);
  await browser.submit(live, { button: "Pause twice" });
  await press("twice", "Resume");
  await press("twice", "Pause");
  expect((await browser.submit(page, { button: "Serve it twice" })).text).toContain(CHANGED);
  expect((await store.addedServers()).servers).toMatchObject([{ slug: "twice", state: "paused" }]);
  await press("twice", "Remove it");
});

function keep(shown: Page, key: string, add: readonly string[] = ["0"]): Promise<Page> {
  const fields = { "field-TEA_KEY-0": key, add };
  return browser.submit(shown, { button: /^Keep as/, fields });
}

describe("a button that is pressed twice says what was done:", () => {
  const entry = { url: "http://127.0.0.1:9/mcp", headers: { "X-Key": "${TEA_KEY}" } };

  test("Keep as a draft", async ({ expect }) => {
    const shown = await paste(JSON.stringify({ tea: entry }));
    for (let n = 0; n < 2; n++) {
      const page = await keep(shown, SECRET);
      expect([page.url.pathname, page.text]).toEqual([
        `${LIST}/tea`,
        expect.stringContaining("The draft is kept."),
      ]);
    }
    // Another secret, or another address, is another server.
    const others = [
      await keep(shown, `${SECRET}-at-all`),
      await add("http://127.0.0.1:10/mcp", { "slug-0": "tea" }),
    ];
    await press("tea", "Serve it");
    others.push(await keep(shown, SECRET));
    for (const { status, text } of others) {
      expect([status, text]).toEqual([
        400,
        expect.stringContaining("There is a server of this slug already"),
      ]);
    }
    await press("tea", "Remove it");
  });

  test("Keep as drafts", async ({ expect }) => {
    const shown = await paste(JSON.stringify({ tea: entry, water: { url: entry.url } }));
    await keep(shown, SECRET, ["0"]);
    for (let n = 0; n < 2; n++) {
      const page = await keep(shown, SECRET, ["0", "1"]);
      expect([page.url.pathname, page.text]).toEqual([
        LIST,
        expect.stringContaining("The drafts are kept."),
      ]);
    }
    expect((await store.addedServers()).servers).toHaveLength(2);
    for (const slug of ["tea", "water"]) await press(slug, "Remove it");
  });

  test("Look at it", async ({ expect }) => {
    const draft = await add(entry.url, { "slug-0": "water" });
    for (let n = 0; n < 2; n++) {
      const page = await browser.submit(draft, { button: "Look at it water" });
      expect(page.text).toContain("The server was looked at.");
    }
    await press("water", "Remove it");
  });

  test("Serve it, Pause and Remove it", async ({ expect }) => {
    const draft = await add(entry.url, { "slug-0": "water" });
    for (const [button, said] of [
      ["Serve it", "The server is served"],
      ["Pause", "The server is paused"],
      ["Remove it", "The server is removed"],
    ] as const) {
      const page = await browser.visit(`${LIST}/water`);
      for (let n = 0; n < 2; n++) {
        const after = await browser.submit(page, { button: `${button} water` });
        expect([after.status, after.text]).toEqual([200, expect.stringContaining(said)]);
      }
    }
    expect((await browser.submit(draft, { button: "Serve it water" })).status).toBe(404);
  });
});
