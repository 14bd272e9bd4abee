/** `/account`: a user's connections, shown to that user alone, and ended by that user alone. */

import { beforeAll, describe, test } from "vitest";

import { initializeMessage, post } from "../integration/client.ts";
import { PATHS } from "../../src/pages/view/paths.ts";
import { gateway, newBrowser, ORIGIN } from "./gateway.ts";
import { as } from "./people.ts";
import { isRefused, statusOfRefresh, statusWith } from "./token-use.ts";
import { activityOn, newSignIn, SESSION_COOKIE, Visitor } from "./visitor.ts";

const FORMS = [
  ...[PATHS.revokeConnection, PATHS.forgetApproval, PATHS.endSession],
  ...[
    PATHS.createKey,
    PATHS.revokeKey,
    PATHS.endPublished,
    PATHS.pausePublished,
    PATHS.resumePublished,
    PATHS.revokeAll,
  ],
];

let ann: Visitor;

beforeAll(async () => {
  ann = await Visitor.arrive();
});

describe("the account page", () => {
  test("B83a: is refused without a session, whatever token the request has", async ({ expect }) => {
    const { token } = await ann.person.key();
    for (const headers of [{}, as(token), { Cookie: `${SESSION_COOKIE}=${"x".repeat(43)}` }]) {
      const response = await gateway.send(ORIGIN + PATHS.account, { method: "GET", headers });
      expect([response.status, response.headers.get("location")]).toEqual([
        ...[303, "/login?to=%2Faccount"],
      ]);
    }
  });

  test("B83: has a session that opens no endpoint", async ({ expect }) => {
    const headers = { Cookie: `${SESSION_COOKIE}=${ann.secret}` };
    const response = await post(`${ORIGIN}/mcp`, initializeMessage(), headers);
    expect(response.status).toBe(401);
  });

  test("has the command for hosts that start commands, with the gateway’s own address", async ({
    expect,
  }) => {
    const { text, html } = await ann.visit(PATHS.account);
    expect(text).toContain(`npx edgeway connect ${ORIGIN}/mcp`);
    expect(text).toContain(`"EDGEWAY_URL": "${ORIGIN}/mcp"`);
    expect(html).toContain('href="/edgeway.mcpb"');
  });

  test("is refused to a disabled user", async ({ expect }) => {
    const bob = await Visitor.arrive();
    expect((await bob.visit(PATHS.account)).status).toBe(200);
    await bob.shard.setDisabled(bob.person.id, true);
    expect((await bob.visit(PATHS.account)).url.pathname).not.toBe(PATHS.account);
  });
});

describe("B105: a form", () => {
  test.for(FORMS)(
    "%s that has no token, or comes from elsewhere, is refused",
    async (path, { expect }) => {
      const csrf = await ann.formToken();
      const other = await (await Visitor.as(ann.person)).formToken();
      const status = async (
        fields: Record<string, string>,
        headers: Record<string, string> = {},
      ): Promise<number> => (await ann.post(path, { id: "x", ...fields }, headers)).status;

      expect(await status({})).toBe(403);
      expect(await status({ csrf: "" })).toBe(403);
      expect(await status({ csrf: other })).toBe(403);
      expect(await status({ csrf }, { Origin: "https://evil.example" })).toBe(403);
      const crossSite = { Origin: "null", "Sec-Fetch-Site": "cross-site" };
      expect(await status({ csrf }, crossSite)).toBe(403);
      expect(await status({ csrf }, { "Content-Type": "application/json" })).toBe(400);
      expect((await ann.visit(PATHS.account)).status).toBe(200);
    },
  );

  test("without its token is recorded for the user who would have been harmed", async ({
    expect,
  }) => {
    const bob = await Visitor.arrive();
    await bob.post(PATHS.revokeAll, {}, { "cf-connecting-ip": "192.0.2.7" });
    const { text } = await bob.visit(PATHS.account);
    expect(text).toContain("Denied · A request was refused · form token · 192.0.2.7");
  });

  test.for(FORMS)(
    "%s that is only requested with GET changes nothing",
    async (path, { expect }) => {
      expect((await ann.visit(path)).status).toBe(404);
    },
  );

  test.for(FORMS)("%s without a session leads to the sign-in", async (path, { expect }) => {
    const response = await gateway.send(ORIGIN + path, {
      method: "POST",
      headers: { "Content-Type": "application/x-www-form-urlencoded", Origin: ORIGIN },
      body: `csrf=${await ann.formToken()}&id=x`,
    });
    expect([response.status, response.headers.get("location")]).toEqual([
      ...[303, newSignIn(PATHS.account)],
    ]);
  });
});

describe("another user's property", () => {
  test("B105: cannot be found, and does not change", async ({ expect }) => {
    const bob = await Visitor.arrive();
    const connection = await bob.person.connect();
    const key = await bob.person.key();
    await approve(bob, connection.client);
    const [session] = await bob.shard.sessions.list(bob.person.id);
    const csrf = await ann.formToken();
    const foreign: readonly (readonly [string, string])[] = [
      [PATHS.revokeConnection, connection.grant],
      [PATHS.forgetApproval, connection.client],
      [PATHS.endSession, session?.id ?? ""],
      [PATHS.revokeKey, key.id],
    ];
    for (const [path, id] of foreign) {
      const theirs = await ann.post(path, { csrf, id });
      const invented = await ann.post(path, { csrf, id: "nothing" });
      expect([path, theirs.status, invented.status]).toEqual([path, 404, 404]);
    }
    expect(await statusWith(connection.tokens.access_token)).toBe(200);
    expect(await statusWith(key.token)).toBe(200);
    const { text } = await bob.visit(PATHS.account);
    expect(text).toContain(key.id);
    expect((await ann.visit(PATHS.account)).text).not.toContain(key.id);
  });
});

async function approve(visitor: Visitor, client: string): Promise<void> {
  await visitor.shard.approvals.save(visitor.person.id, {
    ...{ client, redirectUri: "https://app.example.com/cb", resource: `${ORIGIN}/mcp/alpha` },
    ...{ scopes: ["mcp:alpha"], digest: "d", name: "Approved app", approvedAt: Date.now() },
  });
}

describe("B106: a connected application", () => {
  test("is listed, and loses access when it is revoked", async ({ expect }) => {
    const bob = await Visitor.arrive();
    const connection = await bob.person.connect();
    expect(await statusWith(connection.tokens.access_token)).toBe(200);
    const before = await bob.visit(PATHS.account);
    expect(before.text).toContain("Test client");
    expect(before.text).toContain("127.0.0.1:9");

    const after = await bob.browser.submit(before, { action: PATHS.revokeConnection });
    expect(after.url.pathname).toBe(PATHS.account);
    expect(after.text).toContain("The application is disconnected.");
    expect(after.text).toContain("No application is connected.");
    await isRefused(connection.tokens.access_token);
    expect(await statusOfRefresh(connection, bob.person)).toBe(400);
    expect(activityOn(after)).toContain("An application was disconnected · Test client");
  });

  test("whose code was not redeemed is not listed", async ({ expect }) => {
    const bob = await Visitor.arrive();
    await bob.shard.rows.put(
      `grant:${bob.person.id}:${"g".repeat(16)}`,
      JSON.stringify({ id: "g".repeat(16), clientId: "pending", scope: ["mcp"] }),
    );
    expect((await bob.visit(PATHS.account)).text).toContain("No application is connected.");
  });
});

test("an approval is listed, and forgotten", async ({ expect }) => {
  const bob = await Visitor.arrive();
  await approve(bob, "https://app.example.com/client.json");
  const before = await bob.visit(PATHS.account);
  expect(before.text).toContain("Verified host app.example.com");
  const after = await bob.browser.submit(before, { action: PATHS.forgetApproval });
  expect(after.text).toContain("Nothing is remembered");
  expect(await bob.shard.approvals.list(bob.person.id)).toEqual([]);
});

describe("a browser", () => {
  test("is listed by name, and can be signed out from another one", async ({ expect }) => {
    const bob = await Visitor.arrive();
    const elsewhere = await Visitor.as(bob.person);
    const page = await bob.visit(PATHS.account);
    expect(page.text).toContain("Chrome on Linux This browser");
    const ended = page.forms.filter(({ action }) => action === PATHS.endSession);
    expect(ended.length).toBe(2);
    const mine = await bob.shard.sessions.find(bob.secret);
    const all = await bob.shard.sessions.list(bob.person.id);
    const id = all.find((session) => session.id !== mine?.id)?.id ?? "";
    const csrf = await bob.formToken();
    const response = await bob.post(PATHS.endSession, { csrf, id });
    expect(response.headers.get("location")).toBe("/account?done=session-ended");
    expect((await elsewhere.visit(PATHS.account)).url.pathname).not.toBe(PATHS.account);
    expect((await bob.visit(PATHS.account)).status).toBe(200);
  });

  test("that signs itself out forgets its cookie", async ({ expect }) => {
    const bob = await Visitor.arrive();
    const [session] = await bob.shard.sessions.list(bob.person.id);
    const csrf = await bob.formToken();
    const response = await bob.post(PATHS.endSession, { csrf, id: session?.id ?? "" });
    expect(response.status).toBe(303);
    expect(response.headers.get("set-cookie")).toContain(`${SESSION_COOKIE}=; Max-Age=0`);
    expect((await bob.visit(PATHS.account)).url.pathname).not.toBe(PATHS.account);
  });
});

describe("the revocation of everything", () => {
  test("ends every application, key, approval and browser", async ({ expect }) => {
    const bob = await Visitor.arrive();
    const other = await Visitor.as(bob.person);
    const connection = await bob.person.connect();
    const key = await bob.person.key();
    await approve(bob, "c");
    const page = await bob.submit(PATHS.account, { action: PATHS.revokeAll });
    expect(page.text).toContain("Everything is revoked");
    expect(page.headers.get("set-cookie")).toContain(`${SESSION_COOKIE}=; Max-Age=0`);
    await isRefused(connection.tokens.access_token);
    await isRefused(key.token);
    expect(await statusOfRefresh(connection, bob.person)).toBe(400);
    for (const visitor of [bob, other]) {
      expect((await visitor.visit(PATHS.account)).url.pathname).not.toBe(PATHS.account);
    }
    expect(await bob.shard.approvals.list(bob.person.id)).toEqual([]);
    const [last] = await bob.shard.audit.list(bob.person.id, 1);
    expect(last?.event).toBe("everything_revoked");
  });

  test("requires a sign-in of the last minutes", async ({ expect }) => {
    const bob = await Visitor.arrive({ authenticatedAt: 0 });
    const response = await bob.post(PATHS.revokeAll, { csrf: await bob.formToken() });
    expect(response.headers.get("location")).toBe(newSignIn(PATHS.account));
    expect((await bob.visit(PATHS.account)).status).toBe(200);
  });
});

describe("B107: signing out", () => {
  test("requires a form, and keeps the applications connected", async ({ expect }) => {
    const bob = await Visitor.arrive();
    const { tokens } = await bob.person.connect();
    const looked = await bob.visit(PATHS.logout);
    expect([looked.status, looked.url.pathname]).toEqual([200, PATHS.account]);

    const page = await bob.browser.submit(looked, { action: PATHS.logout });
    expect(page.text).toContain("You are signed out");
    expect(page.text).toContain("stay connected");
    expect(page.headers.get("clear-site-data")).toBe('"storage"');
    expect(page.headers.get("set-cookie")).toContain(`${SESSION_COOKIE}=; Max-Age=0`);
    expect(await bob.shard.sessions.find(bob.secret)).toBeUndefined();
    expect(await statusWith(tokens.access_token)).toBe(200);
  });

  test("is refused to the page of another user", async ({ expect }) => {
    const bob = await Visitor.arrive();
    const csrf = await bob.formToken();
    for (const [fields, headers] of [
      [{}, {}],
      [{ csrf }, { Origin: "https://evil.example" }],
    ] as const) {
      expect((await bob.post(PATHS.logout, fields, headers)).status).toBe(403);
    }
    expect((await bob.visit(PATHS.account)).status).toBe(200);
  });

  test("without a session has nothing to do", async ({ expect }) => {
    const response = await gateway.send(ORIGIN + PATHS.logout, { method: "POST", headers: {} });
    expect([response.status, await response.text()]).toEqual([
      ...[200, expect.stringContaining("You are signed out")],
    ]);
    expect((await newBrowser().visit(PATHS.logout)).url.pathname).not.toBe(PATHS.logout);
  });
});

test("the names of applications are shown as text only", async ({ expect }) => {
  const bob = await Visitor.arrive();
  const name = `<script>alert(1)</script>\u202eevil`;
  const approval = { client: `"><b>x`, redirectUri: "https://a.example/cb", scopes: ["mcp"] };
  const resource = `${ORIGIN}/mcp`;
  const more = { resource, digest: "d", name, approvedAt: Date.now() };
  await bob.shard.approvals.save(bob.person.id, { ...approval, ...more });
  const { html } = await bob.visit(PATHS.account);
  expect(html).not.toContain("<script>");
  expect(html).not.toContain("\u202e");
  expect(html).not.toContain("<b>x");
  expect(html).toContain("&lt;script&gt;alert(1)&lt;/script&gt;evil");
});
