/** `/admin`: for administrators, who see all users and can end everyone's access. */

import { beforeAll, describe, test } from "vitest";

import { newServiceClientId } from "../../src/auth/store/service-clients.ts";
import { loginPath, PATHS } from "../../src/pages/view/paths.ts";
import { OWNER_CODE } from "../support/oauth-owner.ts";
import { ownersBrowser } from "./asking.ts";
import { passTime } from "./clock.ts";
import { gateway, ORIGIN } from "./gateway.ts";
import { as, Person, records } from "./people.ts";
import { isRefused, statusOfRefresh, statusWith } from "./token-use.ts";
import { newSignIn, Visitor } from "./visitor.ts";

const MINUTE = 60_000;
const FORMS = [
  ...[PATHS.disableUser, PATHS.enableUser, PATHS.deleteClient],
  ...[PATHS.createService, PATHS.revokeService, PATHS.sealAccounts],
];

let root: Visitor;
let ann: Visitor;

beforeAll(async () => {
  [root, ann] = [await Visitor.arrive({ isAdmin: true }), await Visitor.arrive()];
});

async function act(path: string, fields: Record<string, string>): Promise<Response> {
  return root.post(path, { csrf: await root.formToken(), ...fields });
}

async function statusOf(answer: Promise<Response>): Promise<number> {
  return (await answer).status;
}

describe("the admin page:", () => {
  test.for([PATHS.admin, PATHS.logins, loginPath("abcdefgh")])(
    "P10: %s requires a signed-in administrator",
    async (path, { expect }) => {
      const nobody = await gateway.send(ORIGIN + path, { method: "GET", headers: {} });
      const login = `/login?${new URLSearchParams({ to: path }).toString()}`;
      expect([nobody.status, nobody.headers.get("location")]).toEqual([303, login]);
      const page = await ann.visit(path);
      expect([page.status, page.text]).toEqual([403, expect.stringContaining("administrators")]);
      expect(page.text).not.toContain(root.person.id);
    },
  );

  test.for([
    [`${PATHS.logins}?reference=abcdefgh`, `${PATHS.logins}?reference=abcdefgh`],
    [`${PATHS.admin}?q=ann+b&page=3`, `${PATHS.admin}?q=ann+b&page=3`],
    ["/admin/servers/alpha?q=x&done=tool-denied&page=3", "/admin/servers/alpha?q=x&page=3"],
    [`${PATHS.account}?done=key-revoked`, PATHS.account],
    [`${PATHS.catalog}?q=a%5Cb&done=server-on`, `${PATHS.catalog}?q=a%5Cb`],
    [`${PATHS.activity}?server=alpha`, `${PATHS.activity}?server=alpha`],
  ] as const)(
    "P10: the sign-in leads back to %s with its query, but without the notice of an action",
    async ([path, to], { expect }) => {
      const nobody = await gateway.send(ORIGIN + path, { method: "GET", headers: {} });
      const login = `/login?${new URLSearchParams({ to }).toString()}`;
      expect([nobody.status, nobody.headers.get("location")]).toEqual([303, login]);
    },
  );

  test("a token gives no access", async ({ expect }) => {
    const { token } = await root.person.key({ path: "/admin", scopes: ["admin"] });
    for (const path of [PATHS.admin, PATHS.logins]) {
      const headers = { ...as(token), Accept: "text/html" };
      expect((await gateway.send(ORIGIN + path, { method: "GET", headers })).status).toBe(303);
    }
  });

  test.for(FORMS)(
    "the form %s requires an administrator, and comes from their page",
    async (path, { expect }) => {
      const csrf = await root.formToken();
      const fields = { id: ann.person.id };
      expect(await statusOf(root.post(path, fields))).toBe(403);
      const evil = { Origin: "https://evil.example" };
      expect(await statusOf(root.post(path, { ...fields, csrf }, evil))).toBe(403);
      const own = await ann.formToken();
      expect(await statusOf(ann.post(path, { ...fields, csrf: own }))).toBe(403);
      expect((await root.visit(path)).status).toBe(404);
      const stale = await Visitor.as(root.person, { authenticatedAt: Date.now() - 11 * MINUTE });
      const late = await stale.post(path, { ...fields, csrf: await stale.formToken() });
      expect(late.headers.get("location")).toBe(newSignIn(PATHS.admin));
      expect((await ann.visit(PATHS.account)).status).toBe(200);
    },
  );
});

test("an administrator who has to sign in again for an action reads that it was not done", async ({
  expect,
}) => {
  const browser = await ownersBrowser();
  const page = await browser.visit(PATHS.admin);
  passTime(11 * MINUTE);
  const login = await browser.submit(page, {
    action: PATHS.createService,
    fields: { label: "late job", resource: [`${ORIGIN}/mcp/alpha`] },
  });
  expect(login.url.pathname).toBe("/login");
  const back = await browser.submit(login, { fields: { code: OWNER_CODE } });
  expect(back.url.pathname).toBe(PATHS.admin);
  expect(back.text).toContain("You have signed in again. Nothing was done yet: do it once more.");
  expect(back.text).not.toContain("late job");
});

describe("for people:", () => {
  test("B108: a person who is disabled loses access at once, and can be enabled again", async ({
    expect,
  }) => {
    const bob = await Visitor.arrive();
    const connection = await bob.person.connect();
    const key = await bob.person.key();
    expect(await statusWith(connection.tokens.access_token)).toBe(200);
    expect((await root.visit(PATHS.admin)).text).toContain(bob.person.id);

    const answer = await act(PATHS.disableUser, { id: bob.person.id });
    expect(answer.headers.get("location")).toBe("/admin?done=user-disabled");
    await isRefused(connection.tokens.access_token);
    expect(await statusWith(key.token)).toBe(401);
    expect(await statusOfRefresh(connection, bob.person)).toBe(400);
    expect((await bob.visit(PATHS.account)).url.pathname).not.toBe(PATHS.account);
    expect((await root.visit("/admin?done=user-disabled")).text).toContain("Disabled");

    await act(PATHS.enableUser, { id: bob.person.id });
    expect((await bob.shard.users.find(bob.person.id))?.isDisabled).toBe(false);
    // A browser that was signed in before is not signed in again.
    expect((await bob.visit(PATHS.account)).url.pathname).not.toBe(PATHS.account);
    const again = await Visitor.as(bob.person);
    const { text } = await again.visit(PATHS.account);
    expect(text).toContain("Was disabled by an administrator");
    expect(text).toContain("Was enabled by an administrator");
  });

  test("an administrator cannot disable themselves", async ({ expect }) => {
    const answer = await act(PATHS.disableUser, { id: root.person.id });
    expect(answer.status).toBe(400);
    expect((await root.visit(PATHS.admin)).status).toBe(200);
    const page = await root.visit(PATHS.admin);
    const own = page.forms.filter(({ controls }) =>
      controls.some(({ value }) => value === root.person.id),
    );
    expect(own).toEqual([]);
  });

  test("all who have signed in are listed page by page, each once, and are found by name", async ({
    expect,
  }) => {
    const made = await Promise.all(Array.from({ length: 120 }, () => Person.signIn()));
    const [late] = made as [Person];
    await late.shard.users.change(late.id, { name: "Rarely Here", seenAt: 0 });
    const listed: string[] = [];
    let path: string | undefined = PATHS.admin;
    // Tests of other files have signed people in, too.
    for (let pages = 0; path !== undefined && pages < 100; pages++) {
      const { html, text } = await root.visit(path);
      const [, count] = /(\d+) people have signed in/.exec(text) ?? [];
      expect(Number(count)).toBeGreaterThanOrEqual(122);
      const ids = Array.from(text.matchAll(/User id (u_\w+)/g), ([, id = ""]) => id);
      expect(ids.length).toBeLessThanOrEqual(100);
      listed.push(...ids);
      const [, next] = /href="(\/admin\?page=[^"]+)">Next/.exec(html) ?? [];
      path = next?.replaceAll("&amp;", "&");
    }
    expect(path).toBeUndefined();
    expect(new Set(listed).size).toBe(listed.length);
    expect(made.filter(({ id }) => !listed.includes(id))).toEqual([]);
    expect(listed.at(-1)).toBe(late.id);

    const { text } = await root.visit("/admin?q=rarely");
    expect(text).toMatch(/1 of \d+ people/);
    expect(text).toMatch(/Rarely Here.* Last signed in 1 Jan/);
    expect((await root.visit("/admin?q=nobody-like-that")).text).toContain("Nobody has ");
  });

  test("a person who never existed is not found", async ({ expect }) => {
    for (const path of [PATHS.disableUser, PATHS.enableUser]) {
      expect((await act(path, { id: "u_nobody" })).status).toBe(404);
      expect((await act(path, {})).status).toBe(404);
    }
  });
});

async function newClient(clientName: string): Promise<string> {
  const { authorities, engine } = records();
  const metadata = { redirectUris: ["https://app.example.com/cb"], clientName };
  const helpers = authorities.at(ORIGIN).helpers(engine);
  return (await helpers.createClient({ ...metadata, tokenEndpointAuthMethod: "none" })).clientId;
}

describe("applications", () => {
  test("that are deleted lose what any user gave them, and others nothing", async ({ expect }) => {
    const [bob, eve] = [await Visitor.arrive(), await Visitor.arrive()];
    const mine = await bob.person.connect();
    const theirs = await eve.person.connect({ client: mine.client });
    const other = await eve.person.connect();
    await eve.shard.approvals.save(eve.person.id, {
      ...{ client: mine.client, redirectUri: "https://a.example/", resource: `${ORIGIN}/mcp` },
      ...{ scopes: ["mcp"], digest: "", name: "", approvedAt: 0 },
    });
    const answer = await act(PATHS.deleteClient, { id: mine.client });
    expect(answer.headers.get("location")).toBe("/admin?done=client-deleted");
    await isRefused(mine.tokens.access_token);
    await isRefused(theirs.tokens.access_token);
    expect(await statusWith(other.tokens.access_token)).toBe(200);
    const { authorities, engine } = records();
    const helpers = authorities.at(ORIGIN).helpers(engine);
    expect(await helpers.lookupClient(mine.client)).toBeNull();
    expect(await helpers.lookupClient(other.client)).not.toBeNull();
    expect(await eve.shard.approvals.list(eve.person.id)).toEqual([]);
    expect((await act(PATHS.deleteClient, { id: mine.client })).status).toBe(404);
  });

  test("are listed page by page, each once", async ({ expect }) => {
    const made = await Promise.all(Array.from({ length: 120 }, (_, n) => newClient(`App ${n}`)));
    const listed: string[] = [];
    let path: string | undefined = PATHS.admin;
    // Tests of other files have made applications, too.
    for (let pages = 0; path !== undefined && pages < 100; pages++) {
      const { html, forms } = await root.visit(path);
      const ids = forms
        .filter(({ action }) => action === PATHS.deleteClient)
        .flatMap(({ controls }) => controls.filter(({ name }) => name === "id"))
        // Those whose id is a URL stand on the first page, beside the others.
        .filter(({ value }) => !value.startsWith("https:"));
      expect(ids.length).toBeLessThanOrEqual(60);
      listed.push(...ids.map(({ value }) => value));
      const [, next] = /href="(\/admin\?after=[^"]+)"/.exec(html) ?? [];
      path = next?.replaceAll("&amp;", "&");
    }
    expect(path).toBeUndefined();
    expect(new Set(listed).size).toBe(listed.length);
    expect(made.filter((id) => !listed.includes(id))).toEqual([]);
  });

  test("whose id is a URL are listed while a user uses them", async ({ expect }) => {
    const client = "https://app.example.com/client.json";
    const bob = await Visitor.arrive();
    const id = "d".repeat(16);
    await bob.shard.rows.put(
      `grant:${bob.person.id}:${id}`,
      JSON.stringify({
        ...{ id, clientId: client, redirectUri: "https://app.example.com/cb", scope: ["mcp"] },
        ...{ refreshTokenId: "x", createdAt: 1_800_000_000, metadata: { name: "By address" } },
      }),
      { metadata: JSON.stringify({ clientId: client }) },
    );
    const { text } = await root.visit(PATHS.admin);
    expect(text).toContain("By address Verified host app.example.com");
    const answer = await act(PATHS.deleteClient, { id: client });
    expect(answer.headers.get("location")).toBe("/admin?done=client-deleted");
    expect(await bob.shard.grants.list(bob.person.id)).toEqual([]);
    expect((await root.visit(PATHS.admin)).text).not.toContain("By address");
  });
});

describe("service clients", () => {
  test("are made with a secret that is shown once, and revoked with their tokens", async ({
    expect,
  }) => {
    const page = await root.submit(PATHS.admin, {
      action: PATHS.createService,
      fields: { label: "nightly job", resource: [`${ORIGIN}/mcp/alpha`] },
    });
    const [id = ""] = /svc_[a-z0-9]+/.exec(page.text) ?? [];
    const [secret = ""] = /(?<![\w-])[\w-]{43}(?![\w-])/.exec(page.text) ?? [];
    expect([page.status, page.headers.get("cache-control")]).toEqual([200, "no-store"]);
    const { services } = records().store.ofClient(id);
    expect((await services.withSecret(id, secret))?.label).toBe("nightly job");

    const before = await root.visit(PATHS.admin);
    expect(before.text).toContain("nightly job");
    expect(before.html).not.toContain(secret);

    const { keys } = records().store.ofUser(id);
    const { token } = await keys.create({
      ...{ kind: "cc", owner: id, label: "", scopes: ["mcp:alpha"] },
      maker: { user: root.person.id },
      ...{ resources: [`${ORIGIN}/mcp/alpha`], expiresAt: Date.now() + 60 * MINUTE },
    });
    expect(await statusWith(token)).toBe(200);
    const answer = await act(PATHS.revokeService, { id });
    expect(answer.headers.get("location")).toBe("/admin?done=service-revoked");
    await isRefused(token);
    expect(await services.find(id)).toBeUndefined();
    expect((await act(PATHS.revokeService, { id })).status).toBe(404);
    const [last, first] = await root.shard.audit.list(root.person.id, 2);
    expect([first?.event, last?.event]).toEqual([
      ...["service_client_created", "service_client_revoked"],
    ]);
    expect(last?.detail).toEqual({ client: id, address: "local" });
  });

  test("without any scope are not made", async ({ expect }) => {
    const answer = await act(PATHS.createService, { label: "x" });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain("Choose what it may act on.");
    expect((await act(PATHS.revokeService, { id: newServiceClientId() })).status).toBe(404);
  });
});
