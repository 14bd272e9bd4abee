/** Starts what the Worker with sign-in can reach, and configures it with that. */

import type { TestProject } from "vitest/node";

import { packMcpb } from "../../cli/pack-mcpb.mjs";
import { startCanary } from "./canary.ts";
import { OWNER_CODE, PEOPLE_PROVIDER } from "./oauth-owner.ts";
import { startScriptedUpstreams } from "./scripted-upstream.ts";
import { SMALL_LIMITS } from "./small-limits.ts";
import { startVendors } from "./vendor/vendors.ts";

/** Two servers of both eras, shared by all tests. */
const SLUGS = ["alpha", "beta"] as const;

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // wrangler would, before it bundles.
  await packMcpb();
  const [upstreams, canary, vendors] = await Promise.all([
    startScriptedUpstreams(),
    startCanary(),
    startVendors(),
  ]);
  for (const slug of SLUGS) upstreams.put(slug, { server: "dual" });
  project.provide("scripted", upstreams.origin);
  project.provide("canary", canary.origin);
  project.provide("vendors", vendors.origin);
  project.provide("signInBindings", {
    AUTH_MODE: "oauth",
    ACTIVITY: "off",
    PUBLIC_ORIGIN: "https://gw.example.com",
    OWNER_CODE,
    IDENTITY: JSON.stringify([{ provider: "owner" }, PEOPLE_PROVIDER]),
    MCP_SERVERS: JSON.stringify(
      Object.fromEntries(SLUGS.map((slug) => [slug, { url: `${upstreams.origin}/u/${slug}` }])),
    ),
    LIMITS: JSON.stringify(SMALL_LIMITS),
    ALLOWED_ORIGINS: JSON.stringify(["https://app.example.com"]),
  });
  return async () => {
    await Promise.all([upstreams.stop(), canary.stop(), vendors.stop()]);
  };
}
