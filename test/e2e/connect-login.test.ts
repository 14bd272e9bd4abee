/** Logins of `edgeway connect`: one page for all, and nothing where others could read it. */

import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, test as base } from "vitest";

import type { Login } from "../../cli/tokens/login-file.ts";
import { Person } from "../support/cli-person.ts";
import { errorOf, type RawHost, type Start, startUntil } from "../support/cli.ts";
import type { Json } from "../support/clients-face.ts";
import { type Server, startGateway } from "../support/servers.ts";
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

const test = base
  // oxlint-disable-next-line no-empty-pattern -- vitest reads what a fixture needs off the pattern
  .extend("start", ({}, { onCleanup }): Start => startUntil(onCleanup))
  // oxlint-disable-next-line no-empty-pattern -- the same
  .extend("person", async ({}, { onCleanup }): Promise<Person> => {
    const person = await Person.arrive();
    onCleanup(() => person.leave());
    return person;
  });

/** Waits until a browser was opened, and signs in there. */
async function signIn(person: Person): Promise<void> {
  await until(async () => (await person.opened()).length > 0, "a page");
  const [page = ""] = await person.opened();
  const back = await fetch(await person.approve(page));
  if (!back.ok) throw new Error(`The command says ${await back.text()}`);
}

/** A host whose person has signed in for its first request. */
async function startSignedIn({
  person,
  start,
}: {
  readonly person: Person;
  readonly start: Start;
}): Promise<RawHost> {
  const host = start(["connect", `${gateway.url}/mcp`], { env: person.env });
  host.send(LIST);
  await signIn(person);
  await host.answer("list");
  return host;
}

/** A token that has ended hours ago. */
function expired() {
  const past = Date.now() - 8 * 3_600_000;
  return { access: "spoilt", obtainedAt: past, expiresAt: past + 1 };
}

/** The pages that a command has named. */
function pagesOf(command: RawHost): readonly string[] {
  return command.stderr().match(/https?:\S+\/authorize\?\S+/g) ?? [];
}

/** The page that `edgeway login` shows, once it does. */
async function pageOf(login: RawHost): Promise<URL> {
  await until(
    () => pagesOf(login).length > 0,
    () => `the page; stderr: ${login.stderr()}`,
  );
  return new URL(pagesOf(login)[0] ?? "");
}

/** Asks until another page is named: what is sent while the one before ends is answered with that. */
async function laterPageOf(host: RawHost): Promise<URL> {
  const { length } = pagesOf(host);
  await until(async () => {
    const id = crypto.randomUUID();
    host.send({ ...LIST, id });
    await host.answer(id);
    return pagesOf(host).length > length;
  }, "another page");
  return new URL(pagesOf(host).at(-1) ?? "");
}

/** Comes back from the page of a login as a browser does whose person has refused. */
async function refuse(page: URL): Promise<void> {
  const back = new URL(page.searchParams.get("redirect_uri") ?? "");
  back.searchParams.set("state", page.searchParams.get("state") ?? "");
  back.searchParams.set("iss", page.origin);
  back.searchParams.set("error", "access_denied");
  await fetch(back);
}

/** Waits until the gateway takes this access token no more. */
async function untilRefused(access: string): Promise<void> {
  const headers = { authorization: `Bearer ${access}` };
  await until(async () => {
    const response = await fetch(`${gateway.url}/mcp`, { headers });
    await response.body?.cancel();
    return response.status === 401;
  }, "the end of the token at the gateway");
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

  test("a page that is refused is the only one that opens for three that wait, whatever their hosts send later", async ({
    expect,
    person,
    start,
  }) => {
    const args = ["connect", `${gateway.url}/mcp`, "--deadline", "1"];
    const hosts = Array.from({ length: 3 }, () => start(args, { env: person.env }));
    for (const host of hosts) host.send(LIST);
    // Each of them waits for the login, also after it has answered.
    for (const host of hosts) {
      expect(errorOf(await host.answer("list"))).toContain(`in at ${gateway.url}/mcp`);
    }
    await until(async () => (await person.opened()).length > 0, "a page");
    const first = new URL((await person.opened())[0] ?? "");
    await refuse(first);
    for (const [index, host] of hosts.entries()) {
      const page = await laterPageOf(host);
      expect(page.searchParams.get("client_id")).toBe(first.searchParams.get("client_id"));
      await (index < 2 ? refuse(page) : fetch(await person.approve(page.href)));
    }
    for (const host of hosts) {
      host.send({ ...LIST, id: "after" });
      expect(await host.answer("after")).toHaveProperty("result.tools");
    }
    expect(await person.opened()).toHaveLength(1);
    expect(hosts.flatMap(pagesOf)).toHaveLength(4);
  });

  test("a machine that sleeps while a page is open still has one page, and one login for all", async ({
    expect,
    person,
    start,
  }) => {
    const { env } = person;
    const hosts = [1, 2].map(() => start(["connect", `${gateway.url}/mcp`], { env }));
    for (const host of hosts) host.send(LIST);
    await until(async () => (await person.opened()).length > 0, "a page");
    const { awake } = await person.sleepWhileSigningIn();
    await awake;
    await signIn(person);
    for (const host of hosts) expect(await host.answer("list")).toHaveProperty("result.tools");
    expect(await person.opened()).toHaveLength(1);
  });

  test("S4: a token that is good no more is renewed, known or not, and no page is opened", async ({
    expect,
    person,
    start,
  }) => {
    const host = await startSignedIn({ person, start });
    for (const [index, changes] of [{ access: "spoilt" }, expired()].entries()) {
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
    const page = await pageOf(login);
    login.write("http://127.0.0.1/callback?code=forged&state=forged\n");
    login.write(`${(await person.approve(page.href)).href}\n`);
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
    await untilRefused(tokens.access);
  });

  test.for(["with", "without"] as const)(
    "a registration that the gateway does not know is made anew, %s a login",
    async (how, { expect, person, start }) => {
      const url = `${gateway.url}/mcp`;
      await startSignedIn({ person, start });
      const { tokens, ...known } = (await person.login()) as unknown as Login;
      const kept = how === "with" ? { tokens } : {};
      await person.keep(url, { ...known, ...kept, clientId: "forgotten" });
      const login = start(["login", url], { env: person.alone });
      const page = await pageOf(login);
      expect(page.searchParams.get("client_id")).not.toBe("forgotten");
      await fetch(await person.approve(page.href));
      expect(await login.exitCode).toBe(0);
      expect(await person.login()).toMatchObject({ clientId: page.searchParams.get("client_id") });
    },
  );

  test("the page of a process that is gone is shown to nobody", async ({
    expect,
    person,
    start,
  }) => {
    const url = `${gateway.url}/mcp`;
    const first = start(["login", url], { env: person.alone });
    const page = await pageOf(first);
    first.kill("SIGKILL");
    await first.exitCode;
    const second = start(["login", url], { env: person.alone });
    const own = await pageOf(second);
    expect(own.searchParams.get("state")).not.toBe(page.searchParams.get("state"));
    expect(second.stderr()).not.toContain("another process waits");
  });

  test("a request to its port that is no answer of the gateway's gets 404, and the login goes on", async ({
    expect,
    person,
    start,
  }) => {
    const login = start(["login", `${gateway.url}/mcp`], { env: person.alone });
    const page = await pageOf(login);
    const back = new URL(page.searchParams.get("redirect_uri") ?? "");
    for (const stray of ["//", "/callback", "/callback?state=forged&code=forged", "//callback?"]) {
      const answer = await fetch(`${back.origin}${stray}`);
      await answer.body?.cancel();
      expect(answer.status).toBe(404);
    }
    await fetch(await person.approve(page.href));
    expect(await login.exitCode).toBe(0);
  });

  test("a login that is refused leaves the one before as it was", async ({
    expect,
    person,
    start,
  }) => {
    const host = await startSignedIn({ person, start });
    const login = start(["login", `${gateway.url}/mcp`], { env: person.alone });
    const page = await pageOf(login);
    await refuse(page);
    expect(await login.exitCode).toBe(1);
    expect(login.stderr()).toContain("The login was refused: access_denied");
    await person.changeTokens(expired());
    host.send({ ...LIST, id: "after" });
    expect(await host.answer("after")).toHaveProperty("result.tools");
    expect(await person.opened()).toHaveLength(1);
  });

  test("while a login waits for its person, the one before is renewed, and it ends with the new one", async ({
    expect,
    person,
    start,
  }) => {
    const host = await startSignedIn({ person, start });
    const login = start(["login", `${gateway.url}/mcp`], { env: person.alone });
    const page = await pageOf(login);
    await person.changeTokens(expired());
    host.send({ ...LIST, id: "during" });
    expect(await host.answer("during")).toHaveProperty("result.tools");
    const { tokens } = (await person.login()) as { tokens: { access: string } };
    await fetch(await person.approve(page.href));
    expect(await login.exitCode).toBe(0);
    await untilRefused(tokens.access);
    host.send({ ...LIST, id: "after" });
    expect(await host.answer("after")).toHaveProperty("result.tools");
    expect(await person.login()).not.toHaveProperty("page");
  });

  test("a login that waits for another one shows a page of its own where that is refused, whatever is renewed", async ({
    expect,
    person,
    start,
  }) => {
    const url = `${gateway.url}/mcp`;
    const host = await startSignedIn({ person, start });
    const first = start(["login", url], { env: person.alone });
    const page = await pageOf(first);
    const second = start(["login", url], { env: person.alone });
    await until(() => second.stderr().includes("another process waits"), "that it waits");
    await person.changeTokens({ access: "spoilt" });
    host.send({ ...LIST, id: "renewed" });
    expect(await host.answer("renewed")).toHaveProperty("result.tools");
    await refuse(page);
    expect(await first.exitCode).toBe(1);
    await until(() => second.stderr().includes("Sign in on this page"), "a page of its own");
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
