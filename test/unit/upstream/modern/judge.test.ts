/** `judge()`: what a reply to `server/discover` proves of a server's era (protocol reference 2.6). */

import { describe, test } from "vitest";

import type { ErrorObject, Reply } from "../../../../src/protocol/json-rpc.ts";
import { judge } from "../../../../src/upstream/modern/discover.ts";

const discovered = { supportedVersions: ["2026-07-28", "2025-11-25"], capabilities: { tools: {} } };
const legacy = { era: "legacy" };
const errorOf = (code: number, data?: unknown): ErrorObject => ({ code, message: "m", data });

describe("judge()", () => {
  const rows: { name: string; reply: Reply; verdict: object }[] = [
    {
      name: "a discovery that shares a revision",
      reply: { result: discovered },
      verdict: { era: "modern" },
    },
    {
      name: "a discovery that shares none",
      reply: { result: { ...discovered, supportedVersions: ["2027-01-01"] } },
      verdict: legacy,
    },
    { name: "no versions", reply: { result: { capabilities: {} } }, verdict: legacy },
    {
      name: "versions that are a string",
      reply: { result: { ...discovered, supportedVersions: "2026-07-28" } },
      verdict: legacy,
    },
    {
      name: "no capabilities",
      reply: { result: { supportedVersions: ["2026-07-28"] } },
      verdict: legacy,
    },
    {
      name: "-32022 with modern revisions that we do not speak",
      reply: { error: errorOf(-32022, { supported: ["2027-01-01"] }) },
      verdict: { era: "unknown-modern", supported: ["2027-01-01"] },
    },
    {
      name: "-32022 with legacy revisions",
      reply: { error: errorOf(-32022, { supported: ["2025-11-25", "2025-06-18"] }) },
      verdict: legacy,
    },
    {
      name: "-32022 with a legacy revision that we do not speak",
      reply: { error: errorOf(-32022, { supported: ["2024-10-07"] }) },
      verdict: legacy,
    },
    { name: "-32022 without a list", reply: { error: errorOf(-32022) }, verdict: legacy },
    {
      name: "-32022 with an empty list",
      reply: { error: errorOf(-32022, { supported: [] }) },
      verdict: legacy,
    },
    {
      name: "-32022 with a list that is not well formed",
      reply: { error: errorOf(-32022, { supported: [20270101] }) },
      verdict: legacy,
    },
    ...[-32020, -32021, -32601, -32600, -32000, -32001, -32004, -32602].map((code) => ({
      name: `error ${code}`,
      reply: { error: errorOf(code, { supported: ["2027-01-01"] }) },
      verdict: legacy,
    })),
  ];
  test.for(rows)("$name", ({ reply, verdict }, { expect }) => {
    expect(judge(reply)).toEqual(verdict);
  });
});
