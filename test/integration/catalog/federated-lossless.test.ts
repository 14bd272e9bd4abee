/** Where several servers meet, their items keep every digit: as they are read, from a catalog, and from one that is stored. */

import { abortAllDurableObjects } from "cloudflare:test";
import { beforeAll, describe, test } from "vitest";

import { CAPABILITIES_KEY, MODERN, post, VERSION_KEY } from "../client.ts";
import { DATA, jsonAnswer, resultText } from "../relay/raw-texts.ts";
import { type Several, takeSeveral } from "../several-servers.ts";
import type { Upstream } from "../upstream.ts";

const SCHEMA = `{"type":"object","properties":{"n":{"type":"number","default":1187654321098765433,"maximum":1e400,"enum":[-0,1.0]}}}`;

function listing(server: "modern" | "legacy"): Several {
  const tools = `{"tools":[{"name":"work","inputSchema":${SCHEMA},"_meta":{"m":${DATA}}}],"ttlMs":60000,"cacheScope":"public","resultType":"complete"}`;
  const reaction = { ...jsonAnswer(resultText(tools)), isLasting: true } as const;
  return { script: { server, reactions: { "tools/list": [reaction] } } };
}

let upstreams: readonly Upstream[];
beforeAll(async () => {
  upstreams = await takeSeveral([listing("modern"), listing("legacy")]);
});

async function list(): Promise<string> {
  const meta = `{"${VERSION_KEY}":"${MODERN}","${CAPABILITIES_KEY}":{}}`;
  const body = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":${meta}}}`;
  const headers = { "MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list" };
  return (await post("/mcp", body, headers)).text();
}

describe("a joint list", () => {
  test.for(["as it is read", "from memory", "as it is stored"])(
    "keeps every digit %s",
    async (from, { expect }) => {
      if (from === "as it is stored") await abortAllDurableObjects();
      const [, ...items] = (await list()).split(`"inputSchema":`);
      expect(items).toHaveLength(2);
      for (const item of items) {
        expect(item.startsWith(SCHEMA)).toBe(true);
        expect(item).toContain(`"_meta":{"m":${DATA}`);
      }
      for (const upstream of upstreams) expect(await upstream.sent("tools/list")).toHaveLength(1);
    },
  );
});
