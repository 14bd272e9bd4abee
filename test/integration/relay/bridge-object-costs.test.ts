/** What a modern client's calls of a legacy server cost, counted where it happens. */

// Has an isolate of its own: it counts the costs of everything.
import { evictDurableObject } from "cloudflare:test";
import { describe, test } from "vitest";

import { type Costs, readCosts } from "../../../src/observability/costs.ts";
import { BridgeClient, holderOf } from "./bridge-client.ts";
import { within } from "../bounded.ts";
import { ANSWER, event, streamOf, Upstream } from "../upstream.ts";

/** What something costs, and nothing that ran before it. */
async function costsOf(act: () => Promise<unknown>): Promise<Costs> {
  const before = readCosts();
  await act();
  const after = readCosts();
  const names = Object.keys(before) as (keyof Costs)[];
  return Object.fromEntries(
    names.map((name) => [name, after[name] - before[name]]),
  ) as unknown as Costs;
}

const ELICIT = { id: "s1", method: "elicitation/create", params: { message: "Sure?" } };

describe("a modern client of a legacy upstream", () => {
  test("costs one object call and one request for each call, and no row", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const client = new BridgeClient(upstream, { capabilities: {} });
    await client.call();
    const costs = await costsOf(async () => {
      for (let n = 0; n < 5; n++) await client.call();
    });
    expect(costs).toMatchObject({
      ...{ objectsConstructed: 0, objectRequests: 5, outgoingRequests: 5 },
      ...{ rowsRead: 0, rowsWritten: 0, alarmsSet: 0 },
    });
  });

  test("that is asked a question costs the rows that a retry needs", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [streamOf(event(ELICIT), { gate: "go-on" }, event(ANSWER))] },
    });
    const client = new BridgeClient(upstream);
    await client.request("tools/list");
    const asking = await costsOf(async () => {
      const asked = await client.asked();
      await upstream.open("go-on");
      await client.retry(asked, { r1: { action: "decline" } });
    });
    // Two tables; and the facts of the call beside its questions, its answers, and its end.
    // One of them says that a tool was called.
    expect(asking.rowsWritten).toBeLessThanOrEqual(11);
    expect(asking.rowsWritten).toBeGreaterThanOrEqual(6);
  });

  test("leaves an object that can be evicted when no call is running", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [streamOf(event(ELICIT), { gate: "go-on" }, event(ANSWER))] },
    });
    const client = new BridgeClient(upstream);
    const asked = await client.asked();
    await upstream.open("go-on");
    await client.retry(asked, { r1: { action: "decline" } });
    await within(evictDurableObject(holderOf(asked)), "an idle object to be let go");
    expect((await client.call()).result).toBeDefined();
    expect(await upstream.sessions()).toHaveLength(1);
  });
});
