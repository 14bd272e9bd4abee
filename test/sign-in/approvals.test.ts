/** How many approvals of a person are kept, and of which applications. */

import { test } from "vitest";

import type { Approval } from "../../src/auth/store/approvals.ts";
import { ORIGIN } from "./gateway.ts";
import { Visitor } from "./visitor.ts";

const KEPT = 300;

function approvalOf(client: string, redirectUri: string, approvedAt: number): Approval {
  const resource = `${ORIGIN}/mcp`;
  const described = { digest: "d", name: "A program", scopes: ["mcp"] };
  return { client, redirectUri, resource, approvedAt, ...described };
}

test("a local program that registers anew each time pushes out its own approvals, and no other", async ({
  expect,
}) => {
  const { person, shard } = await Visitor.arrive();
  const site = approvalOf("site", "https://app.example.com/callback", 1);
  await shard.approvals.save(person.id, site);
  await shard.approvals.save("somebody else", site);
  for (let n = 0; n < KEPT + 5; n++) {
    await shard.approvals.save(person.id, approvalOf(`local-${n}`, "http://127.0.0.1/cb", 2 + n));
  }
  const kept = await shard.approvals.list(person.id);
  expect(kept).toHaveLength(KEPT);
  expect(kept.at(0)?.client).toBe(`local-${KEPT + 4}`);
  expect(kept.at(-1)).toEqual(site);
  expect(await shard.approvals.list("somebody else")).toEqual([site]);
});
