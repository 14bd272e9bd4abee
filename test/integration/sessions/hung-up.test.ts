/** A client that hangs up in the middle of a call leaves nothing behind at the server. */

import { exports } from "cloudflare:workers";
import { beforeAll, test, vi } from "vitest";

import { within } from "../bounded.ts";
import { BOTH_TYPES, envelope, MODERN, modern, modernCall, ORIGIN } from "../client.ts";
import { responseIn } from "../event-reader.ts";
import { setLimits } from "../own-limits.ts";
import { Upstream } from "../upstream.ts";

// Half a minute is the longest that the platform lets a call run whose client has gone.
vi.setConfig({ testTimeout: 80_000 });
beforeAll(() => setLimits({ requestsInFlightPerServer: 1 }));

test("the place of a call whose client hung up is free for others", async ({ expect }) => {
  const upstream = await Upstream.take({
    server: "modern",
    tools: [{ name: "work", inputSchema: { type: "object" } }],
    reactions: { "tools/call": [{ heldBy: "gate" }] },
  });
  await responseIn(await modern(upstream, "tools/list"));
  const client = new AbortController();
  const params = { _meta: envelope(), name: "work", arguments: {} };
  const calling = exports.default.fetch(
    new Request(ORIGIN + upstream.mcp, {
      ...{ method: "POST", signal: client.signal },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
      headers: {
        ...{ "Content-Type": "application/json", Accept: BOTH_TYPES },
        ...{ "MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "work" },
      },
    }),
  );
  await upstream.receives("tools/call");
  client.abort();
  await within(
    calling.catch(() => undefined),
    "the client to have gone",
  );
  await upstream.open("gate");
  await vi.waitFor(
    async () => {
      const { result } = await responseIn(await modernCall(upstream));
      expect(result).not.toHaveProperty("isError");
    },
    { timeout: 60_000, interval: 100 },
  );
});
