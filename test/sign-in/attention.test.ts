/** What needs an administrator, with sign-in: for them alone, on the page and for monitors, with the login doctor's findings. */

// Has an isolate of its own: it lists everything that needs somebody, the failed sign-ins of other tests too.
import { beforeAll, describe, test } from "vitest";

import { Upstream } from "../integration/upstream.ts";
import {
  asked,
  comeWithoutToken,
  newName,
  noToken,
  registered,
  tell,
  teller,
  used,
} from "./doctor-fixture.ts";
import { gateway, ORIGIN } from "./gateway.ts";
import { as } from "./people.ts";
import { activityOn, newSignIn, SESSION_COOKIE, Visitor } from "./visitor.ts";

const ADMIN = "/admin";
const JSON_PATH = "/admin/attention.json";
const SERVER = "/admin/servers/alpha";

let root: Visitor;
let ann: Visitor;

beforeAll(async () => {
  const tools = [{ name: "work", inputSchema: { type: "object" } }];
  await Upstream.named("alpha").script({ server: "modern", capabilities: { tools: {} }, tools });
  [root, ann] = [await Visitor.arrive({ isAdmin: true }), await Visitor.arrive()];
});

function get(path: string, headers: Record<string, string>): Promise<Response> {
  return gateway.send(ORIGIN + path, { method: "GET", headers });
}

const cookieOf = ({ secret }: Visitor) => ({ Cookie: `${SESSION_COOKIE}=${secret}` });

interface Attention {
  readonly count: number;
  readonly items: readonly {
    readonly kind: string;
    readonly subject: string;
    readonly link: string;
  }[];
}

async function attention(): Promise<Attention> {
  return (await get(JSON_PATH, cookieOf(root))).json<Attention>();
}

describe("whoever is no administrator", () => {
  test.for([ADMIN, SERVER, JSON_PATH])(
    "P10: is refused %s as all pages of theirs",
    async (path, { expect }) => {
      const nobody = await get(path, { Accept: "text/html" });
      const login = `/login?${new URLSearchParams({ to: path }).toString()}`;
      expect([nobody.status, nobody.headers.get("location")]).toEqual([303, login]);
      const page = await get(path, cookieOf(ann));
      expect(page.status).toBe(403);
      expect(await page.text()).toContain("For administrators");
    },
  );

  test("has no server looked at", async ({ expect }) => {
    const before = (await Upstream.named("alpha").log()).length;
    const csrf = await ann.formToken();
    expect((await ann.post(`${SERVER}/check`, { csrf })).status).toBe(403);
    expect((await root.post(`${SERVER}/check`, { csrf })).status).toBe(403);
    const evil = { Origin: "https://evil.example" };
    const own = { csrf: await root.formToken() };
    expect((await root.post(`${SERVER}/check`, own, evil)).status).toBe(403);
    expect(await Upstream.named("alpha").log()).toHaveLength(before);
    expect(activityOn(await ann.visit("/account"))).toContain("not an administrator");
  });
});

describe("a monitor", () => {
  test("reads the list with a key for the operator's pages, and with no other", async ({
    expect,
  }) => {
    const { token } = await root.person.key({ path: ADMIN, scopes: ["admin"] });
    const response = await get(JSON_PATH, as(token));
    expect([response.status, response.headers.get("cache-control")]).toEqual([200, "no-store"]);
    const body = await response.json<Attention>();
    expect(body.count).toBe(body.items.length);
    const { token: other } = await root.person.key();
    const { token: hers } = await ann.person.key();
    for (const wrong of [other, hers, "edgeway_sk_nonsense"]) {
      expect((await get(JSON_PATH, as(wrong))).status).toBe(401);
    }
    expect((await get(JSON_PATH, {})).status).toBe(401);
  });
});

describe("an application that cannot sign in", () => {
  test("is in the list until its next attempt succeeds", async ({ expect }) => {
    const client = newName("cursor");
    const from = teller();
    await tell([registered(client), asked(client)], from);
    await tell([noToken(client)], from);
    const [item, ...others] = (await attention()).items.filter(({ kind }) => kind === "login");
    expect([item?.subject, others]).toEqual(["Test app", []]);
    const page = await root.visit(new URL(item?.link ?? "").pathname);
    expect([page.status, page.text]).toEqual([200, expect.stringContaining("Likely cause")]);
    const admin = await root.visit(ADMIN);
    expect(admin.text).toMatch(/Needs you.*Test app Login trouble/s);
    for (const path of [ADMIN, "/admin/logins", SERVER]) {
      expect((await root.visit(path)).text).toMatch(/Admin \d+ to look after/);
    }
    expect((await root.visit("/account")).text).not.toContain("to look after");

    await tell([used(client)], from);
    expect((await attention()).items.filter(({ kind }) => kind === "login")).toEqual([]);
    expect((await root.visit(ADMIN)).text).not.toContain("Login trouble");
  });

  test("stays in the list, however many come without a token after it", async ({ expect }) => {
    const client = newName("cursor");
    const from = teller();
    await tell([registered(client), asked(client)], from);
    await tell([noToken(client)], from);
    await comeWithoutToken();
    const items = (await attention()).items.filter(({ kind }) => kind === "login");
    expect(items.map(({ subject }) => subject)).toEqual(["Test app"]);
    expect((await root.visit(ADMIN)).text).toMatch(/Needs you.*Test app Login trouble/s);
    await tell([used(client)], from);
  });

  test("that a person turned away is no trouble", async ({ expect }) => {
    const client = newName("turned-away");
    const denied = { kind: "answered", client, decision: "denied" } as const;
    await tell([registered(client), asked(client)]);
    await tell([denied]);
    expect((await attention()).items.filter(({ kind }) => kind === "login")).toEqual([]);
  });
});

describe("the switch of a server", () => {
  const SWITCH = `${SERVER}/switch`;

  test("is for administrators who signed in a moment ago, from their own page", async ({
    expect,
  }) => {
    const fields = { to: "off", revision: "0" };
    const csrf = await root.formToken();
    const own = await ann.formToken();
    expect((await ann.post(SWITCH, { ...fields, csrf: own })).status).toBe(403);
    expect((await root.post(SWITCH, fields)).status).toBe(403);
    const evil = { Origin: "https://evil.example" };
    expect((await root.post(SWITCH, { ...fields, csrf }, evil)).status).toBe(403);
    const stale = await Visitor.as(root.person, { authenticatedAt: Date.now() - 11 * 60_000 });
    const late = await stale.post(SWITCH, { ...fields, csrf: await stale.formToken() });
    expect(late.headers.get("location")).toBe(newSignIn(SERVER));
    expect((await root.visit(`${SERVER}?done=signed-in-again`)).text).toContain(
      "Nothing was done yet",
    );
    expect((await root.visit(SERVER)).text).not.toContain("Switch on");
  });

  test("takes it away from everybody, and gives it back", async ({ expect }) => {
    const page = await root.visit(SERVER);
    // A second click on the same button has nothing to do.
    for (let n = 0; n < 2; n++) {
      const off = await root.browser.submit(page, { button: "Switch off for everybody alpha" });
      expect(off.text).toContain("The server is off");
      expect(off.text).toContain("Switched off");
    }
    const csrf = await root.formToken();
    const late = await root.post(SWITCH, { to: "on", revision: "0", csrf });
    expect(late.headers.get("location")).toContain("server-changed-elsewhere");
    const on = await root.submit(SERVER, { button: "Switch on alpha" });
    expect(on.text).toContain("The server is on again");
    expect(on.text).toContain("Check now");
    const activity = activityOn(await root.visit("/account"));
    expect(activity).toMatch(/Switched a server on.*Switched a server off/s);
    expect(activity.match(/Switched a server off/g)).toHaveLength(1);
  });
});

test("an administrator has a server looked at, and that is in the audit log", async ({
  expect,
}) => {
  const page = await root.submit(SERVER, { button: "Check now alpha" });
  expect(page.text).toContain("The server was looked at.");
  expect(activityOn(await root.visit("/account"))).toMatch(/Had a server looked at.*alpha/s);
});

async function seen(): Promise<string> {
  return (await ann.visit("/catalog/alpha")).text;
}

describe("the tools of a server", () => {
  const TOOLS = `${SERVER}/tools`;

  test("are denied by administrators who signed in a moment ago, from their own page", async ({
    expect,
  }) => {
    const fields = { tool: '"work"', to: "denied", revision: "0" };
    const csrf = await root.formToken();
    const own = await ann.formToken();
    expect((await ann.post(TOOLS, { ...fields, csrf: own })).status).toBe(403);
    expect((await root.post(TOOLS, fields)).status).toBe(403);
    const evil = { Origin: "https://evil.example" };
    expect((await root.post(TOOLS, { ...fields, csrf }, evil)).status).toBe(403);
    const stale = await Visitor.as(root.person, { authenticatedAt: Date.now() - 11 * 60_000 });
    const late = await stale.post(TOOLS, { ...fields, csrf: await stale.formToken() });
    expect(late.headers.get("location")).toBe(newSignIn(SERVER));
    expect((await root.visit(SERVER)).text).not.toContain("Allow again");
    expect(activityOn(await ann.visit("/account"))).toContain("not an administrator");
  });

  test("are gone for everybody, and back again, with a line for each in the audit log", async ({
    expect,
  }) => {
    expect(await seen()).toContain("work");
    const denied = await root.submit(SERVER, { button: "Deny work" });
    expect(denied.text).toContain("The tool is denied");
    expect(await seen()).not.toContain("work");
    const csrf = await root.formToken();
    const late = await root.post(TOOLS, { tool: '"work"', to: "allowed", revision: "0", csrf });
    expect(late.headers.get("location")).toContain("tool-changed-elsewhere");
    expect(await seen()).not.toContain("work");
    const allowed = await root.submit(SERVER, { button: "Allow again work" });
    expect(allowed.text).toContain("The tool is allowed again");
    expect(await seen()).toContain("work");
    const activity = activityOn(await root.visit("/account"));
    expect(activity).toMatch(/Allowed a tool again.*alpha.*Denied a tool to everybody.*alpha/s);
  });
});
