/** One gateway with every real server behind it, shared by all end-to-end tests of a run. */

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

declare module "vitest" {
  interface ProvidedContext {
    /** What `startGateway` starts. */
    bundles: Bundles;
    /** Origin of the shared gateway: `/mcp/<slug>` and `/sse/<slug>` lead to the servers below. */
    gateway: string;
    /** Where each server is reached directly. */
    fixture: string;
    everything: string;
    everythingSse: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const started: Server[] = [];
  const folder = await mkdtemp(join(tmpdir(), "edgeway-bundles-"));
  const stopAll = async (): Promise<void> => {
    await Promise.all(started.map((server) => server.stop()));
    await rm(folder, { recursive: true, force: true });
  };
  async function start(server: Promise<Server>): Promise<Server> {
    const ready = await server;
    started.push(ready);
    return ready;
  }
  try {
    const bundles = {
      gateway: bundleWorker(`${ROOT}wrangler.toml`, join(folder, "gateway")),
      demo: bundleWorker(`${ROOT}examples/demo-server/wrangler.toml`, join(folder, "demo")),
    };
    project.provide("bundles", bundles);
    const [fixture, everything, everythingSse] = await Promise.all([
      start(startFixture()),
      start(startEverything("streamableHttp")),
      start(startEverything("sse")),
    ]);
    const gateway = await start(
      startGateway({
        servers: {
          fixture: { url: fixture.url },
          everything: { url: everything.url },
          "everything-sse": { url: everythingSse.url, type: "sse" },
          demo: { service: "DEMO" },
        },
        limits: { keepAliveSeconds: 1 },
        bundles,
      }),
    );
    project.provide("gateway", gateway.url);
    project.provide("fixture", fixture.url);
    project.provide("everything", everything.url);
    project.provide("everythingSse", everythingSse.url);
    return stopAll;
  } catch (error) {
    await stopAll();
    throw error;
  }
}
