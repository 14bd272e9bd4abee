/**
 * Three servers that work, and three that do harm, behind one endpoint. Everything of the three
 * works, whatever becomes of the others; and each is named to the client that asks.
 */

import { afterAll, beforeAll, describe } from "vitest";

import { startBadServer } from "../support/bad-server.ts";
import { connectV1 } from "../support/clients-v1.ts";
import { test } from "../support/clients.ts";
import type { Client, Json } from "../support/clients-face.ts";
import { freePort } from "../support/free-port.ts";
import { type Program } from "../support/process.ts";
import { seeded } from "../support/seeded.ts";
import { type Server, startGateway } from "../support/servers.ts";
import { until } from "../support/until.ts";
import { type DemoServer, startDemo } from "./demo-server.ts";
import { UPSTREAMS } from "./restartable.ts";

const SEEDS = [1, 2, 3];
const TEST_TIMEOUT_MS = 240_000;
const BAD = ["dead", "stalling", "garbage"] as const;

interface Restartable {
  kill(): Promise<void>;
  revive(): Promise<void>;
}

/** One thing of each server that works, and what it does when all is well. */
const WORK: Readonly<Record<string, (client: Client) => Promise<unknown>>> = {
  fixture: (client) => client.callTool("fixture__test_simple_text"),
  everything: (client) => client.callTool("everything__echo", { message: "six" }),
  demo: (client) => client.callTool("demo__todays_tea"),
};

let gateway: Server;
let demo: DemoServer;
const servers: Record<string, Restartable & { readonly url: string }> = {};

beforeAll(async () => {
  for (const name of ["fixture", "everything"]) servers[name] = await restartable(name);
  demo = await startDemo();
  servers["demo"] = demo;
  for (const badness of BAD) servers[badness] = await startBadServer(badness);
  gateway = await startGateway({
    servers: Object.fromEntries(
      // The bad ones first: an endpoint that waited for one would wait for all.
      [...BAD, "fixture", "everything", "demo"].map((slug) => [
        slug,
        { url: servers[slug]?.url, timeoutSeconds: 5 },
      ]),
    ),
    limits: { catalogWaitMilliseconds: 1500, catalogSeconds: 5, catalogFreshSeconds: 1 },
  });
  // On a busy machine a good server may be late the first time.
  await until(
    async () => (await listedSlugs()).size === Object.keys(WORK).length,
    "all that works",
  );
}, TEST_TIMEOUT_MS);

afterAll(async () => {
  await gateway.stop();
  await Promise.all(Object.values(servers).map((server) => server.kill()));
  await demo.remove();
});

async function restartable(name: string): Promise<Restartable & { readonly url: string }> {
  const upstream = UPSTREAMS[name];
  if (upstream === undefined) throw new Error(`no server ${name}`);
  const port = await freePort();
  let program: Program | undefined = await upstream.start(port);
  return {
    url: `http://localhost:${port}${upstream.path}`,
    async kill() {
      await program?.stop("SIGKILL");
      program = undefined;
    },
    async revive() {
      program ??= await upstream.start(port);
    },
  };
}

const endpoint = (): string => `${gateway.url}/mcp`;

async function listedSlugs(): Promise<Set<string>> {
  const client = await connectV1("v1-http", endpoint(), {});
  const tools = await client.listTools();
  await client.terminate();
  await client.disconnect();
  return slugsOf(tools);
}

function slugsOf(tools: readonly Json[]): Set<string> {
  return new Set(tools.map(({ name }) => String(name).split("__")[0] ?? ""));
}

describe("with three good servers and three bad ones,", () => {
  test("everything of the good ones is listed and works", async ({ connect, expect }) => {
    const client = await connect("v1-http", endpoint());
    expect(slugsOf(await client.listTools())).toEqual(new Set(Object.keys(WORK)));
    for (const work of Object.values(WORK)) {
      expect(await work(client)).not.toHaveProperty("isError", true);
    }
  });

  test("the bad ones are named in the list and in the log", async ({ connect, expect }) => {
    const client = await connect("v1-http", endpoint());
    const { _meta } = await client.request("tools/list");
    const named = (_meta as Json)["edgeway/servers"] as Json[];
    expect(named.map(({ server }) => server)).toEqual([...BAD]);
    for (const slug of BAD) {
      const isLogged = (): boolean => gateway.program.output().includes(`"server":"${slug}"`);
      // One that stalls is found out when its time is over.
      await until(isLogged, `a line of the log on ${slug}`);
    }
  });

  test("a call to a bad one ends in an error that names it", async ({ connect, expect }) => {
    const client = await connect("v1-http", endpoint());
    for (const slug of BAD) {
      await expect(client.callTool(`${slug}__anything`)).rejects.toThrow(`"${slug}"`);
    }
  });
});

test.for(SEEDS)(
  "each of the six is killed and revived while the others work, seed %i",
  { timeout: TEST_TIMEOUT_MS },
  async (seed, { connect, expect }) => {
    const { pick, int } = seeded(seed);
    const client = await connect("v1-http", endpoint());
    await client.listTools();
    const left = new Set(Object.keys(servers));
    while (left.size > 0) {
      const victim = pick([...left]);
      left.delete(victim);
      const others = Object.entries(WORK).filter(([slug]) => slug !== victim);
      // Its death comes at some moment of what goes on.
      const works = others.flatMap(([, work]) => [work(client), work(client)]);
      const dying = works.length === 0 ? Promise.resolve() : servers[victim]?.kill();
      for (let n = int(0, 2); n > 0; n--) works.push(client.listTools());
      await Promise.all([...works, dying]);
      for (const [, work] of others) {
        expect(await work(client)).not.toHaveProperty("isError", true);
      }
      // What it offered stays listed, or it never offered anything.
      const listed = slugsOf(await client.listTools());
      const missing = Object.keys(WORK).filter((slug) => !listed.has(slug));
      expect({ victim, missing }).toEqual({ victim, missing: [] });
      await servers[victim]?.revive();
      const work = WORK[victim];
      if (work === undefined) continue;
      await until(
        async () =>
          await work(client)
            .then(() => true)
            .catch(() => false),
        `${victim} works again`,
        60_000,
      );
    }
  },
);
