/** One bad entry of `MCP_SERVERS` is one bad entry, through the whole gateway: the others are served, and whoever runs it is told. */

import { env } from "cloudflare:workers";
import { beforeAll, describe, test, vi } from "vitest";

import type { Json } from "../../support/scripted-upstream-script.ts";
import { CAPABILITIES_KEY, MODERN, modern, send, Session, VERSION_KEY } from "../client.ts";
import { changeConfiguration } from "../configuration.ts";
import { responseIn } from "../event-reader.ts";
import { evict } from "../session-object.ts";
import { Upstream } from "../upstream.ts";

const tools: readonly Json[] = [{ name: "work", inputSchema: { type: "object" } }];
const SENTENCE = 'MCP_SERVERS.bad.headers.X-Key: the secret "NOT_SET" is not set.';

let good: Upstream;

beforeAll(async () => {
  good = await Upstream.take({ server: "dual", capabilities: { tools: {} }, tools });
  const servers = JSON.parse(String(env["MCP_SERVERS"])) as Record<string, Json>;
  const entry = servers[good.slug];
  const bad = { ...entry, headers: { "X-Key": "HUSH ${NOT_SET}" } };
  changeConfiguration({ MCP_SERVERS: JSON.stringify({ [good.slug]: entry, bad }) });
});

async function legacyList(): Promise<Json | undefined> {
  const session = await Session.open("/mcp");
  await session.request("tools/list", {});
  // The next life of the session knows as much.
  await evict(session);
  return (await responseIn(await session.request("tools/list", {}))).result;
}
async function modernList(): Promise<Json | undefined> {
  const _meta = { [VERSION_KEY]: MODERN, [CAPABILITIES_KEY]: {} };
  return (await responseIn(await modern({ mcp: "/mcp" }, "tools/list", { _meta }))).result;
}

describe("beside a bad entry,", () => {
  test.for([
    { era: "legacy", list: legacyList },
    { era: "modern", list: modernList },
  ])(
    "the other one is served, and a $era client of this machine is told",
    async ({ list }, { expect }) => {
      const result = await list();
      expect(result?.["tools"]).toMatchObject([{ name: `${good.slug}__work` }]);
      expect(result?.["_meta"]).toEqual({
        "edgeway/servers": [{ server: "bad", state: "misconfigured", message: SENTENCE }],
      });
    },
  );

  test("the other one has its own endpoint, and the bad one says that it is not served", async ({
    expect,
  }) => {
    const session = await Session.open(good.mcp);
    const { result } = await responseIn(await session.request("tools/list", {}));
    expect(result?.["tools"]).toMatchObject([{ name: "work" }]);
    expect(result?.["_meta"]).toBeUndefined();
    const refused = await send("/mcp/bad", { method: "POST" });
    expect(refused.status).toBe(503);
    expect(await refused.text()).toBe(
      'The upstream "bad" has a mistake in its configuration, so it is not served.\n',
    );
  });

  test("the first page shows it, since whoever opens that runs the gateway", async ({ expect }) => {
    const page = await (await send("/", { headers: { Accept: "text/html" } })).text();
    expect(page).toContain("Not served as configured");
    expect(page).toContain("the secret &quot;NOT_SET&quot; is not set");
    expect(page).toContain(`/mcp/${good.slug}`);
    expect(page).not.toContain("HUSH");
  });
});

test("a bad entry is logged once", async ({ expect }) => {
  const log = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const servers = String(env["MCP_SERVERS"]);
  changeConfiguration({ MCP_SERVERS: servers });
  for (let n = 0; n < 3; n++) await send("/health");
  const lines = log.mock.calls.map(([line]) => String(line));
  log.mockRestore();
  expect(lines.filter((line) => line.includes('"configuration"'))).toEqual([
    JSON.stringify({
      event: "configuration",
      server: "bad",
      state: "misconfigured",
      message: SENTENCE,
    }),
  ]);
});
