/**
 * Published servers with nothing to do cost nothing: their people's objects are let go, and no object is made, asked,
 * read, written or woken while machines say by pings alone that they are there. The next call wakes the object, and is
 * answered.
 */

import { afterAll, beforeAll, expect, test } from "vitest";

import { type Costs, readCosts } from "../support/costs.ts";
import { inParallel } from "../support/in-parallel.ts";
import { type KillableGateway, startKillableGateway } from "../support/killable-gateway.ts";
import { LaptopByHand } from "../support/laptop-by-hand.ts";
import { startOidcProvider, type TestOidcProvider } from "../support/oidc-provider.ts";
import { pause, until } from "../support/until.ts";
import { KilledPerson } from "./killed-people.ts";

const PEOPLE = 10;
const SERVERS_OF_EACH = 10;
const SERVERS = PEOPLE * SERVERS_OF_EACH;
const AT_ONCE = 5;
const IDLE_MS = 30_000;
/** What a key is good for is known for some seconds. */
const KNOWN_MS = 1000;
const TIMEOUT_MS = 240_000;
const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

interface Publishing {
  readonly key: string;
  readonly laptops: readonly LaptopByHand[];
}

let oidc: TestOidcProvider;
let gateway: KillableGateway;

beforeAll(async () => {
  oidc = await startOidcProvider(false);
  const names = Array.from({ length: PEOPLE }, (_, index) => `person-${index}`);
  const people = names.map((name) => {
    return [name, { name, email: `${name}@example.com`, email_verified: true }] as const;
  });
  oidc.turn({ change: Object.fromEntries(people) });
  const { issuer, clientId, clientSecret } = oidc;
  const allow = { emails: people.map(([, { email }]) => email) };
  const company = { provider: "oidc", name: "company", issuer, clientId, clientSecret, allow };
  gateway = await startKillableGateway({
    auth: "oauth",
    servers: { demo: { service: "DEMO" } },
    vars: {
      IDENTITY: JSON.stringify([{ provider: "owner" }, company]),
      ...{ PUBLISHING: "on", COST_REPORT: "on" },
    },
  });
  oidc.allowRedirect(`${gateway.url}/callback/company`);
});

afterAll(async () => {
  await gateway?.remove();
  await oidc?.stop();
});

async function arrive(name: string): Promise<Publishing> {
  const person = await KilledPerson.signIn(name, gateway, oidc.issuer);
  await person.signInAnew();
  const [key = ""] = await person.createKey();
  const laptops = await inParallel(SERVERS_OF_EACH, AT_ONCE, (index) =>
    LaptopByHand.publish(gateway.url, key, `server-${index}`),
  );
  return { key, laptops };
}

/** Calls the one tool of a server. @returns how long it took, in milliseconds, or what went wrong. */
async function outcome(key: string, name: string): Promise<number | string> {
  const begunAt = performance.now();
  const response = await fetch(`${gateway.url}/mcp/my-${name}`, {
    method: "POST",
    headers: {
      Accept: "application/json, text/event-stream",
      "Content-Type": "application/json",
      Authorization: `Bearer ${key}`,
      ...{ "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "say" },
    },
    body: JSON.stringify({
      ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
      params: { name: "say", arguments: {}, _meta: META },
    }),
  });
  const text = await response.text();
  return text.includes('"said"') ? performance.now() - begunAt : `${response.status} ${text}`;
}

async function call(key: string, name: string): Promise<number> {
  const found = await outcome(key, name);
  if (typeof found === "string") throw new Error(`${name}: ${found}`);
  return found;
}

test(
  `S14: ${SERVERS} published servers with nothing to do cost nothing, and answer`,
  {
    timeout: TIMEOUT_MS,
  },
  async () => {
    const people = await inParallel(PEOPLE, 2, (index) => arrive(`person-${index}`));
    const servers = people.flatMap(({ key, laptops }) =>
      laptops.map((laptop) => ({ key, laptop })),
    );
    const callAll = (): Promise<number[]> =>
      inParallel(SERVERS, 1, async (index) => {
        const one = servers[index];
        return one === undefined ? 0 : call(one.key, one.laptop.name);
      });
    // Each key was used to publish, so it is known for some seconds as that of somebody who publishes nothing yet.
    for (const { key } of people) {
      await until(async () => {
        if (typeof (await outcome(key, "server-0")) === "number") return true;
        await pause(KNOWN_MS);
        return false;
      }, "its server is known");
    }
    await callAll();
    const warm = await callAll();

    const settled = await settledCosts();
    const pongsBefore = servers.map(({ laptop }) => laptop.pongs);
    await pause(IDLE_MS);
    const idle = await readCosts(gateway.url);
    expect(idle).toEqual(settled);
    const pongs = servers.map(({ laptop }, index) => laptop.pongs - (pongsBefore[index] ?? 0));
    expect(Math.min(...pongs)).toBeGreaterThan(0);

    // A frame that says nothing new wakes the object of its person, and no other one.
    for (const { laptops } of people) {
      laptops[0]?.send({ t: "closed", name: "server-0", channel: "none", reason: "idle" });
    }
    await until(async () => {
      const { webSocketMessagesIn } = await readCosts(gateway.url);
      return webSocketMessagesIn - idle.webSocketMessagesIn === PEOPLE;
    }, "a frame of each person");
    const woken = await readCosts(gateway.url);
    expect(woken.objectsConstructed - idle.objectsConstructed).toBe(PEOPLE);
    expect(woken.rowsWritten).toBe(idle.rowsWritten);

    report(warm, await callAll());
    for (const { laptop } of servers) laptop.close();
    expect(servers.every(({ laptop }) => laptop.calls >= 3)).toBe(true);
  },
);

/** What was counted once everything is done that publishing and the first calls take. */
async function settledCosts(): Promise<Costs> {
  let costs = await readCosts(gateway.url);
  await until(async () => {
    const before = costs;
    await pause(2000);
    costs = await readCosts(gateway.url);
    return JSON.stringify(before) === JSON.stringify(costs);
  }, "nothing more to count");
  return costs;
}

function report(warm: readonly number[], woken: readonly number[]): void {
  process.stdout.write(
    `a call takes ${median(warm)} ms, and ${median(woken)} ms after ${IDLE_MS / 1000} s without traffic\n`,
  );
}

function median(all: readonly number[]): string {
  const sorted = all.toSorted((one, other) => one - other);
  return (sorted[Math.floor(all.length / 2)] ?? 0).toFixed(1);
}
