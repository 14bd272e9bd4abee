/** Starts the scripted upstreams, and configures the Worker under test with them. */

import type { TestProject } from "vitest/node";

import { packMcpb } from "../../cli/pack-mcpb.mjs";
import { startOidcProvider } from "./oidc-provider.ts";
import { startScriptedUpstreams } from "./scripted-upstream.ts";
import { type Kind, KINDS } from "./scripted-upstream-script.ts";
import { seedsUpTo } from "./seeds.ts";
import { SMALL_LIMITS } from "./small-limits.ts";
import { startVendors } from "./vendor/vendors.ts";

/** Tests take a slug each and give none back. */
const SLUGS: Readonly<Record<Kind, number>> = {
  auto: 1300,
  hasty: 60,
  patient: 4,
  sse: 40,
  legacy: 20,
  modern: 20,
  keyed: 20,
};

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // wrangler would, before it bundles.
  await packMcpb();
  const [upstreams, oidc, vendors] = await Promise.all([
    startScriptedUpstreams(SLUGS),
    startOidcProvider(),
    startVendors(),
  ]);
  const servers: Record<string, object> = {};
  for (const kind of Object.keys(KINDS) as Kind[]) {
    for (const slug of upstreams.slugs(kind)) {
      servers[slug] = { url: `${upstreams.origin}/u/${slug}`, ...KINDS[kind] };
    }
  }
  project.provide("scripted", upstreams.origin);
  project.provide("oidc", oidc.issuer);
  project.provide("vendors", vendors.origin);
  project.provide("seedFactor", seedsUpTo(1).length);
  project.provide("workerdBindings", {
    AUTH_MODE: "none",
    // What is counted is what is tested; its own tests switch it on.
    ACTIVITY: "off",
    MCP_SERVERS: JSON.stringify(servers),
    LIMITS: JSON.stringify(SMALL_LIMITS),
    ALLOWED_ORIGINS: JSON.stringify(["https://app.example.com"]),
  });
  return async () => {
    await Promise.all([upstreams.stop(), oidc.stop(), vendors.stop()]);
  };
}
