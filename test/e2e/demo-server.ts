/** The demo upstream as a server of its own, that can be killed and started again at its port. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { freePort } from "../support/free-port.ts";
import { type Program, ROOT, startProgram } from "../support/process.ts";

export interface DemoServer {
  readonly url: string;
  kill(): Promise<void>;
  revive(): Promise<void>;
  /** Leaves nothing of it. */
  remove(): Promise<void>;
}

export async function startDemo(): Promise<DemoServer> {
  const port = await freePort();
  const state = await mkdtemp(join(tmpdir(), "edgeway-demo-"));
  const url = `http://localhost:${port}/mcp`;
  let program: Program | undefined;
  const demo: DemoServer = {
    url,
    async kill() {
      await program?.stop("SIGKILL");
      program = undefined;
    },
    async revive() {
      program ??= await startProgram({
        command: `${ROOT}node_modules/.bin/wrangler`,
        args: [
          ...["dev", "-c", "examples/demo-server/wrangler.toml", "--port", String(port)],
          ...["--inspector-port", "0", "--persist-to", state],
        ],
        env: {
          WRANGLER_SEND_METRICS: "false",
          CLOUDFLARE_CF_FETCH_ENABLED: "false",
          WRANGLER_REGISTRY_PATH: state,
        },
        readyUrl: url,
      });
    },
    async remove() {
      await demo.kill();
      await rm(state, { recursive: true, force: true });
    },
  };
  await demo.revive();
  return demo;
}
