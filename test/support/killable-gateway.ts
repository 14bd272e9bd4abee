/** A gateway that is killed and started again at one port, on one storage. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { freePort } from "./free-port.ts";
import { type GatewayOptions, type Server, startGateway } from "./servers.ts";
import { until } from "./until.ts";

export interface KillableGateway {
  readonly url: string;
  /** Where everything is that outlives it. */
  readonly storage: string;
  /** The leader of its process group. */
  readonly pid: number;
  /** What its last life has printed. */
  output(): string;
  /** SIGKILL: no process can write a last message. */
  kill(): Promise<void>;
  /**
   * @param storage another place to find its storage at.
   * @param vars in place of those that it had until then.
   */
  start(storage?: string, vars?: GatewayOptions["vars"]): Promise<void>;
  /** Ends it and removes its storage. */
  remove(): Promise<void>;
}

export async function startKillableGateway(
  options: Pick<GatewayOptions, "auth" | "servers" | "limits" | "vars">,
): Promise<KillableGateway> {
  const storage = await mkdtemp(join(tmpdir(), "edgeway-killed-"));
  const port = await freePort();
  const start = (persistTo = storage, vars = options.vars ?? {}): Promise<Server> =>
    startGateway({ ...options, vars, port, persistTo });
  let server = await start();
  const { url } = server;
  return {
    url,
    storage,
    get pid() {
      return server.program.pid;
    },
    output: () => server.program.output(),
    async kill() {
      await server.program.stop("SIGKILL");
      await until(async () => !(await isServed(url)), `nobody serves ${url} any more`);
    },
    async start(persistTo, vars) {
      server = await start(persistTo, vars);
    },
    async remove() {
      await server.stop();
      await rm(storage, { recursive: true, force: true });
    },
  };
}

async function isServed(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/health`);
    await response.body?.cancel();
    return true;
  } catch {
    return false;
  }
}
