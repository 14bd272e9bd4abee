/**
 * `npm run measure`: the numbers of `docs/benchmarks.md`. Bundle size, what start-up adds to an empty
 * Worker's, the memory that a 20 MB stream to a reader that stalls takes, and how long one update
 * takes to reach very many. On bare workerd, on loopback, in about two minutes. `-- command` measures the command
 * `edgeway` alone.
 */

import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import { bundleWorker } from "../test/support/bundle.ts";
import { freePort } from "../test/support/free-port.ts";
import { measureCommand } from "./measure-command.mjs";
import { measureCatalog } from "./measure-catalog.mjs";
import { measureEvaluation } from "./measure-evaluation.mjs";
import { measureFanOut } from "./measure-fan-out.mjs";
import { measureIdleStreams } from "./measure-idle.mjs";
import { openSession, post } from "./measure-post.mjs";
import { makeScratchFolder } from "./scratch-folder.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const bin = (/** @type {string} */ name) => `${root}node_modules/.bin/${name}`;
const scratch = makeScratchFolder("edgeway-measure-");
const buildBundle = (/** @type {string} */ folder, /** @type {"minified" | "readable"} */ style) =>
  bundleWorker(`${root}wrangler.toml`, folder, style).path;
/** The name of the gateway in workerd. */
const WORKER = "main";
const START_RUNS = 11;
const EMPTY_WORKER = `export default { fetch: () => new Response("ok") };
import { DurableObject } from "cloudflare:workers";
export class SessionObject extends DurableObject {}
export class AuthShardObject extends DurableObject {}
export class RegistryObject extends DurableObject {}
export class FeedObject extends DurableObject {}
export class FanOutObject extends DurableObject {}
export class BridgeObject extends DurableObject {}
export class VaultObject extends DurableObject {}
export class ActivityObject extends DurableObject {}`;
/** Who hear of one update: legacy sessions, and as many modern listeners. */
const SUBSCRIBERS = [10, 100, 1000];

try {
  await printCommand();
  if (process.argv[2] !== "command") await printGateway();
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

async function printCommand() {
  const command = await measureCommand(scratch, memoryMib);
  print("Size of the command edgeway", kib(command.bytes));
  for (const [name, bytes] of command.parts) print(`  ${kib(bytes)}`, name);
  print(
    "Start of the command edgeway",
    `${command.ms.toFixed(0)} ms, ${(command.ms / command.emptyMs).toFixed(2)} times an empty program of Node`,
  );
  print(
    "Memory of edgeway connect, waiting",
    `${mib(command.mib ?? 0)}, of which an empty program of Node takes ${mib(command.emptyMib ?? 0)}`,
  );
}

async function printGateway() {
  const bundle = readFileSync(buildBundle(scratch, "minified"));
  writeFileSync(join(scratch, "empty.js"), EMPTY_WORKER);
  print("Bundle, minified", `${kib(bundle.byteLength)}, ${kib(gzipSync(bundle).byteLength)} gzip`);

  const [ours, empty] = await measureStarts();
  print(
    "Start of workerd to first answer",
    `${ours} ms, of which an empty Worker takes ${empty} ms`,
  );

  const { allMs, count, largest } = measureEvaluation(
    buildBundle(join(scratch, "readable"), "readable"),
  );
  print("Evaluation of the bundle", `${allMs.toFixed(1)} ms for ${count} modules, the largest:`);
  for (const [name, ms] of largest) print(`  ${ms.toFixed(2)} ms`, name);

  for (const megabytes of [20, 200]) {
    const { before, peak } = await measureStalledStream(megabytes);
    const name = `Memory, ${megabytes} MB to a stalled reader`;
    print(name, `${mib(before)} before, ${mib(peak)} at the most`);
  }

  for (const [name, kib] of await measureIdleStreams(startWithFixture, WORKER)) {
    print(name, `${kib.toFixed(1)} KiB`);
  }

  let pid = 0;
  const listed = await measureCatalog(
    async (servers) => {
      const worker = await startWorkerd("index.js", { MCP_SERVERS: JSON.stringify(servers) });
      pid = worker.pid;
      return worker;
    },
    () => memoryMib(pid),
  );
  print(
    "10000 tools of 50 servers",
    `first page ${listed.firstMs.toFixed(0)} ms, all ${listed.allMs.toFixed(0)} ms, ` +
      `again ${listed.warmMs.toFixed(0)} ms; ${mib(listed.mib)} more than before`,
  );

  for (const count of SUBSCRIBERS) {
    const { asleep, awake, objectRequests } = await measureUpdates(count);
    const times = `${awake.toFixed(0)} ms, ${asleep.toFixed(0)} ms when the sessions sleep`;
    print(
      `To ${count} sessions, ${count} listeners`,
      `${times}; ${objectRequests} requests of Durable Objects`,
    );
  }
}

function kib(/** @type {number} */ bytes) {
  return `${(bytes / 1024).toFixed(1)} KiB`;
}

function mib(/** @type {number} */ value) {
  return `${value.toFixed(0)} MiB`;
}

function print(/** @type {string} */ name, /** @type {string} */ value) {
  process.stdout.write(`${name.padEnd(36)}${value}\n`);
}

/** Runs a bundle on bare workerd until it answers; the caller stops it. */
async function startWorkerd(
  /** @type {string} */ script,
  /** @type {Record<string, string>} */ vars,
) {
  const port = await freePort();
  const bindings = Object.entries({ AUTH_MODE: "none", ...vars }).map(
    ([name, value]) => `(name = "${name}", text = ${JSON.stringify(value)})`,
  );
  const config = join(scratch, `${port}.capnp`);
  // Whoever is subscribed stays so, also when nobody runs any more.
  const disk = join(scratch, `disk-${port}`);
  mkdirSync(disk);
  writeFileSync(
    config,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "${WORKER}", worker = .worker),
    (name = "disk", disk = (path = "${disk}", writable = true)),
    (name = "internet", network = (allow = ["public", "private", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "${WORKER}")],
);
const worker :Workerd.Worker = (
  modules = [(name = "index.js", esModule = embed "${script}")],
  compatibilityDate = "2026-10-23",
  compatibilityFlags = ["enable_request_signal", "global_fetch_strictly_public"],
  durableObjectNamespaces = [
    (className = "SessionObject", uniqueKey = "sessions", enableSql = true),
    (className = "AuthShardObject", uniqueKey = "auth", enableSql = true),
    (className = "RegistryObject", uniqueKey = "registry", enableSql = true),
    (className = "FeedObject", uniqueKey = "feeds", enableSql = true),
    (className = "FanOutObject", uniqueKey = "fan-out", enableSql = true),
    (className = "BridgeObject", uniqueKey = "bridges", enableSql = true),
    (className = "VaultObject", uniqueKey = "vaults", enableSql = true),
    (className = "ActivityObject", uniqueKey = "activities", enableSql = true),
  ],
  durableObjectStorage = (localDisk = "disk"),
  bindings = [
    (name = "SESSIONS", durableObjectNamespace = "SessionObject"),
    (name = "AUTH", durableObjectNamespace = "AuthShardObject"),
    (name = "REGISTRY", durableObjectNamespace = "RegistryObject"),
    (name = "FEEDS", durableObjectNamespace = "FeedObject"),
    (name = "FAN_OUT", durableObjectNamespace = "FanOutObject"),
    (name = "BRIDGES", durableObjectNamespace = "BridgeObject"),
    (name = "VAULTS", durableObjectNamespace = "VaultObject"),
    (name = "ACTIVITIES", durableObjectNamespace = "ActivityObject"),
    ${bindings.join(",\n    ")},
  ],
);
`,
  );
  const origin = `http://127.0.0.1:${port}`;
  // Its log has a line for each call, which nobody reads here.
  /** @type {["ignore", "ignore", "inherit"]} */
  const stdio = ["ignore", "ignore", "inherit"];
  const inspector = `127.0.0.1:${await freePort()}`;
  const args = ["serve", "--experimental", `--inspector-addr=${inspector}`, config];
  const startedAt = performance.now();
  const child = spawn(bin("workerd"), args, { stdio });
  while (!(await isServing(`${origin}/health`))) {
    if (performance.now() - startedAt > 10_000) throw new Error("workerd did not start");
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const startMs = performance.now() - startedAt;
  const stop = () => child.kill("SIGKILL");
  return { origin, inspector, startMs, pid: child.pid ?? 0, stop };
}

/** The gateway in front of the fixture server; both end together. */
async function startWithFixture(/** @type {Record<string, string>} */ vars = {}) {
  const port = await freePort();
  const fixture = spawn(bin("node"), [`${root}test/fixture-server/main.ts`, String(port)]);
  const url = `http://localhost:${port}/mcp`;
  const servers = { MCP_SERVERS: JSON.stringify({ fixture: { url } }) };
  const worker = await startWorkerd("index.js", { ...servers, ...vars });
  const stop = () => [worker.stop(), fixture.kill()];
  return { ...worker, stop };
}

async function isServing(/** @type {string} */ url) {
  const response = await fetch(url).catch(() => undefined);
  await response?.body?.cancel();
  return response?.ok === true;
}

/** Medians, the two taken in turns, so that the machine's moods hit both alike. */
async function measureStarts() {
  /** @type {number[][]} */
  const times = [[], []];
  for (let run = 0; run < START_RUNS; run++) {
    for (const [index, script] of ["index.js", "empty.js"].entries()) {
      const { startMs, stop } = await startWorkerd(script, {});
      stop();
      times[index]?.push(startMs);
    }
  }
  return times.map((list) => list.toSorted((a, b) => a - b)[START_RUNS >> 1]?.toFixed(0));
}

/** Progress events of 64 KiB in a legacy session; the reader sleeps for 3 s, then reads it all. */
async function measureStalledStream(/** @type {number} */ megabytes) {
  const worker = await startWithFixture();
  try {
    const session = await openSession(worker.origin);
    const before = memoryMib(worker.pid);
    const params = {
      name: "test_burst",
      arguments: { count: megabytes * 16, bytes: 65_536 },
      _meta: { progressToken: 1 },
    };
    const response = await post(worker.origin, session, { id: 2, method: "tools/call", params });
    let peak = before;
    for (let look = 0; look < 30; look++) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      peak = Math.max(peak, memoryMib(worker.pid));
    }
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      bytes += chunk.byteLength;
      peak = Math.max(peak, memoryMib(worker.pid));
    }
    if (bytes < megabytes * 1_000_000) throw new Error(`Only ${bytes} bytes of the stream came`);
    return { before, peak };
  } finally {
    worker.stop();
  }
}

async function measureUpdates(/** @type {number} */ count) {
  const worker = await startWithFixture({
    LIMITS: JSON.stringify({
      requestsPerMinute: 1_000_000,
      listenStreamsPerPrincipal: 10_000,
      streamsPerPerson: 10_000,
    }),
    COST_REPORT: "on",
  });
  try {
    await openSession(worker.origin);
    return await measureFanOut(worker.origin, count);
  } finally {
    worker.stop();
  }
}

function memoryMib(/** @type {number} */ pid) {
  const { stdout } = spawnSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" });
  return Number(stdout) / 1024;
}
