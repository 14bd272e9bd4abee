/** What is measured, started: the gateway, what stands behind it, and what people use instead. */

import { AsyncLocalStorage } from "node:async_hooks";

import { freePort } from "../../test/support/free-port.ts";
import { buildGateway, buildPeer, buildReadableGateway, type Bundle } from "./bundle.ts";
import { startProgram } from "./children.ts";
import { inBench, NODE } from "./project.ts";
import { startWorkerd, type Workerd } from "./workerd.ts";

/** Something that serves MCP. */
export interface Server {
  readonly url: string;
  /** The leader of its process group. */
  readonly pid: number;
  /** The leaders of all groups that a request goes through: its own, and that of what it stands in front of. */
  readonly groups: readonly number[];
  /** Where a debugger may attach, if it is a Worker. */
  readonly inspector?: string | undefined;
  stop(): Promise<void>;
}

export type WorkerServer = Server & Workerd;

type Vars = Readonly<Record<string, string>>;

/** Nobody on this machine is to be held back. */
const OPEN_LIMITS = {
  ...{ requestsPerMinute: 1_000_000, listenStreamsPerPrincipal: 10_000, streamsPerPerson: 10_000 },
};
const UPSTREAM_BINDING = "UPSTREAM";

/** With the names of things in it, for a profile. */
let isReadable = false;
export function useReadableGateway(): void {
  isReadable = true;
}

/** Where the gateway is that is being started, if not in this checkout. */
const checkout = new AsyncLocalStorage<string>();
export const inCheckout = checkout.run.bind(checkout);
let compared: Bundle | undefined;

const ownGateway = once(() => (isReadable ? buildReadableGateway() : buildGateway()));
export const bundles = {
  gateway: (): Bundle => {
    const other = checkout.getStore();
    return other === undefined ? ownGateway() : (compared ??= buildGateway(other));
  },
  stateless: once(() => buildPeer("stateless")),
  mcpAgent: once(() => buildPeer("mcp-agent")),
  passing: once(() => buildPeer("passing")),
  empty: once(() => buildPeer("empty")),
};

function startGateway(upstream: string, vars: Vars = {}): Promise<WorkerServer> {
  return gatewayOf({ bench: { url: upstream } }, vars);
}

/** The gateway in front of these servers. */
export async function gatewayOf(servers: object, vars: Vars = {}): Promise<WorkerServer> {
  const worker = { bundle: bundles.gateway(), vars: { ...varsOf(servers), ...vars } };
  return asServer(await startWorkerd([worker]));
}

/** The gateway in front of a server that it has for itself. */
export function behind(start: () => Promise<Server>, vars: Vars = {}): Promise<WorkerServer> {
  return inFrontOf(start, (upstream) => startGateway(upstream, vars));
}

/** How a Worker that does nothing else passes requests on: see `bench/peers/passing.ts`. */
export type Way = "bytes" | "messages" | "object";

/** Such a Worker in front of a server that it has for itself. */
export function passing(way: Way, start: () => Promise<Server>): Promise<WorkerServer> {
  return inFrontOf(start, async (upstream) => {
    const vars = { UPSTREAM: upstream, WAY: way };
    return asServer(await startWorkerd([{ bundle: bundles.passing(), vars }]));
  });
}

async function inFrontOf(
  start: () => Promise<Server>,
  startFront: (upstream: string) => Promise<WorkerServer>,
): Promise<WorkerServer> {
  const upstream = await start();
  try {
    const front = await startFront(upstream.url);
    const stop = async (): Promise<void> => {
      await Promise.all([front.stop(), upstream.stop()]);
    };
    return { ...front, groups: [...front.groups, ...upstream.groups], stop };
  } catch (error) {
    await upstream.stop();
    throw error;
  }
}

/** The gateway with the stateless server in the same process, behind a service binding. */
export async function startHosting(vars: Vars = {}): Promise<WorkerServer> {
  const upstream = { bundle: bundles.stateless() };
  const gateway = {
    bundle: bundles.gateway(),
    vars: { ...varsOf({ bench: { service: UPSTREAM_BINDING } }), ...vars },
    services: { [UPSTREAM_BINDING]: upstream.bundle.name },
  };
  return asServer(await startWorkerd([gateway, upstream]));
}

export async function startStateless(vars: Vars = {}): Promise<WorkerServer> {
  return asServer(await startWorkerd([{ bundle: bundles.stateless(), vars }]));
}

export async function startMcpAgent(vars: Vars = {}): Promise<WorkerServer> {
  return asServer(await startWorkerd([{ bundle: bundles.mcpAgent(), vars }]));
}

export async function startEmpty(): Promise<WorkerServer> {
  return asServer(await startWorkerd([{ bundle: bundles.empty() }]));
}

/** The official SDK on Node, both eras. */
export function startNodeServer(): Promise<Server> {
  return startNode((port) => [inBench("peers", "node-server.ts"), String(port)]);
}

/** The same, with a store of events. */
export function startResumableNodeServer(): Promise<Server> {
  return startNode((port) => [inBench("peers", "node-server.ts"), String(port), "resumable"]);
}

/** The fixture of the project's tests, on the official SDK: it announces changes to whoever listens. */
export function startFixture(): Promise<Server> {
  return startNode((port) => [inBench("..", "test", "fixture-server", "main.ts"), String(port)]);
}

export function startMcpProxy(): Promise<Server> {
  return startNode((port) => [
    inBench("node_modules", "mcp-proxy", "dist", "bin", "mcp-proxy.mjs"),
    ...["--host", "127.0.0.1", "--port", String(port), "--server", "stream", "--"],
    ...[NODE, inBench("peers", "stdio-server.ts")],
  ]);
}

export function startSupergateway(): Promise<Server> {
  return startNode((port) => [
    inBench("node_modules", "supergateway", "dist", "index.js"),
    ...["--stdio", `${NODE} ${inBench("peers", "stdio-server.ts")}`],
    ...["--outputTransport", "streamableHttp", "--stateful"],
    ...["--port", String(port), "--logLevel", "none"],
  ]);
}

async function startNode(argsAt: (port: number) => readonly string[]): Promise<Server> {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const program = await startProgram(NODE, argsAt(port), `${origin}/health`);
  return { ...program, groups: [program.pid], url: `${origin}/mcp` };
}

function asServer(workerd: Workerd): WorkerServer {
  return { ...workerd, groups: [workerd.pid], url: `${workerd.origins[0]}/mcp` };
}

function varsOf(servers: object): Vars {
  const limits = JSON.stringify(OPEN_LIMITS);
  return { AUTH_MODE: "none", LIMITS: limits, MCP_SERVERS: JSON.stringify(servers) };
}

/** Bundled when it is first needed. */
function once(build: () => Bundle): () => Bundle {
  let bundle: Bundle | undefined;
  return () => (bundle ??= build());
}
