/** Servers that are added while the gateway runs: by administrators who signed in a moment ago, and by nobody else. */

// Has an isolate of its own: it adds servers to the gateway.
import { env } from "cloudflare:workers";
import { beforeAll, describe, test } from "vitest";

import { serverStoreIn } from "../../durable-objects/live-config.ts";
import type { AddedServer } from "../../src/observability/added-servers.ts";
import { gateway, ORIGIN } from "./gateway.ts";
import { activityOn, newSignIn, SESSION_COOKIE, Visitor } from "./visitor.ts";

const LIST = "/admin/servers";
const SLUG = "added-here";
const FORMS = ["probe", "state", "edit", "edit/keep", "remove"].map(
  (form) => `${LIST}/${SLUG}/${form}`,
);
const ACTIONS = [LIST, `${LIST}/add`, ...FORMS];
const store = serverStoreIn(env);

let root: Visitor;
let ann: Visitor;

beforeAll(async () => {
  [root, ann] = [await Visitor.arrive({ isAdmin: true }), await Visitor.arrive()];
  const server: AddedServer = {
    ...{ slug: SLUG, state: "draft", entry: { url: "https://tea.example/mcp" }, secretNames: [] },
    ...{ provenance: { kind: "url" }, changedBy: root.person.id, changedAt: Date.now() },
  };
  await store.putServer(server, 0);
});

async function fields(visitor: Visitor): Promise<Record<string, string>> {
  const [server] = (await store.addedServers()).servers;
  return {
    ...{ csrf: await visitor.formToken(), revision: String(server?.revision), to: "live" },
    text: "https://tea.example/mcp",
  };
}

describe("whoever is no administrator", () => {
  test.for([LIST, `${LIST}/${SLUG}`, `${LIST}/${SLUG}/edit`, "/admin/export"])(
    "P10: does not see %s",
    async (path, { expect }) => {
      const nobody = await gateway.send(ORIGIN + path, { method: "GET" });
      const login = `/login?${new URLSearchParams({ to: path }).toString()}`;
      expect([nobody.status, nobody.headers.get("location")]).toEqual([303, login]);
      const Cookie = `${SESSION_COOKIE}=${ann.secret}`;
      const page = await gateway.send(ORIGIN + path, { method: "GET", headers: { Cookie } });
      expect(page.status).toBe(403);
      expect(await page.text()).toContain("For administrators");
    },
  );

  test.for(ACTIONS)("changes nothing with %s", async (path, { expect }) => {
    const before = await store.addedServers();
    expect((await ann.post(path, await fields(ann))).status).toBe(403);
    const { csrf: _, ...without } = await fields(root);
    expect((await root.post(path, without)).status).toBe(403);
    const evil = { Origin: "https://evil.example" };
    expect((await root.post(path, await fields(root), evil)).status).toBe(403);
    expect(await store.addedServers()).toEqual(before);
    expect(activityOn(await ann.visit("/account"))).toContain("not an administrator");
  });
});

test.for(ACTIONS)(
  "an administrator who signed in long ago signs in again before %s",
  async (path, { expect }) => {
    const before = await store.addedServers();
    const stale = await Visitor.as(root.person, { authenticatedAt: Date.now() - 11 * 60_000 });
    const late = await stale.post(path, await fields(stale));
    const page = path.startsWith(`${LIST}/${SLUG}`) ? `${LIST}/${SLUG}` : LIST;
    expect(late.headers.get("location")).toBe(newSignIn(page));
    expect((await root.visit(`${page}?done=signed-in-again`)).text).toContain(
      "You have signed in again. Nothing was done yet: do it once more.",
    );
    expect(await store.addedServers()).toEqual(before);
  },
);

/** Ages of a sign-in, in minutes, after which a form takes a new one; ten are enough for an act. */
const TOO_OLD = [6, 11];

function signedInBefore(minutes: number): Promise<Visitor> {
  return Visitor.as(root.person, { authenticatedAt: Date.now() - minutes * 60_000 });
}

/** Where such a form leads, and back. */
function signInFor(path: string): string {
  return `/login?${new URLSearchParams({ to: path, fresh: "1" }).toString()}`;
}

test.for(TOO_OLD)(
  "an administrator who signed in %i minutes ago signs in again before they fill in what changes",
  async (minutes, { expect }) => {
    const stale = await signedInBefore(minutes);
    const Cookie = `${SESSION_COOKIE}=${stale.secret}`;
    const path = `${LIST}/${SLUG}/edit`;
    const late = await gateway.send(ORIGIN + path, { method: "GET", headers: { Cookie } });
    expect(late.headers.get("location")).toBe(signInFor(path));
  },
);

test.for(TOO_OLD)(
  "an administrator who signed in %i minutes ago signs in again before they paste a server",
  async (minutes, { expect }) => {
    const stale = await signedInBefore(minutes);
    const late = await stale.visit(LIST);
    expect(late.forms).toEqual([]);
    expect(late.html).toContain(`href="${signInFor(LIST).replace("&", "&amp;")}"`);
    // The sign-in does not send them back as they are.
    const login = await stale.visit(signInFor(LIST));
    expect([login.url.pathname, login.text]).toEqual([
      "/login",
      expect.stringContaining("Sign in"),
    ]);
  },
);

test("an administrator who signed in four minutes ago has the forms, and one of six minutes sends them", async ({
  expect,
}) => {
  const recent = await signedInBefore(4);
  const list = await recent.visit(LIST);
  const edit = await recent.visit(`${LIST}/${SLUG}/edit`);
  expect([list.text, edit.text]).toEqual([
    expect.stringContaining("Read it"),
    expect.stringContaining("See what changes"),
  ]);
  const later = await signedInBefore(6);
  const sent = await later.post(LIST, await fields(later));
  expect([sent.status, await sent.text()]).toEqual([
    200,
    expect.stringContaining("Keep as a draft"),
  ]);
});

test("each act of an administrator is in their activity", async ({ expect }) => {
  const page = `${LIST}/${SLUG}`;
  await root.submit(page, { button: `Look at it ${SLUG}` });
  await root.submit(page, { button: `Serve it ${SLUG}` });
  await root.submit(page, { button: `Pause ${SLUG}` });
  const changed = await root.submit(`${page}/edit`, {
    button: "See what changes",
    fields: { label: "Tea" },
  });
  await root.browser.submit(changed, { button: "Keep the change" });
  await root.submit(page, { button: `Remove it ${SLUG}` });
  const shown = await root.submit(LIST, {
    button: "Read it",
    fields: { text: "https://tea.example/mcp" },
  });
  await root.browser.submit(shown, { button: "Keep as a draft", fields: { "slug-0": "tea" } });
  expect(activityOn(await root.visit("/account"))).toMatch(
    /Added a server.*Removed an added server.*Changed an added server.*Paused an added server.*Had an added server served.*Had an added server looked at/s,
  );
});
