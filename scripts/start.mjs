/**
 * `npm start`: wrangler dev with the gateway and the demo upstream side by side. Arguments are
 * passed on. The demo is bound here and not in wrangler.toml, because a deploy would look for a
 * Worker of that name.
 */

import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const config = "wrangler.dev.toml";

const demoBinding = `
[[services]]
binding = "DEMO"
service = "edgeway-demo-server"
`;
writeFileSync(`${root}${config}`, readFileSync(`${root}wrangler.toml`, "utf8") + demoBinding);

// A registry of its own: another gateway on this machine must not lend us its demo upstream.
const registry = `${root}.wrangler/registry-${process.pid}`;
mkdirSync(registry, { recursive: true });

const quiet = {
  // No telemetry, no look-up of a placeholder `cf` object, no update check: a start needs no network.
  WRANGLER_SEND_METRICS: "false",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_HIDE_BANNER: "true",
  // These two write every request to a database that nobody reads here.
  X_LOCAL_OBSERVABILITY: "false",
  X_LOCAL_EXPLORER: "false",
  WRANGLER_REGISTRY_PATH: registry,
};

const child = spawn(
  `${root}node_modules/.bin/wrangler`,
  ["dev", "-c", config, "-c", "examples/demo-server/wrangler.toml", ...process.argv.slice(2)],
  {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, ...quiet, PATH: `${root}node_modules/.bin:${process.env["PATH"]}` },
  },
);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("exit", (code, signal) => process.exit(signal === null ? (code ?? 1) : 0));
