/** `/catalog` while a server has not said yet what it offers: the page comes without it, and says so. */

// Has an isolate of its own: it waits for servers as nobody else does.
import { exports } from "cloudflare:workers";
import { beforeAll, test } from "vitest";

import { Browser } from "../../support/oauth-browser.ts";
import { until } from "../bounded.ts";
import { setLimits } from "../own-limits.ts";
import { takeSeveral } from "../several-servers.ts";
import { jsonOf, type Upstream } from "../upstream.ts";

const browser = new Browser("http://localhost:8787", (url, sent) =>
  exports.default.fetch(new Request(url, { ...sent, redirect: "manual" })),
);
const tool = (name: string) => ({ name, inputSchema: { type: "object" } });

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

  await slow.open("list");
  const after = await until(async () => {
    const page = await browser.visit("/catalog");
    return page.text.includes("late") ? page : undefined;
  }, "the slow server's tools");
  expect(after.text).not.toContain("Being asked");
  expect(after.text).toContain(quick.slug);
});
