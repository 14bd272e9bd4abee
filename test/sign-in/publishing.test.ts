/** Publishing with sign-in: whose a server is, who never sees it, and what ends it. */

import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, test, vi } from "vitest";

import { AuthShardObject } from "../../durable-objects/auth-shard-object.ts";
import { ConnectorObject } from "../../durable-objects/connector-object.ts";
import { shardName } from "../../src/auth/store/shards.ts";
import { publishProtocols } from "../../src/protocol/publishing.ts";
import { PATHS } from "../../src/pages/view/paths.ts";
import { until, within } from "../integration/bounded.ts";
import { initializeMessage, modern, post, send, Session } from "../integration/client.ts";
import { changeConfiguration } from "../integration/configuration.ts";
import { costsOf } from "../integration/costs-of.ts";
import { responseIn } from "../integration/event-reader.ts";
import { connectLaptop, type Laptop } from "../integration/publishing/laptop.ts";
import { legacyServer, text } from "../integration/publishing/local-servers.ts";
import type { Json } from "../support/scripted-upstream-script.ts";
import { ORIGIN } from "./gateway.ts";
import { as, Person, ROOT_EMAIL } from "./people.ts";
import { Visitor } from "./visitor.ts";

beforeAll(() => {
  changeConfiguration({ PUBLISHING: "on" });
});

interface Publishing {
  readonly person: Person;
  readonly token: string;
  readonly key: string;
  readonly laptop: Laptop;
}

function connect(token: string): Promise<Laptop> {
  return connectLaptop((path, init) => send(ORIGIN + path, init), as(token));
}

async function newPublisher(who: string, name = "files"): Promise<Publishing> {
  const person = await Person.signIn();
  const { token, id: key } = await person.key({ path: "/mcp" });
  const laptop = await connect(token);
  await within(
    laptop.publish(name, legacyServer({ tools: { who: () => text(who) } })),
    "a welcome",
  );
  return { person, token, key, laptop };
}

async function call(token: string, path: string, name: string): Promise<Json | undefined> {
  const mcp = { mcp: ORIGIN + path };
  const response = await modern(mcp, "tools/call", { name, arguments: {} }, { headers: as(token) });
  return response.status === 200 ? (await responseIn(response)).result : undefined;
}

async function listed(token: string): Promise<readonly unknown[]> {
  const response = await modern({ mcp: `${ORIGIN}/mcp` }, "tools/list", {}, { headers: as(token) });
  const { result } = await responseIn(response);
  return ((result?.["tools"] ?? []) as readonly Json[]).map(({ name }) => name);
}

/** An isolate may know some seconds later that a person publishes. */
function lists(token: string, isThere: (name: unknown) => boolean): Promise<true> {
  return until(async () => ((await listed(token)).some(isThere) ? true : undefined), "the tool");
}

async function bytesOf(response: Response): Promise<Json> {
  const headers = Object.fromEntries(response.headers);
  delete headers["date"];
  return { status: response.status, headers, body: await response.text() };
}

describe("two people who publish servers of one name", () => {
  test("each have their own, in both eras, and nothing of the other's", async ({ expect }) => {
    const [ann, bob] = [await newPublisher("Ann"), await newPublisher("Bob")];
    for (const [who, { token }] of [
      ["Ann", ann],
      ["Bob", bob],
    ] as const) {
      await lists(token, (name) => name === "my-files__who");
      expect(await call(token, "/mcp", "my-files__who")).toMatchObject(text(who));
      expect(await call(token, "/mcp/my-files", "who")).toMatchObject(text(who));
      const session = await Session.open(`${ORIGIN}/mcp/my-files`, { headers: as(token) });
      expect((await responseIn(await session.callTool("who"))).result).toMatchObject(text(who));
    }
  });
});

/** Every attempt of somebody else's; each is made at a name that is published and at one that never was. */
const ATTEMPTS: readonly {
  readonly what: string;
  readonly ask: (path: string, token: string) => Promise<Response>;
}[] = [
  { what: "a POST without a token", ask: (path) => post(ORIGIN + path, initializeMessage()) },
  {
    what: "a POST with a token of their own",
    ask: (path, token) => post(ORIGIN + path, initializeMessage(), as(token)),
  },
  {
    what: "a modern POST with a token of their own",
    ask: (path, token) => modern({ mcp: ORIGIN + path }, "tools/list", {}, { headers: as(token) }),
  },
  {
    what: "a GET",
    ask: (path, token) =>
      send(ORIGIN + path, { headers: { Accept: "text/event-stream", ...as(token) } }),
  },
  {
    what: "the metadata of the resource",
    ask: (path) => send(`${ORIGIN}/.well-known/oauth-protected-resource${path}`),
  },
  {
    what: "HTTP+SSE",
    ask: (path, token) =>
      send(ORIGIN + path.replace("/mcp", "/sse"), {
        headers: { Accept: "text/event-stream", ...as(token) },
      }),
  },
  {
    what: "the catalog",
    ask: (path) => send(ORIGIN + path.replace("/mcp", "/catalog"), { redirect: "manual" }),
  },
];

describe("to everybody else, a published server is a path that never was:", () => {
  test.for(ATTEMPTS)("$what", async ({ ask }, { expect }) => {
    await newPublisher("Ann", "garden");
    const other = await newPublisher("Eve", "other");
    const published = await bytesOf(await ask("/mcp/my-garden", other.token));
    const never = await bytesOf(await ask("/mcp/my-nobody", other.token));
    const named = JSON.parse(
      JSON.stringify(published).replaceAll("my-garden", "my-nobody"),
    ) as Json;
    expect([named["status"], named["body"]]).toEqual([never["status"], never["body"]]);
    expect(Object.keys(published["headers"] as Json)).toEqual(
      Object.keys(never["headers"] as Json),
    );
    expect(named["headers"]).toMatchObject({
      ...((never["headers"] as Json)["www-authenticate"] !== undefined && {
        "www-authenticate": (never["headers"] as Json)["www-authenticate"],
      }),
    });
  });

  test("their lists and calls at /mcp", async ({ expect }) => {
    await newPublisher("Ann", "garden");
    const eve = await newPublisher("Eve", "other");
    await lists(eve.token, (name) => name === "my-other__who");
    expect(await listed(eve.token)).not.toContain("my-garden__who");
    const ask = async (name: string): Promise<string> =>
      (
        await (
          await modern(
            { mcp: `${ORIGIN}/mcp` },
            "tools/call",
            { name, arguments: {} },
            {
              headers: as(eve.token),
            },
          )
        ).text()
      ).replaceAll(name, "NAME");
    expect(await ask("my-garden__who")).toBe(await ask("my-nobody__who"));
  });
});

/** Sign-in does what it does later. */
async function sweepShardOf({ id }: Person): Promise<void> {
  await runDurableObjectAlarm(env.AUTH.getByName(shardName("u", id)));
}

describe("what ends the right to publish ends it", () => {
  const ends: readonly {
    readonly what: string;
    readonly end: (publishing: Publishing) => Promise<unknown>;
  }[] = [
    { what: "the key", end: ({ person, key }) => person.shard.endKey(person.id, key) },
    { what: "everything", end: ({ person }) => person.shard.revokeEverything(person.id) },
    { what: "the person", end: ({ person }) => person.shard.setDisabled(person.id, true) },
  ];
  test.for(ends)("$what", async ({ end }, { expect }) => {
    const publishing = await newPublisher("Ann");
    await end(publishing);
    expect(await within(publishing.laptop.ends(), "the end")).toMatchObject({ code: 4002 });
    const { servers } = await env.CONNECTORS.getByName(publishing.person.id).list();
    expect(servers).toEqual([]);
  });

  test("the key of a machine that is gone already", async ({ expect }) => {
    const { person, key, laptop } = await newPublisher("Ann");
    const connector = env.CONNECTORS.getByName(person.id);
    laptop.break();
    await until(
      async () => (await connector.list()).servers[0]?.offlineSince,
      "the end of the connection",
    );
    await person.shard.endKey(person.id, key);
    await until(
      async () => ((await connector.list()).servers.length === 0 ? true : undefined),
      "an empty list",
    );
    expect((await connector.list()).servers).toEqual([]);
  });

  test("the time of the key, within an hour of use", async ({ expect }) => {
    const person = await Person.signIn();
    const expiresAt = Date.now() + 60_000;
    const [{ token }, lasting] = [
      await person.key({ path: "/mcp", expiresAt }),
      await person.key({ path: "/mcp" }),
    ];
    const [laptop, other] = [await connect(token), await connect(lasting.token)];
    vi.useFakeTimers({ toFake: ["Date"], now: expiresAt });
    await sweepShardOf(person);
    vi.useRealTimers();
    expect(await within(laptop.ends(), "the end")).toMatchObject({ code: 4002 });
    await within(other.publish("more", legacyServer({ tools: {} })), "a welcome");
  });

  test("the grant of a machine that publishes nothing, after another one's last server was ended", async ({
    expect,
  }) => {
    const { person, laptop } = await newPublisher("Ann");
    const { grant, tokens } = await person.connect({ path: "/mcp" });
    const silent = await connect(tokens.access_token);
    await env.CONNECTORS.getByName(person.id).end("files");
    await within(laptop.ends(), "the end of the other one");
    await person.shard.endGrant(person.id, grant);
    expect(await within(silent.ends(), "the end")).toMatchObject({ code: 4002 });
  });

  test("the grant of the command, and the list of other applications changes", async ({
    expect,
  }) => {
    const person = await Person.signIn();
    const { grant, tokens } = await person.connect({ path: "/mcp" });
    const laptop = await connect(tokens.access_token);
    await within(
      laptop.publish("files", legacyServer({ tools: { who: () => text("Ann") } })),
      "a welcome",
    );
    const { token } = await person.key({ path: "/mcp" });
    await lists(token, (name) => name === "my-files__who");
    await person.shard.endGrant(person.id, grant);
    expect(await within(laptop.ends(), "the end")).toMatchObject({ code: 4002 });
    await until(
      async () => ((await listed(token)).includes("my-files__who") ? undefined : true),
      "the list without it",
    );
  });
});

function gone(): never {
  throw new Error("The object is gone");
}

describe("an end of which a person's object could not be told is told later", () => {
  test("though a machine has dialled by the same key", async ({ expect }) => {
    const { person, key, laptop } = await newPublisher("Ann");
    const told = vi.spyOn(ConnectorObject.prototype, "leaseEnded").mockImplementationOnce(gone);
    await person.shard.endKey(person.id, key);
    await expect.poll(() => told.mock.calls.length).toBe(1);
    // A Worker that still believes the key.
    expect(await person.shard.holdPublisher(person.id, [key, person.id])).toBe(false);
    await sweepShardOf(person);
    expect(await within(laptop.ends(), "the end")).toMatchObject({ code: 4002 });
    told.mockRestore();
  });

  test("and a machine that has dialled since by another key stays", async ({ expect }) => {
    const { person, laptop } = await newPublisher("Ann");
    const told = vi.spyOn(ConnectorObject.prototype, "leaseEnded").mockImplementationOnce(gone);
    await person.shard.revokeEverything(person.id);
    await expect.poll(() => told.mock.calls.length).toBe(1);
    const { token } = await person.key({ path: "/mcp" });
    const newer = await connect(token);
    await sweepShardOf(person);
    expect(await within(laptop.ends(), "the end")).toMatchObject({ code: 4002 });
    await within(newer.publish("more", legacyServer({ tools: {} })), "a welcome");
    expect(newer.closed).toBeUndefined();
    told.mockRestore();
  });
});

test("a machine that connects anew as its last connection is being forgotten stays on record", async ({
  expect,
}) => {
  const person = await Person.signIn();
  const { token } = await person.key({ path: "/mcp" });
  const first = await connect(token);
  let [isReached, isReleased] = [false, false];
  // oxlint-disable-next-line typescript/unbound-method -- it is called with its object
  const { releasePublisher } = AuthShardObject.prototype;
  const released = vi
    .spyOn(AuthShardObject.prototype, "releasePublisher")
    // oxlint-disable-next-line typescript/no-misused-promises -- a call of an object may take its time
    .mockImplementation(async function late(this: AuthShardObject, of) {
      // The test's promises are of another context than the object's.
      await expect.poll(() => isReached).toBe(true);
      releasePublisher.call(this, of);
      isReleased = true;
    });
  first.break();
  await expect.poll(() => released.mock.calls.length).toBe(1);
  const dialled = vi.spyOn(ConnectorObject.prototype, "fetch");
  const connecting = connect(token);
  await expect.poll(() => dialled.mock.calls.length).toBe(1);
  // Whatever the object has told sign-in is there before the answer to this.
  await person.shard.users.find(person.id);
  isReached = true;
  await expect.poll(() => isReleased).toBe(true);
  const second = await within(connecting, "a connection");
  await within(second.publish("anew", legacyServer({ tools: {} })), "a welcome");
  expect(await person.shard.users.find(person.id)).toMatchObject({ publishes: true });
  released.mockRestore();
  dialled.mockRestore();
});

test("a machine whose right has ended takes no server from another one", async ({ expect }) => {
  const { token, laptop } = await newPublisher("Ann");
  await lists(token, (name) => name === "my-files__who");
  // Its key ends after the Worker has read it.
  const held = vi.spyOn(AuthShardObject.prototype, "holdPublisher").mockReturnValueOnce(false);
  const late = await connect(token);
  held.mockRestore();
  // Its hello is under way before it hears of its end.
  const offered = late.publish("files", legacyServer({ tools: { who: () => text("late") } }));
  await expect(within(offered, "an answer")).rejects.toThrow('{"code":4002');
  expect(await call(token, "/mcp/my-files", "who")).toMatchObject(text("Ann"));
  expect(laptop.closed).toBeUndefined();
});

test("people see what they publish at /account, and end it there; nobody else can", async ({
  expect,
}) => {
  const { person, laptop } = await newPublisher("Ann");
  const ann = await Visitor.as(person);
  const page = await ann.visit(PATHS.account);
  expect(page.text).toContain("my-files");
  expect(page.text).toContain("laptop");
  const eve = await Visitor.arrive();
  const others = await eve.visit(PATHS.account);
  expect(others.text).not.toContain("Servers that you publish");
  const csrf = await eve.formToken();
  for (const id of ["files", "nothing"]) {
    expect((await eve.post(PATHS.endPublished, { csrf, id })).status).toBe(404);
  }
  expect(laptop.closed).toBeUndefined();
  const after = await ann.browser.submit(page, { action: PATHS.endPublished });
  expect(after.text).toContain("The server is not published any more.");
  expect(await within(laptop.ends(), "the end")).toMatchObject({ code: 4002 });
  expect(after.text).toContain("A published server was ended");
});

test("people find what they publish in /catalog, and try it there; to everybody else it never was", async ({
  expect,
}) => {
  const { person, laptop } = await newPublisher("Ann", "orchard");
  const ann = await Visitor.as(person);
  const page = await ann.visit(PATHS.catalog);
  expect(page.text).toContain("my-orchard");
  expect(page.text).toContain("Only yours");
  expect((await ann.visit("/catalog/my-orchard")).text).toContain("who");
  const tool = await ann.visit("/catalog/my-orchard/who");
  const asked = await ann.browser.submit(tool, { action: "/catalog/my-orchard/who" });
  const tried = await ann.browser.submit(asked, { button: /^Run/ });
  expect(tried.text).toContain("Ann");
  expect(laptop.received.filter(({ method }) => method === "tools/call")).toHaveLength(1);

  const eve = await Visitor.as((await newPublisher("Eve", "other")).person);
  expect((await eve.visit(PATHS.catalog)).text).not.toContain("orchard");
  const csrf = await eve.formToken();
  for (const path of ["/catalog/my-orchard", "/catalog/my-orchard/who"]) {
    const [hers, never] = [
      await eve.visit(path),
      await eve.visit(path.replace("orchard", "nothing")),
    ];
    expect([hers.status, hers.text]).toEqual([404, never.text]);
    expect((await eve.post(path, { csrf })).status).not.toBe(200);
  }
  expect(laptop.received.filter(({ method }) => method === "tools/call")).toHaveLength(1);
});

test("people pause what they publish at /account, and resume it; nobody else can", async ({
  expect,
}) => {
  const { person, token, laptop } = await newPublisher("Ann", "paused");
  await lists(token, (name) => name === "my-paused__who");
  const ann = await Visitor.as(person);
  const eve = await Visitor.arrive();
  const csrf = await eve.formToken();
  const eves = { csrf, id: "paused" };
  expect((await eve.post(PATHS.pausePublished, eves)).status).toBe(404);
  expect(await call(token, "/mcp/my-paused", "who")).toMatchObject(text("Ann"));

  const page = await ann.visit(PATHS.account);
  const paused = await ann.browser.submit(page, { action: PATHS.pausePublished });
  expect(paused.text).toContain("The server is paused");
  expect(paused.text).toContain("A published server was paused");
  await until(
    async () => ((await listed(token)).includes("my-paused__who") ? undefined : true),
    "the list without it",
  );
  expect(await call(token, "/mcp/my-paused", "who")).toBeUndefined();
  expect(laptop.closed).toBeUndefined();
  // Its machine connects anew: it stays paused.
  const tools = { who: () => text("Ann again") };
  await within(laptop.publish("paused", legacyServer({ tools })), "a welcome");
  expect((await env.CONNECTORS.getByName(person.id).list()).servers).toEqual([]);
  expect((await eve.post(PATHS.resumePublished, eves)).status).toBe(404);

  const resumed = await ann.browser.submit(paused, { action: PATHS.resumePublished });
  expect(resumed.text).toContain("The server is served again.");
  expect(resumed.text).toContain("A published server was resumed");
  await lists(token, (name) => name === "my-paused__who");
  expect(await call(token, "/mcp/my-paused", "who")).toMatchObject(text("Ann again"));
});

test("whose machine is gone reads so at /account and, as an administrator, at /admin; nobody else does", async ({
  expect,
}) => {
  const [{ person, laptop }, root] = [
    await newPublisher("Ann", "attic"),
    await Visitor.arrive({ isAdmin: true }),
  ];
  await person.shard.users.change(person.id, { email: ROOT_EMAIL });
  const ann = await Visitor.as(person);
  expect((await ann.visit(PATHS.account)).text).not.toContain("needs you");
  laptop.break();
  await until(
    async () => (await ann.visit(PATHS.account)).text.includes("needs you") || undefined,
    "the end of the connection",
  );
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61_000 });
  const hers = await Visitor.as(person);
  expect((await hers.visit(PATHS.admin)).text).toMatch(/my-attic Offline You publish it from/);
  expect((await root.visit(PATHS.admin)).text).not.toContain("my-attic");
  vi.useRealTimers();
});

test("while the object of what a person publishes does not answer, /account and their /admin say that it is not known", async ({
  expect,
}) => {
  const { person, laptop } = await newPublisher("Ann", "shed");
  await person.shard.users.change(person.id, { email: ROOT_EMAIL });
  laptop.break();
  const ann = await Visitor.as(person);
  await until(
    async () => (await ann.visit(PATHS.account)).text.includes("needs you") || undefined,
    "the end of the connection",
  );
  const attention = async (): Promise<unknown> =>
    JSON.parse((await ann.visit(PATHS.attentionJson)).html);
  const logged = vi.spyOn(console, "error").mockImplementation(() => {});
  const asked = vi.spyOn(ConnectorObject.prototype, "list").mockImplementation(gone);
  const [account, admin, json] = [
    await ann.visit(PATHS.account),
    await ann.visit(PATHS.admin),
    await attention(),
  ];
  expect(logged).toHaveBeenCalledWith(expect.objectContaining({ event: "unexpected_error" }));
  asked.mockRestore();
  logged.mockRestore();
  expect(account.text).toMatch(/Servers that you publish They cannot be shown at the moment/);
  expect(admin.text).toContain("Whether a server that you publish is offline is not known");
  expect(admin.text).not.toContain("Nothing needs you.");
  expect(json).toMatchObject({ notKnown: ["offline"] });

  for (const path of [PATHS.account, PATHS.admin]) {
    const { text } = await ann.visit(path);
    expect(text).not.toMatch(/cannot be shown|is not known/);
  }
  expect(await attention()).not.toHaveProperty("notKnown");
});

test("without a good token nobody connects, and the challenge is that of /mcp", async ({
  expect,
}) => {
  const headers = { Upgrade: "websocket" };
  const dial = (protocols: string): Promise<Response> =>
    send(`${ORIGIN}/publish`, { headers: { ...headers, "Sec-WebSocket-Protocol": protocols } });
  const refused = await dial("edgeway.publish.v1");
  const challenged = await post(`${ORIGIN}/mcp`, initializeMessage());
  expect(refused.status).toBe(401);
  expect(refused.headers.get("www-authenticate")).toBe(challenged.headers.get("www-authenticate"));
  expect(await refused.json()).toMatchObject({ error: "unauthorized" });
  const bad = await dial(publishProtocols("edgeway_sk_bad").join(", "));
  expect(bad.status).toBe(401);
  const person = await Person.signIn();
  const { token } = await person.key({ path: "/mcp" });
  const good = await dial(publishProtocols(token).join(", "));
  expect(good.status).toBe(101);
  good.webSocket?.accept();
  good.webSocket?.close();
});

test("/admin says that publishing is on and how many people do, and asks none of their objects", async ({
  expect,
}) => {
  const root = await Visitor.arrive({ isAdmin: true });
  const publishing = async (): Promise<string> => {
    const { text } = await root.visit(PATHS.admin);
    return (
      /Published servers.*?(On|Off) (.*?last day\.|Nobody does so now\.)/.exec(text)?.[0] ?? text
    );
  };
  const count = async (): Promise<number> => Number(/ (\d+) p/.exec(await publishing())?.[1] ?? 0);
  const before = await count();
  const costs = await costsOf(() => root.visit(PATHS.admin));
  const { person, laptop } = await newPublisher("Ann", "cellar");
  expect(await publishing()).toContain(" On ");
  expect(await count()).toBe(before + 1);
  expect((await root.visit(PATHS.admin)).text).not.toContain("cellar");
  const after = await costsOf(() => root.visit(PATHS.admin));
  expect(after.objectRequests).toBe(costs.objectRequests);

  laptop.break();
  expect(await count()).toBe(before + 1);
  await env.CONNECTORS.getByName(person.id).end("cellar");
  await until(async () => ((await count()) === before ? true : undefined), "one less");
});

test("a person publishes until the last machine is gone, and the last server", async ({
  expect,
}) => {
  const { person, laptop, token } = await newPublisher("Ann");
  const silent = await connect(token);
  const publishes = async (): Promise<boolean> =>
    (await person.shard.users.find(person.id))?.publishes === true;
  await env.CONNECTORS.getByName(person.id).end("files");
  await within(laptop.ends(), "the end of the other one");
  expect(await publishes()).toBe(true);
  silent.break();
  await until(async () => ((await publishes()) ? undefined : true), "the end");
});

test("of people who publish nothing, nobody is asked anything", async ({ expect }) => {
  const person = await Person.signIn();
  const { token } = await person.key({ path: "/mcp" });
  await listed(token);
  const costs = await costsOf(() => listed(token));
  changeConfiguration({ PUBLISHING: "off" });
  await listed(token);
  const off = await costsOf(() => listed(token));
  changeConfiguration({ PUBLISHING: "on" });
  expect(costs.objectRequests).toBe(off.objectRequests);
});
