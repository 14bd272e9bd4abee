/** Logins of `edgeway connect`: one page for all, one renewal for all, and nothing where others could read it. */

import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, test as base } from "vitest";

import { Person } from "../support/cli-person.ts";
import { type RawHost, startCli } from "../support/cli.ts";
import type { Json } from "../support/clients-face.ts";
import { type Server, startGateway } from "../support/servers.ts";
import { startStubGateway, type StubGateway } from "../support/stub-gateway.ts";
import { until } from "../support/until.ts";

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};
const LIST = { jsonrpc: "2.0", id: "list", method: "tools/list", params: { _meta: META } };

let gateway: Server;
beforeAll(async () => {
  gateway = await startGateway({ auth: "oauth" });
});
afterAll(() => gateway.stop());

type Start = (...args: Parameters<typeof startCli>) => RawHost;

const test = base
  // oxlint-disable-next-line no-empty-pattern -- vitest reads what a fixture needs off the pattern
  .extend("start", async ({}, { onCleanup }): Promise<Start> => {
    const hosts: RawHost[] = [];
    onCleanup(async () => {
      for (const host of hosts) host.kill("SIGKILL");
      await Promise.all(hosts.map(({ exitCode }) => exitCode));
    });
    return (args, options) => {
      const host = startCli(args, options);
      hosts.push(host);
      return host;
    };
  })
  // oxlint-disable-next-line no-empty-pattern -- the same
  .extend("person", async ({}, { onCleanup }): Promise<Person> => {
    const person = await Person.arrive();
    onCleanup(() => person.leave());
    return person;
  })
  // oxlint-disable-next-line no-empty-pattern -- the same
  .extend("stub", async ({}, { onCleanup }): Promise<StubGateway> => {
    const stub = await startStubGateway();
    onCleanup(() => stub.close());
    return stub;
  });

/** Waits until a browser was opened, and signs in there. */
async function signIn(person: Person): Promise<void> {
  await until(async () => (await person.opened()).length > 0, "a page");
  const [page = ""] = await person.opened();
  const back = await fetch(await person.approve(page));
  if (!back.ok) throw new Error(`The command says ${await back.text()}`);
}

function errorOf({ error }: Json): string {
  return String((error as Json | undefined)?.["message"]);
}

describe("at a gateway with sign-in,", () => {
  test("S2, S18: five that start together open one page, and all go on; later starts open none", async ({
    expect,
    person,
    start,
  }) => {
    const { env } = person;
    const args = ["connect", `${gateway.url}/mcp`];
    const hosts = Array.from({ length: 5 }, () => start(args, { env }));
    for (const host of hosts) host.send(LIST);
    await signIn(person);
    for (const host of hosts) expect(await host.answer("list")).toHaveProperty("result.tools");
    const again = start(args, { env });
    again.send(LIST);
    expect(await again.answer("list")).toHaveProperty("result.tools");
    expect(await person.opened()).toHaveLength(1);

    const { tokens } = (await person.login()) as { tokens: Json };
    const { access, refresh } = tokens as { access: string; refresh: string };
    const said = [...hosts, again].map((host) => host.stderr() + host.lines.join("\n")).join("\n");
    const logged = gateway.program.output() + (await person.opened()).join("\n");
    const processes = execFileSync("ps", ["-eo", "args"], { encoding: "utf8" });
    for (const secret of [access, refresh]) {
      expect(secret.length).toBeGreaterThan(20);
      expect(said).not.toContain(secret);
      expect(logged).not.toContain(secret);
      expect(processes).not.toContain(secret);
    }
    const modes = new Set(await person.modes());
    expect([...modes].toSorted()).toEqual(["600", "700"]);
  });

  test("S4: a token that is good no more is renewed, known or not, and no page is opened", async ({
    expect,
    person,
    start,
  }) => {
    const { env } = person;
    const host = start(["connect", `${gateway.url}/mcp`], { env });
    host.send(LIST);
    await signIn(person);
    await host.answer("list");
    const past = Date.now() - 8 * 3_600_000;
    const spoilt = [
      { access: "spoilt" },
      { access: "spoilt", obtainedAt: past, expiresAt: past + 1 },
    ];
    for (const [index, changes] of spoilt.entries()) {
      await person.changeTokens(changes);
      host.send({ ...LIST, id: `after ${index}` });
      expect(await host.answer(`after ${index}`)).toHaveProperty("result.tools");
    }
    expect(await person.opened()).toHaveLength(1);
  });

  test("login takes the address of a browser elsewhere, status knows, and logout ends it at the gateway", async ({
    expect,
    person,
    start,
  }) => {
    const env = person.alone;
    const url = `${gateway.url}/mcp`;
    const before = start(["status", url], { env });
    expect(await before.exitCode).toBe(1);
    expect(before.stderr()).toContain(`edgeway login ${url}`);

    const login = start(["login", url], { env });
    await until(() => /https?:\S+\/authorize\?\S+/.test(login.stderr()), "the page");
    const [page = ""] = /https?:\S+\/authorize\?\S+/.exec(login.stderr()) ?? [];
    login.write("http://127.0.0.1/callback?code=forged&state=forged\n");
    login.write(`${(await person.approve(page)).href}\n`);
    expect(await login.exitCode).toBe(0);
    expect(login.stderr()).toContain("that is not the address");
    expect(await person.opened()).toEqual([]);

    const during = start(["status", url], { env });
    expect(await during.exitCode).toBe(0);
    const { tokens } = (await person.login()) as { tokens: { access: string } };
    const logout = start(["logout", url], { env });
    expect(await logout.exitCode).toBe(0);
    expect(logout.stderr()).toMatch(/forgotten here; telling http[^]*signed out at /);
    expect(await person.login()).not.toHaveProperty("tokens");
    const authorization = `Bearer ${tokens.access}`;
    await until(async () => {
      const response = await fetch(url, { headers: { authorization } });
      await response.body?.cancel();
      return response.status === 401;
    }, "the end of the token at the gateway");
  });

  test("S6: with nobody there it says what to do, the address and the variable, and ends with code 1", async ({
    expect,
    person,
    start,
  }) => {
    const host = start(["connect", `${gateway.url}/mcp`], { env: person.alone });
    host.send(LIST);
    const said = errorOf(await host.answer("list"));
    expect(said).toContain(`edgeway login ${gateway.url}/mcp`);
    expect(said).toContain("EDGEWAY_KEY");
    expect(await host.exitCode).toBe(1);
    expect(host.stderr()).toContain(said);
  });
});

describe("the renewal of a token", () => {
  test("S3: happens once for five that find it expired", async ({
    expect,
    person,
    start,
    stub,
  }) => {
    const hosts = await startWith(5, { person, start, stub });
    for (const host of hosts) host.send(LIST);
    for (const host of hosts) expect(await host.answer("list")).toHaveProperty("result");
    expect(stub.refreshes).toBe(1);
    expect(await person.opened()).toEqual([]);
  });

  test("goes on with another process, when the one that does it is killed", async ({
    expect,
    person,
    start,
    stub,
  }) => {
    const [first, second] = await startWith(2, { person, start, stub });
    stub.trouble = "silence";
    first?.send(LIST);
    await until(() => stub.refreshes === 1, "it is asked");
    stub.trouble = undefined;
    first?.kill("SIGKILL");
    second?.send(LIST);
    expect(await second?.answer("list")).toHaveProperty("result");
    expect(stub.refreshes).toBe(2);
  });

  test("that fails for the network ends no login", async ({ expect, person, start, stub }) => {
    const [host] = await startWith(1, { person, start, stub });
    stub.trouble = 500;
    host?.send(LIST);
    await until(() => stub.refreshes > 3, "it is tried again and again");
    expect(await person.login()).toHaveProperty("tokens.refresh", "refresh-0");
    stub.trouble = undefined;
    expect(await host?.answer("list")).toHaveProperty("result");
    expect(await person.opened()).toEqual([]);
  });

  test("that is refused ends the login, and opens no page by itself", async ({
    expect,
    person,
    start,
    stub,
  }) => {
    const [host] = await startWith(1, { person, start, stub });
    stub.trouble = 400;
    host?.send(LIST);
    const said = errorOf((await host?.answer("list")) ?? {});
    expect(said).toContain(`edgeway login ${stub.url}`);
    expect(await person.login()).not.toHaveProperty("tokens");
    expect(await person.opened()).toEqual([]);
    expect(stub.refreshes).toBe(1);
  });
});

test("a key of the environment comes before a login", async ({ expect, person, start, stub }) => {
  await person.keep(stub.url, stub.login);
  stub.good = "edgeway_sk_good";
  const env = { ...person.env, EDGEWAY_KEY: " edgeway_sk_good\n" };
  const host = start(["connect", stub.url], { env });
  host.send(LIST);
  expect(await host.answer("list")).toHaveProperty("result");
  expect(stub.refreshes).toBe(0);
});

/** Starts the command for a person who was signed in until now. */
async function startWith(
  count: number,
  {
    person,
    start,
    stub,
  }: { readonly person: Person; readonly start: Start; readonly stub: StubGateway },
): Promise<readonly RawHost[]> {
  await person.keep(stub.url, stub.login);
  const args = ["connect", stub.url];
  return Array.from({ length: count }, () => start(args, { env: person.env }));
}
