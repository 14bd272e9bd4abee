/** `/catalog` while a server has not said yet what it offers: the page comes without it, and says so. */

// Has an isolate of its own: it waits for servers as nobody else does.
import { exports } from "cloudflare:workers";
import { beforeAll, test } from "vitest";

import { Browser, type Page } from "../../support/oauth-browser.ts";
import { until } from "../bounded.ts";
import { setLimits } from "../own-limits.ts";
import { takeSeveral } from "../several-servers.ts";
import { jsonOf, type Upstream } from "../upstream.ts";

const browser = new Browser("http://localhost:8787", (url, sent) =>
  exports.default.fetch(new Request(url, { ...sent, redirect: "manual" })),
);
const tool = (name: string) => ({
  ...{ name, annotations: { readOnlyHint: true } },
  inputSchema: { type: "object", properties: { tea: { type: "string" } } },
});

let quick: Upstream;
let slow: Upstream;

beforeAll(async () => {
  setLimits({ catalogWaitMilliseconds: 1500 });
  const result = { tools: [tool("late")], resultType: "complete", ttlMs: 60_000 };
  [quick, slow] = (await takeSeveral([
    { script: { server: "modern", tools: [tool("early")] } },
    {
      script: {
        server: "modern",
        reactions: { "tools/list": [{ ...jsonOf({ result }), heldBy: "list" }] },
      },
    },
  ])) as [Upstream, Upstream];
});

/** @returns a page that was loaded before, whose form goes to this address. */
function loadedBefore(page: Page, path: string): Page {
  return { ...page, forms: page.forms.map((form) => ({ ...form, action: path })) };
}

test("P2: a server that is slow holds up nobody, and is there when the page is loaded again", async ({
  expect,
}) => {
  await until(async () => {
    const { text } = await browser.visit("/catalog?q=early");
    return text.includes("1 match") ? true : undefined;
  }, "the quick server's tools");
  const { text, html } = await browser.visit("/catalog");
  expect(text).toContain("early");
  expect(text).toMatch(new RegExp(`${slow.slug} Being asked`));
  expect(text).toContain("One server has not said yet what can be used there.");
  expect(html).toContain('<a href="">Load this page again</a>');
  // Nobody knows yet that it has no match.
  expect((await browser.visit("/catalog?q=nothing-like-this")).text).toContain("Being asked");
  const alone = await browser.visit(`/catalog/${slow.slug}`);
  expect([alone.status, alone.text]).toEqual([
    200,
    expect.stringContaining("This server has not said yet"),
  ]);

  // Nobody knows yet which tools it has.
  const path = `/catalog/${slow.slug}/late`;
  for (const each of [path, `/catalog/${slow.slug}/nonsense`]) {
    const page = await browser.visit(each);
    expect([page.status, page.text]).toEqual([
      503,
      expect.stringMatching(new RegExp(`${slow.slug} Being asked.*has not said yet`)),
    ]);
  }
  const form = loadedBefore(await browser.visit(`/catalog/${quick.slug}/early`), path);
  const kept = await browser.submit(form, { button: "Run", fields: { "a:tea": "sencha & more" } });
  expect([kept.status, kept.text]).toEqual([
    503,
    expect.stringMatching(new RegExp(`${slow.slug} Being asked.*Nothing was sent`)),
  ]);

  await slow.open("list");
  const after = await until(async () => {
    const page = await browser.visit("/catalog");
    return page.text.includes("late") ? page : undefined;
  }, "the slow server's tools");
  expect(after.text).not.toContain("Being asked");
  expect(after.text).toContain(quick.slug);
  const ran = await browser.submit(kept, { button: "Try again" });
  expect([ran.status, ran.text]).toEqual([200, expect.stringContaining("ran late")]);
  expect((await slow.sent("tools/call"))[0]).toMatchObject({
    body: { params: { name: "late", arguments: { tea: "sencha & more" } } },
  });
});
