/** Entries of the official registry, pasted at `/admin/servers`: what the page asks for, and what is kept. */

// Has an isolate of its own: it adds servers to the gateway.
import { listDurableObjectIds, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { afterEach, beforeAll, describe, test, vi } from "vitest";

import { serverStoreIn } from "../../../durable-objects/live-config.ts";
import { Browser, type Page } from "../../support/oauth-browser.ts";
import type { Json } from "../../support/scripted-upstream-script.ts";
import { changeConfiguration } from "../configuration.ts";
import { Upstream } from "../upstream.ts";

const SECRET = "earl-grey-hot-and-nobody-may-read-it";
const store = serverStoreIn(env);
const browser = new Browser("http://localhost:8787", (url, sent) =>
  exports.default.fetch(new Request(url, { ...sent, redirect: "manual" })),
);
const REGIONS = ["us", "eu"];
const entry = (name: string, more: object) => ({
  name: `com.example/${name}`,
  version: "1",
  ...more,
});
const remote = (more: object) => ({
  remotes: [{ type: "streamable-http", url: "https://tea.example/mcp", ...more }],
});
const GUARDED = entry(
  "guarded",
  remote({
    url: "https://tea.example/{region}/mcp",
    variables: { region: { isRequired: true, choices: REGIONS } },
    headers: [{ name: "X-Api-Key", isRequired: true, isSecret: true }],
  }),
);
const PACKAGED = entry("packaged", {
  packages: [{ registryType: "npm", identifier: "x", transport: { type: "stdio" } }],
});

beforeAll(async () => {
  const entries = JSON.parse(String(env["MCP_SERVERS"])) as Record<string, Json>;
  const { slug } = await Upstream.take({ server: "modern" });
  changeConfiguration({ MCP_SERVERS: JSON.stringify({ [slug]: entries[slug] }) });
});
afterEach(() => void vi.restoreAllMocks());

async function paste(pasted: unknown): Promise<Page> {
  const page = await browser.visit("/admin/servers");
  const fields = { text: JSON.stringify(pasted) };
  return browser.submit(page, { button: "Read it", fields });
}

/** Everything that the object of servers and keys has stored. */
async function everythingKept(): Promise<string> {
  const ids = await listDurableObjectIds(env.REGISTRY);
  const all = await Promise.all(
    ids.map((id) =>
      runInDurableObject(env.REGISTRY.get(id), (_, { storage }) =>
        JSON.stringify([...storage.kv.list()]),
      ),
    ),
  );
  return all.join("\n");
}

describe("an entry of the registry", () => {
  test("R2, R5: has a field for its secret and a choice for its variable, and becomes a draft whose secret is sealed", async ({
    expect,
  }) => {
    vi.spyOn(globalThis, "fetch").mockResolvedValue(
      new Response("Nobody is there", { status: 418 }),
    );
    const shown = await paste(GUARDED);
    expect(shown.html).toMatch(/name="field-X_API_KEY-0"[^>]*type="password"/);
    expect(shown.html).toMatch(
      /<select[^>]*name="field-REGION-0"[\s\S]*value="us"[\s\S]*value="eu"/,
    );
    // Sends what no browser lets a person choose, too.
    const forms = shown.forms.map((form) => ({
      ...form,
      controls: form.controls.map((control) => ({ ...control, type: "text" })),
    }));
    const keep = (region: string, fields = {}): Promise<Page> =>
      browser.submit(region === "moon" ? { ...shown, forms } : shown, {
        button: "Keep as a draft",
        fields: { "field-REGION-0": region, "field-X_API_KEY-0": SECRET, ...fields },
      });
    for (const wrong of [await keep("moon"), await keep("eu", { "field-X_API_KEY-0": "" })]) {
      expect([wrong.status, wrong.html.includes(SECRET)]).toEqual([400, false]);
    }
    expect((await store.addedServers()).servers).toEqual([]);

    const page = await keep("eu");
    expect(page.text).toContain("Draft");
    expect(page.text).toContain("https://tea.example/eu/mcp");
    expect(page.html).not.toContain(SECRET);
    expect((await store.addedServers()).servers).toMatchObject([
      { state: "draft", secretNames: ["X_API_KEY"], provenance: { name: GUARDED.name } },
    ]);
    const kept = await everythingKept();
    expect(kept).toContain("X_API_KEY");
    expect(kept).not.toContain(SECRET);
  });

  test("R3, R4, R7: that cannot be added is named with the reason, beside those that can", async ({
    expect,
  }) => {
    const status = {
      _meta: { "io.modelcontextprotocol.registry/official": { status: "deleted" } },
    };
    const { text, html } = await paste({
      servers: [
        { server: PACKAGED },
        { server: entry("gone", remote({})), ...status },
        "nonsense",
        { server: entry("well", remote({})) },
      ],
    });
    expect(text).toMatch(/Left out.*com\.example\/packaged.*edgeway publish/s);
    expect(text).toContain("com.example/gone is deleted in the registry.");
    expect(text).toContain("Entry 3 has no name");
    expect(html.match(/name="add"/g)).toHaveLength(1);
  });
});
