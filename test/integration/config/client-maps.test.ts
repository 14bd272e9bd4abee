/** Twelve configurations as clients write them, pasted into a gateway: it serves the rest, and names the others. */

// Has an isolate of its own: it configures the gateway anew for each of them.
import { abortAllDurableObjects } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, inject, test } from "vitest";

import { EXPECTED, FILES, SECRET, SECRETS } from "../../support/client-maps.ts";
import type { Json } from "../../support/scripted-upstream-script.ts";
import { CAPABILITIES_KEY, MODERN, modern, VERSION_KEY } from "../client.ts";
import { changeConfiguration } from "../configuration.ts";
import { responseIn } from "../event-reader.ts";
import { Upstream } from "../upstream.ts";

const ADDRESS = /("(?:url|httpUrl|serverUrl)": )"https:[^"$]*"/g;
const _meta = { [VERSION_KEY]: MODERN, [CAPABILITIES_KEY]: {} };

let address: string;

beforeAll(async () => {
  const tools = [{ name: "work", inputSchema: { type: "object" } }];
  const { slug } = await Upstream.take({ server: "dual", capabilities: { tools: {} }, tools });
  address = `${inject("scripted")}/u/${slug}`;
  Object.assign(env, SECRETS);
});

describe("pasted into the gateway, unchanged but for addresses", () => {
  test.for(Object.entries(EXPECTED))("%s", async ([file, { served, named, tools }], { expect }) => {
    const text = FILES[`./client-maps/${file}`] ?? "";
    changeConfiguration({ MCP_SERVERS: text.replaceAll(ADDRESS, `$1"${address}"`) });
    await abortAllDurableObjects();
    const answer = await modern({ mcp: "/mcp" }, "tools/list", { _meta });
    const { result = {} } = await responseIn(answer);
    const names = (result["tools"] as readonly Json[]).map(({ name }) => name);
    for (const [slug, target] of Object.entries(served)) {
      // The upstream here speaks Streamable HTTP alone, and its only tool is not in these lists.
      if ("endpoint" in target || ("transport" in target && target.transport === "sse")) continue;
      const isAllowed = tools?.[slug]?.allow === undefined;
      expect(names.includes(`${slug}__work`), slug).toBe(isAllowed);
    }
    const notes = (result["_meta"] as Json)["edgeway/servers"] as readonly Json[];
    for (const [slug, [state, sentence]] of Object.entries(named)) {
      const note = notes.find((each) => each["server"] === slug && each["state"] === state);
      if (state === "off") expect(note).toBeUndefined();
      else expect(note?.["message"]).toContain(sentence);
    }
    expect(JSON.stringify(result)).not.toContain(SECRET);
  });
});
