/** How a modern server introduces itself to a legacy client. */

import { describe, test } from "vitest";
import { introduceModern } from "../../../../src/relay/introduce.ts";
import { fakeTarget, html, type Seen } from "../../upstream/fake-target.ts";
import {
  CAPABILITIES_KEY,
  CLIENT,
  completing,
  failing,
  metaIn,
} from "./legacy-to-modern-fixture.ts";

const discovery = {
  ...{ supportedVersions: ["2026-07-28"], ttlMs: 1, cacheScope: "public", instructions: "Do." },
  capabilities: { tools: { listChanged: true }, completions: {}, tasks: {} },
  _meta: { "io.modelcontextprotocol/serverInfo": { name: "s", version: "1" } },
};

test("by its discovery, as that client may see it", async ({ expect }) => {
  const sent: Seen[] = [];
  const target = fakeTarget((seen) => {
    sent.push(seen);
    return completing(discovery)(seen);
  });
  const client = { ...CLIENT, revision: "2024-11-05" } as const;
  expect(await introduceModern(target, client)).toEqual({
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: "s", version: "1" },
    instructions: "Do.",
  });
  expect(sent.map(({ body }) => body["method"])).toEqual(["server/discover"]);
  expect(metaIn(sent[0])).toMatchObject({
    [CAPABILITIES_KEY]: { roots: {}, sampling: {} },
    "io.modelcontextprotocol/clientInfo": CLIENT.clientInfo,
  });
});

describe("not at all", () => {
  test.for([
    {
      name: "refuses",
      answer: failing({ code: -32601, message: "SECRET" }),
      message: "answered server/discover with error -32601",
      reason: "malformed",
    },
    {
      name: "asks first",
      answer: completing({ resultType: "input_required" }),
      message: "answered server/discover with a wrong type of result",
      reason: "malformed",
    },
    {
      name: "is down",
      answer: () => html(502),
      message: "is failing (HTTP 502)",
      reason: "unreachable",
    },
  ])("where the server $name", async ({ answer, message, reason }, { expect }) => {
    expect(await introduceModern(fakeTarget(answer), CLIENT)).toMatchObject({
      error: { code: -32603, message: `Upstream "fake" ${message}`, data: { reason } },
    });
  });
});
