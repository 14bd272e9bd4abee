/** A link into the console that came by mail: it shows what there is, and nothing happens before a click there. */

// Has an isolate of its own: it adds servers to the gateway.
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, test } from "vitest";

import { serverStoreIn } from "../../../durable-objects/live-config.ts";
import { CATALOG_PAGES, OPERATOR_PAGES, PAGES } from "../../../src/pages/routes.ts";
import { Browser } from "../../support/oauth-browser.ts";
import type { Json } from "../../support/scripted-upstream-script.ts";
import { modern, send } from "../client.ts";
import { changeConfiguration } from "../configuration.ts";
import { Upstream } from "../upstream.ts";

const ORIGIN = "http://localhost:8787";
const LIST = "/admin/servers";
const store = serverStoreIn(env);
const browser = new Browser(ORIGIN, (url, sent) =>
  exports.default.fetch(new Request(url, { ...sent, redirect: "manual" })),
);

/** Has a draft, which `MCP_SERVERS` does not have. */
let draft: Upstream;

beforeAll(async () => {
  const entries = JSON.parse(String(env["MCP_SERVERS"])) as Record<string, Json>;
  const configured = await Upstream.take({ server: "modern" });
  draft = await Upstream.take({
    server: "modern",
    tools: [{ name: "work", inputSchema: { type: "object" } }],
  });
  changeConfiguration({
    MCP_SERVERS: JSON.stringify({ [configured.slug]: entries[configured.slug] }),
  });
  const text = String(entries[draft.slug]?.["url"]);
  const list = await browser.visit(LIST);
  const shown = await browser.submit(list, { button: "Read it", fields: { text } });
  const fields = { "slug-0": draft.slug };
  await browser.submit(shown, { button: "Keep as a draft", fields });
});

/** Every address that a form is sent to, with what the form would send. */
function addresses(): readonly string[] {
  const posted = [...PAGES, ...OPERATOR_PAGES, ...CATALOG_PAGES].filter(
    ([method]) => method === "POST",
  );
  const query = "state=live&revision=1&slug-0=x&add=0&tool=work&action=deny";
  return posted.map(
    ([, path]) => `${path.replace(":slug", draft.slug).replace(":tool", "work")}?${query}`,
  );
}

describe("P11: a link that was opened", () => {
  test("shows the draft of a server, which nobody is served", async ({ expect }) => {
    const { status, text } = await browser.visit(`${LIST}/${draft.slug}?state=live`);
    expect(status).toBe(200);
    expect(text).toMatch(/Draft.*1: work/s);
    const call = await modern({ mcp: `/mcp/${draft.slug}` }, "tools/call", { name: "work" });
    await call.text();
    expect(call.status).toBe(404);
    expect(await draft.sent("tools/call")).toEqual([]);
  });

  test("does nothing, whatever form its address is of", async ({ expect }) => {
    const before = await store.addedServers();
    const calls = (await draft.log()).length;
    expect(addresses().length).toBeGreaterThan(20);
    for (const address of addresses()) {
      const cookie = browser.jar.headerFor(new URL(ORIGIN), "GET", false) ?? "";
      const response = await send(ORIGIN + address, { headers: { Cookie: cookie } });
      await response.text();
      expect([address, response.status < 500]).toEqual([address, true]);
    }
    expect(await store.addedServers()).toEqual(before);
    expect(before.servers).toMatchObject([{ slug: draft.slug, state: "draft" }]);
    expect(await draft.log()).toHaveLength(calls);
  });
});
