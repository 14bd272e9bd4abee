// Has an isolate of its own: its servers are those of this file.
/**
 * Two people with the same server, where each has an account of their own: nothing of one is there for the other, and
 * what is not there is answered like anything that never was. Whoever it belongs to notices nothing.
 */

import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, inject, test } from "vitest";

import { post, send } from "../integration/client.ts";
import { changeConfiguration } from "../integration/configuration.ts";
import { always, subscribe, updated } from "../integration/merged-session.ts";
import type { Json } from "../support/scripted-upstream-script.ts";
import { Vendor } from "../support/vendor/vendor.ts";
import { AccountHolder } from "./account-holder.ts";
import { ORIGIN } from "./gateway.ts";
import { Visitor } from "./visitor.ts";

const RAN = "ran whoami as alice";
const URI = "file:///notes/1";

/** All that points to something of a person's at a server. */
interface Pointers {
  /** Of the next page of a list, by the era of the client. */
  readonly cursors: { readonly legacy: unknown; readonly modern: unknown };
  readonly sessionId: string;
  /** Of a link to connect an account. */
  readonly ask: string;
  /** Where the vendor sends the browser back to, with code and state. */
  readonly callback: string;
  /** The cookies of the browser that began. */
  readonly cookies: readonly string[];
  /** Of a call that waits for an account. */
  readonly requestState: unknown;
}

let vendor: Vendor;
let spoken: Vendor;
let ann: AccountHolder;
let anns: Pointers;

beforeAll(async () => {
  const prompts = ["one", "two", "three"].map((name) => ({ name }));
  vendor = await Vendor.take(inject("vendors"), {
    signedIn: "page",
    demands: { "tools/call write": ["w"] },
    mcp: { server: "dual", reactions: { "prompts/list": always({ prompts }) } },
  });
  // Of this era, changes come on a stream that the server has open.
  spoken = await Vendor.take(inject("vendors"), { signedIn: "page" });
  const servers = {
    alpha: { url: vendor.url, auth: "oauth" },
    beta: { url: spoken.url, auth: "oauth", era: "legacy" },
  };
  const limits = { ...(JSON.parse(String(env["LIMITS"])) as Json), listPageItems: 2 };
  changeConfiguration({ MCP_SERVERS: JSON.stringify(servers), LIMITS: JSON.stringify(limits) });
  ann = await AccountHolder.arrive("alpha");
  await ann.connect("alice");
  anns = await pointersOf(ann);
});

interface Waiting {
  readonly requestState: unknown;
  readonly inputRequests: { readonly connect: { readonly params: { readonly url: string } } };
}

async function pointersOf(person: AccountHolder): Promise<Pointers> {
  const [legacy, modern] = await Promise.all([
    person.legacy("prompts/list"),
    person.modern("prompts/list"),
  ]);
  const waiting = await person.modern("tools/call", { name: "write", arguments: {} });
  const { inputRequests, requestState } = waiting.result as unknown as Waiting;
  const callback = await person.begin("alice");
  const { jar } = person.visitor.browser;
  const cookies = jar.all.filter(({ name }) => name.includes("connect"));
  return {
    cursors: { legacy: legacy.result?.["nextCursor"], modern: modern.result?.["nextCursor"] },
    sessionId: person.session.id,
    ask: new URL(inputRequests.connect.params.url).searchParams.get("e") ?? "",
    callback,
    cookies: cookies.map(({ name, value }) => `${name}=${value}; Path=/; Secure; HttpOnly`),
    requestState,
  };
}

/** Another text, as long. */
function other(value: unknown): string {
  const text = String(value);
  return text.slice(0, -8) + (text.endsWith("AAAAAAAA") ? "BBBBBBBB" : "AAAAAAAA");
}

/** Pointers of the same shapes that nobody was ever given. */
function invented({
  cursors,
  sessionId,
  ask,
  callback,
  cookies,
  requestState,
}: Pointers): Pointers {
  const away = new URL(callback);
  away.searchParams.set("state", other(away.searchParams.get("state")));
  return {
    cursors: { legacy: other(cursors.legacy), modern: other(cursors.modern) },
    sessionId: other(sessionId),
    ask: other(ask),
    callback: away.href,
    cookies,
    requestState: other(requestState),
  };
}

interface Attempt {
  readonly name: string;
  /** @returns all that the person is told. */
  readonly attempt: (bob: AccountHolder, pointers: Pointers) => Promise<unknown>;
  readonly told: unknown;
}

const errorOf = async (answer: Promise<Json>): Promise<unknown> => (await answer)["error"];

async function pageAt(visitor: Visitor, path: string): Promise<Json> {
  const { status, text, left, forms } = await visitor.visit(path);
  return { status, text, left, actions: forms.map(({ action }) => action) };
}

const ATTEMPTS: readonly Attempt[] = [
  {
    name: "U62 the cursor of a page, of a legacy client",
    attempt: (bob, { cursors: { legacy: cursor } }) =>
      errorOf(bob.legacy("prompts/list", { cursor })),
    told: { code: -32_602 },
  },
  {
    name: "U62 the cursor of a page, of a modern client",
    attempt: (bob, { cursors: { modern: cursor } }) =>
      errorOf(bob.modern("prompts/list", { cursor })),
    told: { code: -32_602 },
  },
  {
    name: "U62 a session",
    attempt: async ({ session: { path, headers } }, { sessionId }) => {
      const named = { ...headers, "Mcp-Session-Id": sessionId };
      const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "whoami" } };
      const stream = { ...named, Accept: "text/event-stream" };
      const responses = [
        await post(path, call, named),
        await post(path, { ...call, method: "resources/unsubscribe", params: { uri: URI } }, named),
        await send(path, { headers: stream }),
        await send(path, { method: "DELETE", headers: named }),
      ];
      return Promise.all(responses.map(async (one) => [one.status, await one.text()]));
    },
    told: [[404], [404], [404], [404]].map(([status]) => [status, expect.any(String)]),
  },
  {
    name: "U24 a link to connect an account",
    attempt: ({ visitor, page }, { ask }) => pageAt(visitor, `${page}?e=${ask}`),
    told: {
      status: 403,
      left: undefined,
      text: expect.stringContaining("This link is not for you"),
    },
  },
  {
    name: "U24 the form behind a link to connect an account",
    attempt: async ({ visitor, page }, { ask }) => {
      const response = await visitor.post(page, { csrf: await visitor.formToken(), e: ask });
      return { status: response.status, location: response.headers.get("location") };
    },
    told: { status: 403, location: null },
  },
  {
    name: "U25 the state of an attempt to connect one",
    attempt: ({ visitor }, { callback }) => pageAt(visitor, callback),
    told: { status: 400, text: expect.stringContaining("does not fit") },
  },
  {
    name: "U25 the state of an attempt, with the cookie of its browser",
    attempt: async ({ visitor: { person } }, { callback, cookies }) => {
      const visitor = await Visitor.as(person);
      visitor.browser.jar.take(new URL(ORIGIN), cookies);
      return pageAt(visitor, callback);
    },
    told: { status: 400, text: expect.stringContaining("does not fit") },
  },
  {
    name: "U54 a call that waits for an account",
    attempt: (bob, { requestState }) => {
      const answers = { requestState, inputResponses: { connect: { action: "accept" } } };
      return errorOf(bob.modern("tools/call", { name: "write", arguments: {}, ...answers }));
    },
    told: { code: -32_602 },
  },
];

/** The requests that have come to the server with a token of a user's. */
async function requestsAs(user: string): Promise<number> {
  const { hits, tokens } = await vendor.state();
  const theirs = tokens
    .filter((token) => token.user === user)
    .map(({ value }) => `Bearer ${value}`);
  return hits.filter(({ headers }) => theirs.includes(headers["authorization"] ?? "")).length;
}

describe.each([
  { bobs: "no account", account: undefined },
  { bobs: "an account of his own", account: "bob" },
] as const)("Bob, who has $bobs, reaches nothing of Ann's:", ({ account }) => {
  let bob: AccountHolder;
  beforeAll(async () => {
    bob = await AccountHolder.arrive("alpha");
    if (account !== undefined) await bob.connect(account);
  });

  test.for(ATTEMPTS)("$name", async ({ attempt, told }) => {
    const before = await requestsAs("alice");
    const answer = await attempt(bob, anns);
    expect(answer).toMatchObject(told as object);
    expect(await attempt(bob, invented(anns))).toEqual(answer);
    expect(await requestsAs("alice")).toBe(before);
    expect(await ann.use()).toContain(RAN);
  });

  test("U40 her account and her lists", async () => {
    const before = await requestsAs("alice");
    const own = account === undefined ? ["connect_account"] : ["whoami", "only_bob"];
    expect(await bob.tools()).toEqual([own, own]);
    const used = await bob.use();
    expect(used).toContain(account === undefined ? "needs you to connect" : "ran whoami as bob");
    const { html } = await bob.visitor.visit("/account");
    expect(html).not.toContain(ann.visitor.person.id);
    expect(await requestsAs("alice")).toBe(before);
    expect(await ann.tools()).toEqual([
      ["whoami", "only_alice"],
      ["whoami", "only_alice"],
    ]);
  });

  test("U61 her account, when he ends his own", async () => {
    const { visitor, page } = bob;
    const csrf = await visitor.formToken();
    const ended = await visitor.post(`${page}/disconnect`, { csrf });
    expect(ended.status).toBe(303);
    // An isolate may use what it has for some seconds.
    await expect.poll(() => bob.tools()).toEqual([["connect_account"], ["connect_account"]]);
    expect(await ann.use()).toContain(RAN);
    await expect.poll(() => vendor.count("revoke")).toBe(account === undefined ? 0 : 2);
  });
});

test("what Bob could not use is still good for Ann", async () => {
  const { cursors, callback, ask } = anns;
  expect(await ann.legacy("prompts/list", { cursor: cursors.legacy })).toHaveProperty("result");
  expect(await ann.modern("prompts/list", { cursor: cursors.modern })).toHaveProperty("result");
  expect((await ann.visitor.visit(`${ann.page}?e=${ask}`)).status).toBe(200);
  expect((await ann.visitor.visit(callback)).status).toBe(200);
  expect(await ann.use()).toContain(RAN);
});

test("U62 what Ann has subscribed to is nothing that Bob hears of, or ends", async () => {
  const hearing = async (one: AccountHolder, user: "alice" | "bob") => {
    await one.connect(user);
    expect(await subscribe(one.session, URI)).toHaveProperty("result");
    return one.session.listen();
  };
  const [carol, bob] = [await AccountHolder.arrive("beta"), await AccountHolder.arrive("beta")];
  const [hers, his] = [await hearing(carol, "alice"), await hearing(bob, "bob")];
  const tell = (user: "alice" | "bob"): Promise<void> =>
    spoken.tell(
      user,
      `event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", ...updated(URI) })}\n\n`,
    );
  await tell("alice");
  expect(await hers.message()).toMatchObject(updated(URI));
  await his.silence();
  expect(await bob.legacy("resources/unsubscribe", { uri: URI })).toHaveProperty("result");
  await tell("alice");
  expect(await hers.message()).toMatchObject(updated(URI));
  await tell("bob");
  await his.silence();
  await Promise.all([hers.cancel(), his.cancel()]);
});
