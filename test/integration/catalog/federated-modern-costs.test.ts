/** 2026-07-28 where several servers meet: what each operation costs, counted where it happens. */

// Has an isolate of its own: it counts the costs of everything.
import { beforeAll, describe, test } from "vitest";

import { type Costs, readCosts } from "../../../src/observability/costs.ts";
import type { Json, Reaction, Script } from "../../support/scripted-upstream-script.ts";
import { modern } from "../client.ts";
import { EventReader, responseIn } from "../event-reader.ts";
import { takeSeveral } from "../several-servers.ts";
import { jsonOf, type Upstream } from "../upstream.ts";

const always = (result: Json): readonly Reaction[] => [{ ...jsonOf({ result }), isLasting: true }];

const SCRIPT: Script = {
  server: "modern",
  tools: [
    {
      name: "work",
      inputSchema: { type: "object", properties: { a: { type: "string", "x-mcp-header": "A" } } },
    },
  ],
  reactions: {
    "resources/list": always({ resources: [{ uri: "file:///a", name: "a" }], ttlMs: 60_000 }),
    "resources/templates/list": always({ resourceTemplates: [], ttlMs: 60_000 }),
    "resources/read": always({ contents: [] }),
    "prompts/list": always({ prompts: [{ name: "greet" }], ttlMs: 60_000 }),
    "prompts/get": always({ messages: [] }),
  },
};

let servers: readonly Upstream[];

beforeAll(async () => {
  servers = await takeSeveral([{ script: SCRIPT }, { script: SCRIPT }, { script: SCRIPT }]);
  // From here on, everything is known.
  for (const method of ["tools/list", "server/discover"]) await answered(method);
  for (const { slug } of servers) {
    await answered("tools/call", { name: `${slug}__work`, arguments: {} });
  }
});

async function answered(method: string, params: Json = {}, headers = {}): Promise<void> {
  const { error } = await responseIn(await modern({ mcp: "/mcp" }, method, params, { headers }));
  if (error !== undefined) throw new Error(JSON.stringify(error));
}

type Counted = Pick<Costs, "objectRequests" | "outgoingRequests" | "rowsWritten">;

async function costsOf(act: () => Promise<unknown>): Promise<Counted> {
  const before = readCosts();
  await act();
  const after = readCosts();
  return {
    objectRequests: after.objectRequests - before.objectRequests,
    outgoingRequests: after.outgoingRequests - before.outgoingRequests,
    rowsWritten: after.rowsWritten - before.rowsWritten,
  };
}

describe("where everything is known", () => {
  test.for<{ method: string; params: (slug: string) => Json; headers?: Json }>([
    {
      method: "tools/call",
      params: (slug) => ({ name: `${slug}__work`, arguments: { a: "b" } }),
      headers: { "Mcp-Param-A": "b" },
    },
    { method: "prompts/get", params: (slug) => ({ name: `${slug}__greet` }) },
    { method: "resources/read", params: () => ({ uri: "file:///a" }) },
  ])("$method costs one outgoing request, and no object's", async (row, { expect }) => {
    const { method, params, headers = {} } = row;
    const call = async (): Promise<void> => {
      for (const { slug } of servers) await answered(method, params(slug), headers);
    };
    expect(await costsOf(call)).toEqual({
      ...{ objectRequests: 0, outgoingRequests: servers.length, rowsWritten: 0 },
    });
  });

  test.for(["tools/list", "prompts/list", "resources/list", "server/discover"])(
    "%s costs a request of each server's object at most, and none of the servers'",
    async (method, { expect }) => {
      const costs = await costsOf(() => answered(method));
      expect(costs).toMatchObject({ outgoingRequests: 0, rowsWritten: 0 });
      expect(costs.objectRequests).toBeLessThanOrEqual(servers.length);
    },
  );

  test("a listener costs nothing while it is idle", async ({ expect }) => {
    const params = { notifications: { toolsListChanged: true } };
    const stream = new EventReader(await modern({ mcp: "/mcp" }, "subscriptions/listen", params));
    await stream.message();
    await stream.silence();
    const idle = async (): Promise<void> => {
      for (let n = 0; n < 2; n++) await stream.silence();
    };
    expect(await costsOf(idle)).toEqual({
      ...{ objectRequests: 0, outgoingRequests: 0, rowsWritten: 0 },
    });
    await stream.cancel();
  });
});
