/** The credential of `edgeway connect` before an endpoint by hand: one renewal for all, and what waits for it. */

import { describe, test as base } from "vitest";

import { Person } from "../support/cli-person.ts";
import { errorOf, type RawHost, type Start, startUntil } from "../support/cli.ts";
import { INITIALIZE } from "../support/raw-session.ts";
import { startStubGateway, type StubGateway } from "../support/stub-gateway.ts";
import { until } from "../support/until.ts";

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};
const LIST = { jsonrpc: "2.0", id: "list", method: "tools/list", params: { _meta: META } };

const test = base
  // oxlint-disable-next-line no-empty-pattern -- vitest reads what a fixture needs off the pattern
  .extend("start", ({}, { onCleanup }): Start => startUntil(onCleanup))
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

/** A login whose token is good, and is to be renewed. */
async function keepDue(person: Person, stub: StubGateway): Promise<void> {
  const now = Date.now();
  const tokens = { access: "access-0", refresh: "refresh-0", obtainedAt: now - 100_000 };
  await person.keep(stub.url, { ...stub.login, tokens: { ...tokens, expiresAt: now + 10_000 } });
  stub.good = "access-0";
}

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

  test("that a firewall refuses is not waited for while the token is good, and ends no login", async ({
    expect,
    person,
    start,
    stub,
  }) => {
    await keepDue(person, stub);
    stub.trouble = 403;
    const host = start(["connect", stub.url], { env: person.env });
    host.send(LIST);
    expect(await host.answer("list")).toHaveProperty("result");
    stub.good = "none";
    host.send({ ...LIST, id: "refused" });
    expect(errorOf(await host.answer("refused"))).toMatch(
      /The login cannot be renewed: [^]*403[^]*edgeway login/,
    );
    expect(await person.login()).toHaveProperty("tokens.refresh", "refresh-0");
  });

  test("that takes long is not waited for while the token is good, nor after the deadline", async ({
    expect,
    person,
    start,
    stub,
  }) => {
    await keepDue(person, stub);
    const host = start(["connect", stub.url, "--deadline", "0.5"], { env: person.env });
    await person.whileLocked(stub.url, async () => {
      host.send(LIST);
      expect(await host.answer("list")).toHaveProperty("result");
      stub.good = "none";
      host.send({ ...LIST, id: "late" });
      expect(errorOf(await host.answer("late"))).toContain("its login is not renewed yet");
      expect(stub.refreshes).toBe(0);
    });
    host.send({ ...LIST, id: "after" });
    expect(await host.answer("after")).toHaveProperty("result");
    expect(stub.refreshes).toBe(1);
  });

  test.for([
    ["client", { clientId: undefined }],
    ["authorization server", { endpoints: undefined }],
    ["refresh token", { tokens: { access: "access-0", obtainedAt: 0, expiresAt: 1 } }],
  ] as const)(
    "that cannot be, for want of a known %s, ends the login",
    async ([, lacking], { expect, person, start, stub }) => {
      await person.keep(stub.url, { ...stub.login, ...lacking });
      const host = start(["connect", stub.url], { env: person.env });
      host.send(LIST);
      expect(errorOf(await host.answer("list"))).toContain(`edgeway login ${stub.url}`);
      expect(await person.login()).not.toHaveProperty("tokens");
      expect(await person.opened()).toEqual([]);
      expect(stub.refreshes).toBe(0);
    },
  );
});

test("a call that a host of the session era cancels while it waits for the login is never sent", async ({
  expect,
  person,
  start,
  stub,
}) => {
  await keepDue(person, stub);
  const host = start(["connect", stub.url], { env: person.env });
  host.send(INITIALIZE);
  await host.answer(INITIALIZE.id);
  await person.whileLocked(stub.url, async () => {
    stub.good = "none";
    host.send({ jsonrpc: "2.0", id: "pay", method: "tools/call", params: { name: "pay" } });
    await until(() => stub.refusals > 0, "that the call was refused");
    const params = { requestId: "pay" };
    host.send({ jsonrpc: "2.0", method: "notifications/cancelled", params });
    host.write("no message\n");
    await until(() => host.stderr().includes("no message of JSON-RPC"), "that it has read on");
  });
  host.send({ jsonrpc: "2.0", id: "next", method: "ping" });
  expect(await host.answer("next")).toHaveProperty("result");
  expect(stub.taken).toEqual(["initialize", "notifications/cancelled", "ping"]);
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
