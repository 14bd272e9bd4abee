/** Starts the scripted upstreams, and configures the Worker under test with them. */

import type { TestProject } from "vitest/node";

import { startScriptedUpstreams } from "./scripted-upstream.ts";
import { type Kind, KINDS } from "./scripted-upstream-script.ts";

/** Tests take a slug each and give none back. */
const SLUGS: Readonly<Record<Kind, number>> = {
  auto: 900,
  hasty: 60,
  sse: 40,
  legacy: 20,
  modern: 20,
  keyed: 20,
};

/** Small, so that a test can reach them. */
const LIMITS = {
  maxBodyBytes: 65_536,
  maxMessageBytes: 65_536,
  maxJsonDepth: 32,
  openStreamsPerSession: 6,
  keptStreamsPerSession: 8,
  keptBytesPerStream: 16_384,
  streamOpensPerMinute: 600,
  requestsInFlightPerSession: 4,
  keepAliveSeconds: 1,
  streamAfterSeconds: 1,
  stallSeconds: 1,
  quietSeconds: 1,
  lingerSeconds: 1,
  askSeconds: 3,
  retryMilliseconds: 100,
};

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const upstreams = await startScriptedUpstreams(SLUGS);
  const servers: Record<string, object> = {};
  for (const kind of Object.keys(KINDS) as Kind[]) {
    for (const slug of upstreams.slugs(kind)) {
      servers[slug] = { url: `${upstreams.origin}/u/${slug}`, ...KINDS[kind] };
    }
  }
  project.provide("scripted", upstreams.origin);
  project.provide("workerdBindings", {
    MCP_SERVERS: JSON.stringify(servers),
    LIMITS: JSON.stringify(LIMITS),
    ALLOWED_ORIGINS: JSON.stringify(["https://app.example.com"]),
  });
  return () => upstreams.stop();
}
