/**
 * Access that an operator has withdrawn: the configuration of today decides about what began
 * yesterday. A record that the rules do not match is what a rule that was changed leaves behind.
 */

import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, test } from "vitest";

import type { Maker } from "../../src/auth/store/api-keys.ts";
import { newServiceClientId } from "../../src/auth/store/service-clients.ts";
import { shardName } from "../../src/auth/store/shards.ts";
import { PATHS } from "../../src/pages/view/paths.ts";
import { until } from "../integration/bounded.ts";
import { modern } from "../integration/client.ts";
import { EventReader } from "../integration/event-reader.ts";
import { tokensIn } from "../support/oauth-requests.ts";
import { passTime } from "./clock.ts";
import { ask, connect, type Form, isGood, newCode, refreshing, statusAndError } from "./codes.ts";
import { ORIGIN } from "./gateway.ts";
import { newOwner } from "./owners.ts";
import { as, newMaker, Person, records, SOMEBODY } from "./people.ts";
import { refresh } from "./refreshes.ts";
import { isRefused, statusWith } from "./token-use.ts";
import { Visitor } from "./visitor.ts";

const ALPHA = `${ORIGIN}/mcp/alpha`;
const STRANGER = "somebody@elsewhere.example";
/** A code that was the owner's before; what it began remembers it. */
const EARLIER = "of-an-earlier-code";

async function isKeyGood({ shard }: Person, token: string): Promise<boolean> {
  return (await shard.bearers.check(ORIGIN, ALPHA, token)) !== undefined;
}

async function isSignedIn(visitor: Visitor): Promise<boolean> {
  return (await visitor.visit(PATHS.account)).url.pathname === PATHS.account;
}

describe("access that began under an earlier owner code", () => {
  test("is invalid, beside access that began under the current code", async ({ expect }) => {
    const owner = await newOwner();
    const found = [];
    for (const person of [owner, owner.under(EARLIER)]) {
      const [visitor, key] = [await Visitor.as(person), await person.key()];
      found.push([await isSignedIn(visitor), await statusWith(key.token)]);
    }
    expect(found).toEqual([
      [true, 200],
      [false, 401],
    ]);
  });

  test("redeems no code, refreshes no token, and gets no repeated answer", async ({ expect }) => {
    const owner = await newOwner();
    const application = await connect({ person: owner });
    const second = await refresh(application, application.tokens);
    await owner.shard.rows.put(...(await grantUnder(EARLIER, application)));
    const again = refreshing(application, application.tokens.refresh_token);
    expect(await isGood(second.access_token)).toBe(false);
    expect(await statusAndError(await ask(again))).toEqual([400, "invalid_grant"]);
    const code = await newCode({ person: owner.under(EARLIER) });
    expect(await statusAndError(await ask(code.form))).toEqual([400, "invalid_grant"]);
    // Nothing else of the owner's has ended with it.
    expect(await isKeyGood(owner, (await owner.key()).token)).toBe(true);
  });

  test("may belong to a user who never entered a code", async ({ expect }) => {
    const owner = await newOwner();
    const unmarked = await Person.signIn();
    const { provider, issuer, subject } = (await owner.shard.users.find(owner.id)) ?? SOMEBODY_ELSE;
    await unmarked.shard.users.change(unmarked.id, { provider, issuer, subject });
    const key = await unmarked.key();
    expect(await isKeyGood(unmarked, key.token)).toBe(false);
    expect(await isSignedIn(await Visitor.as(unmarked))).toBe(false);
  });
});

const SOMEBODY_ELSE = { ...SOMEBODY, subject: "x" };

/** The row of a grant, as it would be if it had begun under another code. */
async function grantUnder(
  codeMac: string,
  { person, grant }: { readonly person: Person; readonly grant: string },
): Promise<[string, string]> {
  const key = `grant:${person.id}:${grant}`;
  const record = JSON.parse((await person.shard.rows.get(key)) ?? "") as { metadata: object };
  return [key, JSON.stringify({ ...record, metadata: { ...record.metadata, codeMac } })];
}

describe("a person who is disabled", () => {
  test("is still signed out when they are enabled, where a sign-in was under way", async ({
    expect,
  }) => {
    const person = await Person.signIn();
    await person.shard.setDisabled(person.id, true);
    // The sign-in was judged before that.
    const [visitor, key] = [await Visitor.as(person), await person.key()];
    await person.shard.setDisabled(person.id, false);
    expect([await isSignedIn(visitor), await isKeyGood(person, key.token)]).toEqual([false, false]);
  });

  test("stays signed in when somebody enables them once more", async ({ expect }) => {
    const person = await Person.signIn();
    const visitor = await Visitor.as(person);
    await person.shard.setDisabled(person.id, false);
    expect(await isSignedIn(visitor)).toBe(true);
  });
});

describe("a user whom the rules no longer admit", () => {
  test("has no access, and has it again when the rules admit them", async ({ expect }) => {
    const person = await Person.signIn();
    const [visitor, key] = [await Visitor.as(person), await person.key()];
    const { tokens } = await person.connect();
    const found = async (): Promise<readonly boolean[]> => [
      await isSignedIn(visitor),
      await isKeyGood(person, key.token),
      await isGood(tokens.access_token, "/mcp/alpha"),
    ];
    expect(await found()).toEqual([true, true, true]);
    await person.shard.users.change(person.id, { email: STRANGER });
    expect(await found()).toEqual([false, false, false]);
    await person.shard.users.change(person.id, { email: SOMEBODY.email });
    expect(await found()).toEqual([true, true, true]);
  });

  test("is refused within the seconds of the cache", async ({ expect }) => {
    const person = await Person.signIn();
    const { token } = await person.key();
    expect(await statusWith(token)).toBe(200);
    await person.shard.users.change(person.id, { email: STRANGER });
    passTime(5000);
    expect(await statusWith(token)).toBe(401);
  });

  test("makes no key with a page that is still open", async ({ expect }) => {
    const visitor = await Visitor.arrive();
    const csrf = await visitor.formToken();
    await visitor.shard.users.change(visitor.person.id, { email: STRANGER });
    const fields = { csrf, label: "mine", resource: ALPHA, scope: "mcp:alpha", days: "7" };
    const answer = await visitor.post(PATHS.createKey, fields);
    expect(answer.headers.get("location")).toMatch(/^\/login\?/);
    expect(await visitor.shard.keys.list(visitor.person.id)).toEqual([]);
  });

  test("loses an open stream when the gateway starts with other rules", async ({ expect }) => {
    const [out, still] = [await Person.signIn(), await Person.signIn()];
    const streams: EventReader[] = [];
    for (const person of [out, still]) {
      const { token } = await person.key();
      const listen = { notifications: { toolsListChanged: true } };
      const options = { headers: as(token) };
      const stream = new EventReader(
        await modern({ mcp: ALPHA }, "subscriptions/listen", listen, options),
      );
      await stream.message();
      streams.push(stream);
    }
    await out.shard.users.change(out.id, { email: STRANGER });
    // A deployment gives objects the new configuration by starting them anew.
    await abortAllDurableObjects();
    const [ended, lasting] = streams;
    await ended?.rest();
    // It is judged as well, and holds a lease again.
    const object = env.AUTH.getByName(shardName("u", still.id));
    const leases = (): Promise<number> =>
      runInDurableObject(object, (_, state) => state.getWebSockets(still.id).length);
    await until(async () => ((await leases()) === 1 ? true : undefined), "a new lease");
    await lasting?.cancel();
    const { token } = await out.key();
    expect(await isKeyGood(out, token)).toBe(false);
  });
});

describe("a former administrator", () => {
  test("has no access to the operator's pages in an existing session", async ({ expect }) => {
    const was = await Visitor.arrive({ isAdmin: true });
    const csrf = await was.formToken();
    expect((await was.visit(PATHS.admin)).status).toBe(200);
    await was.shard.users.change(was.person.id, { email: SOMEBODY.email });
    expect((await was.visit(PATHS.admin)).status).toBe(403);
    const fields = { csrf, label: "mine", resource: `${ORIGIN}/mcp`, scope: "mcp" };
    expect((await was.post(PATHS.createService, fields)).status).toBe(403);
    expect((await was.visit(PATHS.account)).text).not.toContain(PATHS.admin);
  });

  test("is shown to the others in their current role", async ({ expect }) => {
    const root = await Visitor.arrive({ isAdmin: true });
    const out = await Person.signIn();
    await out.shard.users.change(out.id, { email: STRANGER, name: "Nora Left" });
    const { text } = await root.visit(PATHS.admin);
    expect(text).toMatch(/Nora Left\s+Not let in any more/);
  });
});

interface Made {
  readonly id: string;
  /** What asks for a token. */
  readonly form: Form;
}

async function made(maker: Maker | undefined): Promise<Made> {
  const id = newServiceClientId();
  const { secret = "" } = await records()
    .store.ofClient(id)
    .services.create({
      ...{ id, label: `made ${id}`, scopes: ["mcp:alpha"], resources: [ALPHA] },
      ...(maker !== undefined && { maker }),
    });
  const form = { grant_type: "client_credentials", client_id: id, client_secret: secret };
  return { id, form };
}

describe("a service client", () => {
  const ENDINGS: readonly { readonly name: string; readonly change: object }[] = [
    { name: "is no administrator", change: { email: SOMEBODY.email } },
    { name: "is not let in", change: { email: STRANGER } },
    { name: "is disabled", change: { isDisabled: true } },
    { name: "is known by a provider that is gone", change: { provider: "gone" } },
  ];
  test.for(ENDINGS)("ends when its maker $name", async ({ change }, { expect }) => {
    const maker = await newMaker();
    const { form } = await made(maker);
    const { access_token: token } = await tokensIn(await ask(form));
    expect(await statusWith(token)).toBe(200);
    await records().store.ofUser(maker.user).users.change(maker.user, change);
    passTime(5000);
    expect(await statusWith(token)).toBe(401);
    expect(await statusAndError(await ask(form))).toEqual([401, "invalid_client"]);
  });

  test("ends with the owner code under which it was made", async ({ expect }) => {
    const { id, codeMac = "" } = await newOwner();
    const [today, earlier] = [
      await made({ user: id, codeMac }),
      await made({ user: id, codeMac: EARLIER }),
    ];
    expect((await ask(today.form)).status).toBe(200);
    expect(await statusAndError(await ask(earlier.form))).toEqual([401, "invalid_client"]);
  });

  test("whose maker is unknown is refused, and administrators see that", async ({ expect }) => {
    const { id, form } = await made(undefined);
    expect(await statusAndError(await ask(form))).toEqual([401, "invalid_client"]);
    const root = await Visitor.arrive({ isAdmin: true });
    expect((await root.visit(PATHS.admin)).text).toMatch(
      new RegExp(`made ${id}\\s+Ended with its maker`),
    );
  });

  test("loses its open streams when its maker is disabled", async ({ expect }) => {
    const root = await Visitor.arrive({ isAdmin: true });
    const maker = await newMaker();
    const { form } = await made(maker);
    const { access_token: token } = await tokensIn(await ask(form));
    const listen = { notifications: { toolsListChanged: true } };
    const stream = new EventReader(
      await modern({ mcp: ALPHA }, "subscriptions/listen", listen, { headers: as(token) }),
    );
    await stream.message();
    const fields = { csrf: await root.formToken(), id: maker.user };
    expect((await root.post(PATHS.disableUser, fields)).status).toBe(303);
    // The server is that of other tests too, so its tools may have changed meanwhile.
    const rest = (await stream.rest()).filter(({ data }) => !data.includes("tools/list_changed"));
    expect(rest).toEqual([]);
    await isRefused(token);
  });
});
