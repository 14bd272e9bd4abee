/**
 * Two people of one gateway publish servers of the same names, each from a laptop of their own. To each, what the
 * other publishes is a path that never was. An access that ends takes its servers with it.
 */

import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, test } from "vitest";

import type { RawHost } from "../support/cli.ts";
import { type KillableGateway, startKillableGateway } from "../support/killable-gateway.ts";
import { published, PublishingMachine } from "../support/laptop-command.ts";
import { INITIALIZE } from "../support/raw-session.ts";
import { startOidcProvider, type TestOidcProvider } from "../support/oidc-provider.ts";
import { until } from "../support/until.ts";
import { KilledPerson } from "./killed-people.ts";

/** How long a right that has ended may hold a connection. */
const REVOKED_MS = 30_000;
const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

interface Publishing {
  readonly person: KilledPerson;
  readonly key: string;
  readonly machine: PublishingMachine;
}

interface Answer {
  readonly status: number;
  readonly challenge: string | null;
  readonly body: string;
}

let oidc: TestOidcProvider;
let gateway: KillableGateway;
let alice: Publishing;
let bob: Publishing;

beforeAll(async () => {
  oidc = await startOidcProvider(false);
  const { issuer, clientId, clientSecret } = oidc;
  const allow = { emails: ["alice@example.com", "bob@other.example"] };
  const company = { provider: "oidc", name: "company", issuer, clientId, clientSecret, allow };
  const identity = JSON.stringify([{ provider: "owner" }, company]);
  gateway = await startKillableGateway({
    auth: "oauth",
    servers: { demo: { service: "DEMO" } },
    vars: { IDENTITY: identity, PUBLISHING: "on" },
  });
  oidc.allowRedirect(`${gateway.url}/callback/company`);
  alice = await arrive("alice");
  bob = await arrive("bob");
  await published(alice.machine.publish("notes"));
  await published(alice.machine.publish("mine"));
  await published(bob.machine.publish("notes"));
  // Lists are a few seconds old.
  await listed(alice.key, "my-notes__run", true);
  await listed(alice.key, "my-mine__run", true);
  await listed(bob.key, "my-notes__run", true);
});

afterAll(async () => {
  await alice?.machine.turnOff();
  await bob?.machine.turnOff();
  await gateway?.remove();
  await oidc?.stop();
});

async function arrive(name: "alice" | "bob"): Promise<Publishing> {
  const person = await KilledPerson.signIn(name, gateway, oidc.issuer);
  await person.signInAnew();
  const [key = ""] = await person.createKey();
  const machine = await PublishingMachine.turnOn(`${gateway.url}/mcp`, { EDGEWAY_KEY: key });
  return { person, key, machine };
}

interface Attempt {
  readonly path: string;
  readonly method?: "GET" | "POST" | "DELETE";
  readonly key: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

async function answerTo({ path, method = "POST", key, headers, body }: Attempt): Promise<Answer> {
  const response = await fetch(`${gateway.url}${path}`, {
    method,
    headers: {
      Accept: "application/json, text/event-stream",
      "Content-Type": "application/json",
      ...(key !== undefined && { Authorization: `Bearer ${key}` }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const challenge = response.headers.get("www-authenticate");
  return { status: response.status, challenge, body: await response.text() };
}

function modern(method: string, params: object, name?: string): Pick<Attempt, "headers" | "body"> {
  return {
    headers: {
      "MCP-Protocol-Version": "2026-07-28",
      "Mcp-Method": method,
      ...(name !== undefined && { "Mcp-Name": name }),
    },
    body: { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: META } },
  };
}

function run(tool: string, name: string): Pick<Attempt, "headers" | "body"> {
  return modern("tools/call", { name: tool, arguments: { name } }, tool);
}

/** Without the name that was asked for, and without what each answer has of its own. */
function withoutName({ status, challenge, body }: Answer, slug: string): Answer {
  const none = (text: string): string =>
    text.replaceAll(slug, "SLUG").replaceAll(/(nonce|value)="[\w.-]{20,}"/g, "$1");
  return { status, challenge: challenge && none(challenge), body: none(body) };
}

/** What somebody may try at a name. */
const attemptsAt = (slug: string): Readonly<Record<string, Omit<Attempt, "key">>> => ({
  "a list": { path: `/mcp/${slug}`, ...modern("tools/list", {}) },
  "a discovery": { path: `/mcp/${slug}`, ...modern("server/discover", {}) },
  "a call at its path": { path: `/mcp/${slug}`, ...run("run", "crossed") },
  "a call by its prefix": { path: "/mcp", ...run(`${slug}__run`, "crossed") },
  "a session": { path: `/mcp/${slug}`, body: INITIALIZE },
  "a stream": { path: `/mcp/${slug}`, method: "GET" },
  "an end": { path: `/mcp/${slug}`, method: "DELETE" },
  "HTTP+SSE": { path: `/sse/${slug}`, method: "GET" },
  "the metadata": { path: `/.well-known/oauth-protected-resource/mcp/${slug}`, method: "GET" },
  "a page": { path: `/catalog/${slug}`, method: "GET" },
  "a page of it": { path: `/connect/${slug}`, method: "GET" },
});

describe("what bob has of alice's", () => {
  test.for(Object.keys(attemptsAt("")))(
    "S10: %s is what it is of a name that nobody has used",
    async (what, { expect }) => {
      for (const key of [bob.key, undefined, "edgeway_sk_0000000000000000_nonsense"]) {
        const [theirs, never] = await Promise.all(
          ["my-mine", "my-none"].map(async (slug) => {
            const attempt = attemptsAt(slug)[what];
            if (attempt === undefined) throw new Error(what);
            return withoutName(await answerTo({ ...attempt, key }), slug);
          }),
        );
        expect(theirs).toEqual(never);
      }
      expect(await alice.machine.runs("crossed")).toBe(0);
    },
  );

  test("nothing in any list", async ({ expect }) => {
    for (const { key } of [bob, alice]) {
      const { body } = await answerTo({ path: "/mcp", key, ...modern("tools/list", {}) });
      expect(body).toContain("my-notes__run");
      expect(body.includes("my-mine__run")).toBe(key === alice.key);
    }
  });
});

test("each calls the one of their own, though the names are the same", async ({ expect }) => {
  for (const [who, { key }] of Object.entries({ alice, bob })) {
    for (const [path, tool] of [
      ["/mcp", "my-notes__run"],
      ["/mcp/my-notes", "run"],
    ] as const) {
      const { status, body } = await answerTo({ path, key, ...run(tool, `${who} ${path}`) });
      expect({ status, isRun: body.includes("ran") }).toEqual({ status: 200, isRun: true });
    }
  }
  for (const path of ["/mcp", "/mcp/my-notes"]) {
    const counts = [`alice ${path}`, `bob ${path}`].map(async (name) => [
      await alice.machine.runs(name),
      await bob.machine.runs(name),
    ]);
    expect(await Promise.all(counts)).toEqual([
      [1, 0],
      [0, 1],
    ]);
  }
});

test("S18: the key of a person is in no process list, in no log and on no screen", async ({
  expect,
}) => {
  const command = alice.machine.publish("watched");
  await published(command);
  await answerTo({ path: "/mcp/my-watched", key: alice.key, ...run("run", "watched") });
  const { running } = await alice.machine.processes();
  const lists = await Promise.all(
    [command.pid, ...running].map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8")),
  );
  const environments = await Promise.all(
    running.map((pid) => readFile(`/proc/${pid}/environ`, "utf8")),
  );
  expect(running.length).toBeGreaterThan(0);
  for (const text of [...lists, ...environments, command.stderr(), gateway.output()]) {
    expect(text).not.toContain(alice.key);
  }
});

test("S17: an access that ends on the account page ends what it publishes, and its list changes", async ({
  expect,
}) => {
  const [key = ""] = await bob.person.createKey();
  const machine = await PublishingMachine.turnOn(`${gateway.url}/mcp`, { EDGEWAY_KEY: key });
  try {
    const command: RawHost = machine.publish("ending");
    await published(command);
    await listed(bob.key, "my-ending__run", true);
    await bob.person.endKey(key);
    const ended = command.exitCode;
    await until(
      async () => (await Promise.race([ended, Promise.resolve("runs")])) === 1,
      () => `the command ends: ${command.stderr()}`,
      REVOKED_MS,
    );
    await listed(bob.key, "my-ending__run", false);
    expect((await machine.processes()).running).toEqual([]);
  } finally {
    await machine.turnOff();
  }
});

/** Waits for a tool to be in somebody's list, or not to be there any more. */
async function listed(key: string, tool: string, isThere: boolean): Promise<void> {
  await until(
    async () => {
      const { body } = await answerTo({ path: "/mcp", key, ...modern("tools/list", {}) });
      return body.includes(tool) === isThere;
    },
    `${tool} in a list: ${isThere}`,
    REVOKED_MS,
  );
}
