/** The demo upstream as a server of its own, that can be killed and started again at its port. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { freePort } from "../support/free-port.ts";
import { type Server, startDemo as startServer } from "../support/servers.ts";

export interface DemoServer {
  readonly url: string;
  kill(): Promise<void>;
  revive(): Promise<void>;
  /** Leaves nothing of it. */
  remove(): Promise<void>;
}

export async function startDemo(): Promise<DemoServer> {
  const port = await freePort();
  const persistTo = await mkdtemp(join(tmpdir(), "edgeway-demo-"));
  let server: Server | undefined = await startServer({ port, persistTo });
  const kill = async (): Promise<void> => {
    await server?.stop("SIGKILL");
    server = undefined;
  };
  return {
    url: server.url,
    kill,
    async revive() {
      server ??= await startServer({ port, persistTo });
    },
    async remove() {
      await kill();
      await rm(persistTo, { recursive: true, force: true });
    },
  };
}
