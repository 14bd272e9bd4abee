/** Bundles of a run of end-to-end tests, and the servers that its files share. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

import { bundleWorker } from "./bundle.ts";
import { ROOT } from "./process.ts";
import {
  type Bundles,
  type Server,
  startEverything,
  startFixture,
  startGateway,
} from "./servers.ts";
import type { SharedServers } from "./shared-servers.ts";

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const started: Server[] = [];
  const folder = await mkdtemp(join(tmpdir(), "edgeway-bundles-"));
  const stopAll = async (): Promise<void> => {
    await Promise.all(started.map((server) => server.stop()));
    await rm(folder, { recursive: true, force: true });
  };
  const start = async (starting: Promise<Server>): Promise<string> => {
    const server = await starting;
    started.push(server);
    return server.url;
  };
  try {
    const bundles = {
      gateway: bundleWorker(`${ROOT}wrangler.toml`, join(folder, "gateway")),
      demo: bundleWorker(`${ROOT}examples/demo-server/wrangler.toml`, join(folder, "demo")),
    };
    project.provide("bundles", bundles);
    const shared = Array.from({ length: processesOf(project) }, () => startShared(start, bundles));
    project.provide("sharedServers", await Promise.all(shared));
    return stopAll;
  } catch (error) {
    await stopAll();
    throw error;
  }
}

/** How many processes run the files of a project. */
function processesOf({ config, vitest }: TestProject): number {
  return Math.min(config.maxWorkers, vitest.state.getPaths().length);
}

/** Every real server, and one gateway before them. */
async function startShared(
  start: (starting: Promise<Server>) => Promise<string>,
  bundles: Bundles,
): Promise<SharedServers> {
  const [fixture, everything, everythingSse] = await Promise.all([
    start(startFixture()),
    start(startEverything("streamableHttp")),
    start(startEverything("sse")),
  ]);
  const servers = {
    fixture: { url: fixture },
    everything: { url: everything },
    "everything-sse": { url: everythingSse, type: "sse" },
    demo: { service: "DEMO" },
  };
  const limits = { keepAliveSeconds: 1 };
  const gateway = await start(startGateway({ servers, limits, bundles }));
  return { gateway, fixture, everything, everythingSse };
}
