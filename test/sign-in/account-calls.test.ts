// Has an isolate of its own: its servers are those of this file.
/** Calls to servers with accounts, through the Worker: what the servers see, and what callers read. */

import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, inject, test, vi } from "vitest";

import { vaultsIn } from "../../durable-objects/vaults.ts";
import type { VaultOwner } from "../../src/accounts/vault.ts";
import { tryJson } from "../../src/lib/try-json.ts";
import { isObject } from "../../src/protocol/json-rpc.ts";
import { Vendor } from "../support/vendor/vendor.ts";
import { modern, Session } from "../integration/client.ts";
import { changeConfiguration } from "../integration/configuration.ts";
import { type Message, responseIn } from "../integration/event-reader.ts";
import { connectAccount } from "../support/vendor/connect-account.ts";
import { ALPHA, ownerOf } from "./connecting.ts";
import { ORIGIN } from "./gateway.ts";
import { as, Person, ROOT_EMAIL } from "./people.ts";

const BETA = `${ORIGIN}/mcp/beta`;
const MCP = `${ORIGIN}/mcp`;
const SHARED: VaultOwner = { kind: "shared" };

/** Of each person's own accounts, and of the one that all share. */
let vendor: Vendor;
let shared: Vendor;
/** Its authorization server never answers. */
let silent: Vendor;
beforeAll(async () => {
  [vendor, shared, silent] = [
    await Vendor.take(inject("vendors")),
    await Vendor.take(inject("vendors")),
    await Vendor.take(inject("vendors"), {
      reactions: { metadata: [{ end: "never", isLasting: true }] },
    }),
  ];
  changeConfiguration({
    MCP_SERVERS: JSON.stringify({
      alpha: { url: vendor.url, auth: "oauth" },
      beta: { url: shared.url, auth: "oauth-shared" },
      gamma: { url: silent.url, auth: "oauth" },
    }),
  });
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** @returns the id of the account. */
async function connect(owner: VaultOwner, person: Person, slug = "alpha"): Promise<string> {
  const attempt = { slug, origin: ORIGIN, person: person.id };
  return (await connectAccount(() => vaultsIn(env).of(owner), attempt)).accountId;
}

async function admin(): Promise<Person> {
  const person = await Person.signIn();
  await person.shard.users.change(person.id, { email: ROOT_EMAIL });
  return person;
}

/** A request in a session of one person. */
async function ask(
  person: Person,
  method: string,
  params: Record<string, unknown>,
  path = "/mcp/alpha",
): Promise<Message> {
  const headers = await headersOf(person, path);
  const session = await Session.open(ORIGIN + path, { headers });
  return responseIn(await session.request(method, params));
}

function textOf({ result }: Message): string {
  const { content } = (result ?? {}) as { content?: readonly { text: string }[] };
  return content?.[0]?.text ?? "";
}

const call = async (person: Person, path: string, name = "whoami"): Promise<string> =>
  textOf(await ask(person, "tools/call", { name, arguments: {} }, path));

const OPENS_PAGES = { elicitation: { url: {} } };

async function headersOf(person: Person, path = "/mcp/alpha"): Promise<Record<string, string>> {
  return { ...as((await person.key({ path })).token) };
}

/** The answer of the shared server to a client of 2026-07-28 that opens pages. */
async function askedAtBeta(person: Person): Promise<Message> {
  const headers = await headersOf(person, "/mcp/beta");
  const params = { name: "whoami", arguments: {} };
  return responseIn(
    await modern({ mcp: BETA }, "tools/call", params, { headers, capabilities: OPENS_PAGES }),
  );
}

describe("U37 a server with accounts", () => {
  test("sees the account's token and nothing of the caller's, in both eras", async ({ expect }) => {
    const alice = await Person.signIn();
    await connect(ownerOf(alice), alice);
    const before = (await vendor.hits("server")).length;
    const { token } = await alice.key();
    const extra = { Cookie: "a=of-the-caller", "X-Forwarded-For": "192.0.2.1", "X-Own": "1" };
    const headers = { ...as(token), ...extra };
    const session = await Session.open(ALPHA, { headers });
    expect(textOf(await responseIn(await session.callTool("whoami")))).toBe("ran whoami as alice");
    const params = { name: "whoami", arguments: {} };
    const response = await modern({ mcp: ALPHA }, "tools/call", params, { headers });
    expect(textOf(await responseIn(response))).toBe("ran whoami as alice");
    const hits = (await vendor.hits("server")).slice(before);
    const { tokens } = await vendor.state();
    const values = tokens.map(({ value }) => `Bearer ${value}`);
    const sent = hits.map((hit) => hit.headers["authorization"]).filter((value) => value);
    expect(sent.length).toBeGreaterThan(1);
    for (const value of sent) expect(values).toContain(value);
    const all = JSON.stringify(hits);
    for (const own of [token, session.id, "of-the-caller", "192.0.2.1", "x-own"]) {
      expect(all).not.toContain(own);
    }
  });
});

describe("U66 the account that all share", () => {
  const SENTENCE = "has to be repaired by the operator of this gateway";
  const LINK = `${ORIGIN}/connect/beta`;

  test("is repaired by administrators alone: they get the link, and others a sentence", async ({
    expect,
  }) => {
    const [alice, root] = [await Person.signIn(), await admin()];
    const read = async (): Promise<readonly string[]> => [
      await call(alice, "/mcp/beta"),
      await call(root, "/mcp/beta"),
    ];
    const missing = await read();
    await connect(SHARED, root, "beta");
    expect(await read()).toEqual(["ran whoami as alice", "ran whoami as alice"]);
    await shared.withdraw();
    const dead = await read();
    for (const [theirs, own] of [missing, dead]) {
      expect(theirs).toContain(SENTENCE);
      expect(theirs).not.toContain("http");
      expect(own).toContain("as an administrator");
      expect(own).toContain(`\n${LINK}`);
    }
  });

  test("asks an administrator in the way of the client, and nobody else", async ({ expect }) => {
    await vaultsIn(env).of(SHARED).disconnect("beta");
    expect((await askedAtBeta(await admin())).result).toMatchObject({
      resultType: "input_required",
      inputRequests: { connect: { params: { mode: "url", url: LINK } } },
    });
    expect((await askedAtBeta(await Person.signIn())).result).toMatchObject({ isError: true });
  });
});

describe("U59 the tool that connects an account", () => {
  test("gives the link, and says later that the account is connected", async ({ expect }) => {
    const alice = await Person.signIn();
    expect(await call(alice, "/mcp/alpha", "connect_account")).toContain(`${ORIGIN}/connect/alpha`);
    await connect(ownerOf(alice), alice);
    expect(await call(alice, "/mcp/alpha", "connect_account")).toBe(
      "An account at alpha is connected. List the tools again to see what it has.",
    );
  });

  test("of the account that all share is answered with the operator's sentence", async ({
    expect,
  }) => {
    await vaultsIn(env).of(SHARED).disconnect("beta");
    const text = await call(await Person.signIn(), "/mcp/beta", "connect_account");
    expect(text).toContain("by the operator of this gateway");
    expect(text).not.toContain("http");
  });
});

/** The lines of calls of tools, from now on. */
function linesOfTools(): () => readonly unknown[] {
  const spy = vi.spyOn(console, "log").mockImplementation(() => undefined);
  return () =>
    spy.mock.calls
      .map(([line]: readonly unknown[]) => tryJson(String(line)))
      .filter(isObject)
      .filter((line) => line["event"] === "call" && line["method"] === "tools/call");
}

describe("what the gateway answers itself has its line in the log:", () => {
  test("the tool that connects an account, in both eras", async ({ expect }) => {
    const alice = await Person.signIn();
    await connect(ownerOf(alice), alice);
    const lines = linesOfTools();
    const line = { server: "alpha", name: "connect_account", outcome: "ok" };
    await call(alice, "/mcp/alpha", "connect_account");
    await expect.poll(lines).toMatchObject([line]);
    const params = { name: "connect_account", arguments: {} };
    const headers = await headersOf(alice);
    await responseIn(await modern({ mcp: ALPHA }, "tools/call", params, { headers }));
    await expect.poll(lines).toMatchObject([line, line]);
  });

  test("a call whose person declines to connect an account", async ({ expect }) => {
    const options = { headers: await headersOf(await Person.signIn()), capabilities: OPENS_PAGES };
    const params = { name: "whoami", arguments: {} };
    const asked = await modern({ mcp: ALPHA }, "tools/call", params, options);
    const { requestState } = (await responseIn(asked)).result ?? {};
    const lines = linesOfTools();
    const inputResponses = { connect: { action: "decline" } };
    const round = { ...params, requestState, inputResponses };
    const declined = await responseIn(await modern({ mcp: ALPHA }, "tools/call", round, options));
    expect(declined.result).toMatchObject({ isError: true });
    const line = { server: "alpha", name: "whoami", outcome: "tool_error" };
    await expect.poll(lines).toMatchObject([line]);
  });
});

describe("U57 without an account", () => {
  const REQUESTS = [
    ["prompts/get", { name: "p" }],
    ["resources/read", { uri: "test://r" }],
    [
      "completion/complete",
      { ref: { type: "ref/prompt", name: "p" }, argument: { name: "a", value: "" } },
    ],
  ] as const;

  test.for(REQUESTS)("%s is refused with the link", async ([method, params], { expect }) => {
    const { error } = await ask(await Person.signIn(), method, params);
    expect(error).toMatchObject({ code: -32603 });
    expect(error?.message).toContain(`\n${ORIGIN}/connect/alpha?e=`);
  });
});

describe("U58 several servers, of which one is not connected, one is dead and one is good", () => {
  test("are listed at once, and the first two have one tool each", async ({ expect }) => {
    const alice = await Person.signIn();
    await connect(SHARED, await admin(), "beta");
    await shared.withdraw();
    await connect(ownerOf(alice), alice);
    const headers = as((await alice.key({ path: "/mcp" })).token);
    const session = await Session.open(MCP, { headers });
    const discovered = await modern({ mcp: MCP }, "server/discover", {}, { headers });
    expect(discovered.status).toBe(200);
    await discovered.text();
    const names = async (): Promise<readonly string[]> => {
      const { result } = await responseIn(await session.request("tools/list"));
      const { tools } = result as { tools: readonly { name: string }[] };
      return tools.map(({ name }) => name).toSorted();
    };
    await expect.poll(names).toContain("alpha__whoami");
    expect(await names()).toEqual([
      ...["alpha__only_alice", "alpha__whoami", "beta__connect", "gamma__connect"],
    ]);
    // Nobody was asked about an account that nobody has.
    expect(await silent.count("metadata")).toBe(0);
  });
});

test("U76 what becomes of an account without its person is in the log, and no secret is", async ({
  expect,
}) => {
  const lines: string[] = [];
  vi.spyOn(console, "log").mockImplementation((line) => void lines.push(String(line)));
  const alice = await Person.signIn();
  const vault = () => vaultsIn(env).of(ownerOf(alice));
  const issuer = new URL(vendor.issuer).host;
  const accounts = [await connect(ownerOf(alice), alice)];
  const refused = await vault().credential({ slug: "alpha" });
  if (refused.kind !== "use") throw new Error(refused.reason);
  await vendor.withdraw();
  await vault().credential({ slug: "alpha", refused });
  accounts.push(await connect(ownerOf(alice), alice));
  const again = await vault().credential({ slug: "alpha" });
  if (again.kind !== "use") throw new Error(again.reason);
  const patch = { authorization_servers: [silent.issuer] };
  await vendor.change({ reactions: { "resource-metadata": [{ patch, isLasting: true }] } });
  await vendor.expire();
  await silent.change({ reactions: { metadata: [] } });
  await vault().credential({ slug: "alpha", refused: again });
  await vendor.change({ reactions: { "resource-metadata": [] } });

  const audited = lines.filter((line) => line.includes('"audit"') && line.includes('"account_'));
  expect(audited.map((line) => JSON.parse(line) as unknown)).toEqual([
    {
      ...{ event: "audit", what: "account_refresh_failed", user: alice.id },
      ...{ server: "alpha", issuer, account: accounts[0], reason: "ended" },
    },
    {
      ...{ event: "audit", what: "account_moved", user: alice.id },
      ...{ server: "alpha", issuer, account: accounts[1], reason: "moved" },
    },
  ]);
  const { tokens } = await vendor.state();
  for (const { value } of tokens) expect(lines.join("\n")).not.toContain(value);
});

test("U54 a state that another person was given reaches no server", async ({ expect }) => {
  const capabilities = OPENS_PAGES;
  const params = { name: "whoami", arguments: {} };
  const [alice, bob] = [await Person.signIn(), await Person.signIn()];
  const headers = await headersOf(alice);
  const asked = await modern({ mcp: ALPHA }, "tools/call", params, { headers, capabilities });
  const { requestState } = (await responseIn(asked)).result ?? {};
  await connect(ownerOf(bob), bob);
  const before = await vendor.count("server");
  const inputResponses = { connect: { action: "accept" } };
  const theirs = await modern(
    { mcp: ALPHA },
    "tools/call",
    { ...params, requestState, inputResponses },
    { headers: await headersOf(bob), capabilities },
  );
  expect((await responseIn(theirs)).error).toMatchObject({ code: -32602 });
  expect(await vendor.count("server")).toBe(before);
});
