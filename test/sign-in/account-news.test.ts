/** Whoever connects, replaces or disconnects an account hears that their lists are others, and nobody else does. */

import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, inject, test, vi } from "vitest";

import { readStored } from "../../durable-objects/stored-json.ts";
import { VaultObject } from "../../durable-objects/vault-object.ts";
import { vaultName } from "../../durable-objects/vaults.ts";
import { ownerName } from "../../src/accounts/owner-name.ts";
import type { SavedWanted } from "../../src/notifications/legacy/session-subscriptions.ts";
import { vaultKey } from "../../src/upstream/server-key.ts";
import { Vendor } from "../support/vendor/vendor.ts";
import { until } from "../integration/bounded.ts";
import { modern, Session } from "../integration/client.ts";
import { changeConfiguration } from "../integration/configuration.ts";
import { EventReader, responseIn } from "../integration/event-reader.ts";
import { objectOf } from "../integration/session-object.ts";
import { ALPHA, connect, ownerOf, vaultOf } from "./connecting.ts";
import { as, Person } from "./people.ts";

const OPENS_PAGES = { elicitation: { url: {} } };
const FILTER = { notifications: { toolsListChanged: true } };

let vendor: Vendor;
beforeAll(async () => {
  vendor = await Vendor.take(inject("vendors"));
  changeConfiguration({
    MCP_SERVERS: JSON.stringify({ alpha: { url: vendor.url, auth: "oauth" } }),
  });
});

/** A session that listens, and a listener, of one person. */
class Hearing {
  readonly person: Person;
  readonly session: Session;
  readonly stream: EventReader;
  readonly listener: EventReader;

  private constructor(
    ...[person, session, stream, listener]: readonly [Person, Session, EventReader, EventReader]
  ) {
    this.person = person;
    this.session = session;
    this.stream = stream;
    this.listener = listener;
  }

  static async begin(): Promise<Hearing> {
    const person = await Person.signIn();
    const headers = as((await person.key()).token);
    const session = await Session.open(ALPHA, { headers });
    const stream = await session.listen();
    const response = await modern({ mcp: ALPHA }, "subscriptions/listen", FILTER, { headers });
    const listener = new EventReader(response);
    // The acknowledgement has what was honoured.
    const { params } = await listener.message();
    if (params?.["notifications"] === undefined) throw new Error("Not acknowledged");
    await promised(session, person);
    return new Hearing(person, session, stream, listener);
  }

  async hears(): Promise<void> {
    await Promise.all([toolsChanged(this.stream), toolsChanged(this.listener)]);
  }

  async hearsNothing(): Promise<void> {
    await Promise.all([this.stream.silence(), this.listener.silence()]);
  }

  async tools(): Promise<readonly string[]> {
    const { result } = await responseIn(await this.session.request("tools/list"));
    const { tools } = result as { tools: readonly { name: string }[] };
    return tools.map(({ name }) => name);
  }

  async end(): Promise<void> {
    await Promise.all([this.stream.cancel(), this.listener.cancel()]);
  }
}

/** Reads up to the news that tools have changed: those of other lists are in no set order. */
async function toolsChanged(stream: EventReader): Promise<readonly (string | undefined)[]> {
  const methods: (string | undefined)[] = [];
  for (;;) {
    const { method } = await stream.message();
    methods.push(method);
    if (method === "notifications/tools/list_changed") return methods;
  }
}

/** Waits until the session is going to hear of the person's accounts. */
async function promised(session: Session, person: Person): Promise<void> {
  await until(async () => ((await isPromised(session, person)) ? true : undefined), "a promise");
}

async function isPromised(session: Session, person: Person): Promise<boolean> {
  const stored = await runInDurableObject(await objectOf(session), (_instance, { storage }) =>
    readStored(storage.kv.get("session")),
  );
  const lists = (stored as { wanted?: SavedWanted } | undefined)?.wanted?.lists ?? {};
  return Object.hasOwn(lists, vaultKey(ownerName(ownerOf(person))));
}

test("U60 whoever connects an account hears that the lists have changed, and gets them; nobody else hears it", async ({
  expect,
}) => {
  const [alice, bob] = [await Hearing.begin(), await Hearing.begin()];
  expect(await alice.tools()).toEqual(["connect_account"]);
  await connect(vendor, alice.person, "alice");
  await alice.hears();
  expect(await alice.tools()).toContain("only_alice");
  await bob.hearsNothing();
  expect(await bob.tools()).toEqual(["connect_account"]);
  await Promise.all([alice.end(), bob.end()]);
});

/** A session of a client that opens pages, and the visit that a call asks it for. */
class Asking {
  readonly session: Session;
  readonly elicitationId: string;

  private constructor(session: Session, elicitationId: string) {
    this.session = session;
    this.elicitationId = elicitationId;
  }

  static async begin(person: Person): Promise<Asking> {
    const options = { headers: as((await person.key()).token), capabilities: OPENS_PAGES };
    const session = await Session.open(ALPHA, options);
    const { error } = await responseIn(await session.callTool("whoami"));
    const { elicitations = [] } = (error?.data ?? {}) as {
      elicitations?: readonly { elicitationId: string }[];
    };
    return new Asking(session, elicitations[0]?.elicitationId ?? "");
  }
}

const COMPLETE = "notifications/elicitation/complete";

/** Reads up to the end of a visit. @returns the id of the visit. */
async function completed(stream: EventReader): Promise<unknown> {
  for (;;) {
    const { method, params } = await stream.message();
    if (method === COMPLETE) return params?.["elicitationId"];
  }
}

test("U55 those sessions that were asked for a visit hear once that it is over, and no other session does", async ({
  expect,
}) => {
  const [alice, bob] = [await Person.signIn(), await Person.signIn()];
  const [one, two, bobs] = [
    await Asking.begin(alice),
    await Asking.begin(alice),
    await Asking.begin(bob),
  ];
  const other = await Session.open(ALPHA, { headers: as((await alice.key()).token) });
  const [first, others, bobsStream] = [
    await one.session.listen(),
    await other.listen(),
    await bobs.session.listen(),
  ];
  expect(two.elicitationId).toBe(one.elicitationId);
  expect(bobs.elicitationId).not.toBe(one.elicitationId);

  await evictDurableObject(env.VAULTS.getByName(vaultName(ownerOf(alice))));
  await evictDurableObject(await objectOf(two.session));
  await promised(other, alice);
  await connect(vendor, alice, "alice");
  expect(await completed(first)).toBe(one.elicitationId);
  expect(await responseIn(await one.session.callTool("whoami"))).toMatchObject({ result: {} });

  // A client that did not listen hears it when it does.
  const second = await two.session.listen();
  expect(await completed(second)).toBe(one.elicitationId);
  await promised(two.session, alice);

  // Connected once more: those that asked were told already.
  await connect(vendor, alice, "bob");
  for (const stream of [first, second, others]) {
    expect(await toolsChanged(stream)).not.toContain(COMPLETE);
  }
  await bobsStream.silence();
  await Promise.all([first, second, others, bobsStream].map((stream) => stream.cancel()));
});

test("U62 whoever connects another account, or disconnects it, hears it, with vault and session evicted before", async ({
  expect,
}) => {
  const alice = await Hearing.begin();
  await connect(vendor, alice.person, "alice");
  await alice.hears();
  expect(await alice.tools()).toContain("only_alice");

  await evictDurableObject(env.VAULTS.getByName(vaultName(ownerOf(alice.person))));
  await evictDurableObject(await objectOf(alice.session));
  await connect(vendor, alice.person, "bob");
  await alice.hears();
  const tools = await alice.tools();
  expect(tools).toContain("only_bob");
  expect(tools).not.toContain("only_alice");

  await vaultOf(alice.person).disconnect("alpha");
  await alice.hears();
  expect(await alice.tools()).toEqual(["connect_account"]);
  await alice.end();
});
// Has an isolate of its own: its servers are those of this file.

test("whoever got a list that nobody could ask the vault for hears that it is another one, once the vault is back", async ({
  expect,
}) => {
  const [alice, bob] = [await Hearing.begin(), await Hearing.begin()];
  const asked = vi.spyOn(VaultObject.prototype, "account").mockImplementation(() => {
    throw new Error("It is being restarted");
  });
  const announced = vi.spyOn(VaultObject.prototype, "announce").mockImplementation(() => {
    throw new Error("It is being restarted");
  });
  expect(await alice.tools()).toEqual([]);
  await until(async () => announced.mock.calls.length > 1 || undefined, "it to be tried again");
  asked.mockRestore();
  announced.mockRestore();
  await alice.hears();
  expect(await alice.tools()).toEqual(["connect_account"]);
  await bob.hearsNothing();
  await Promise.all([alice.end(), bob.end()]);
});

test("whose vault is away until nobody asks it to announce anything hears it from the session", async ({
  expect,
}) => {
  const alice = await Hearing.begin();
  const [asked, announced] = (["account", "announce"] as const).map((method) =>
    vi.spyOn(VaultObject.prototype, method).mockImplementation(() => {
      throw new Error("It is being restarted");
    }),
  );
  expect(await alice.tools()).toEqual([]);
  asked?.mockRestore();
  await runDurableObjectAlarm(await objectOf(alice.session));
  await toolsChanged(alice.stream);
  expect(await alice.tools()).toEqual(["connect_account"]);
  announced?.mockRestore();
  await alice.end();
});
