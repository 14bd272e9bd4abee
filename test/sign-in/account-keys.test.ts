/** API keys on `/account`: made, shown once, and revoked. */

import { beforeAll, describe, test } from "vitest";

import { PATHS } from "../../src/pages/view/paths.ts";
import { ORIGIN } from "./gateway.ts";
import { isRefused, statusWith } from "./token-use.ts";
import { activityOn, newSignIn, Visitor } from "./visitor.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;

let ann: Visitor;

beforeAll(async () => {
  ann = await Visitor.arrive();
});

/** Of each box of the form: its name, its value, and the scope beside it. */
async function offeredTo(visitor: Visitor): Promise<readonly (readonly string[])[]> {
  const { forms, html } = await visitor.visit(PATHS.account);
  const { controls = [] } = forms.find(({ action }) => action.endsWith(PATHS.createKey)) ?? {};
  const scopes = Array.from(html.matchAll(/scope <span class="host">([^<]*)</g));
  return controls
    .filter(({ type }) => type === "checkbox")
    .map(({ name, value }, n) => [name, value, scopes[n]?.[1] ?? ""]);
}

describe("an API key", () => {
  const fields = { label: "my cron job", days: "30" };

  test("B90, B91: is made, shown once, used, and revoked", async ({ expect }) => {
    const bob = await Visitor.arrive();
    const resource = [`${ORIGIN}/mcp/alpha`];
    const made = await bob.submit(PATHS.account, {
      action: PATHS.createKey,
      fields: { ...fields, resource },
    });
    expect(made.status).toBe(200);
    expect(made.headers.get("cache-control")).toBe("no-store");
    const [token = ""] = /edgeway_sk_[a-z0-9]{16}_[\w-]{43}/.exec(made.text) ?? [];
    expect(await statusWith(token)).toBe(200);
    expect(await statusWith(token, "/mcp/beta")).toBe(401);

    const before = await bob.visit(PATHS.account);
    expect(before.text).toContain("my cron job");
    expect(before.text).toContain(token.slice(0, "edgeway_sk_".length + 16));
    expect(before.html).not.toContain(token);
    const [key] = await bob.shard.keys.list(bob.person.id);
    expect(Math.round(((key?.expiresAt ?? 0) - Date.now()) / DAY)).toBe(30);

    const after = await bob.browser.submit(before, { action: PATHS.revokeKey });
    expect(after.text).toContain("The key works no more.");
    await isRefused(token);
    expect(activityOn(after)).toContain("An API key was revoked");
    expect(activityOn(after)).toContain("An API key was used · my cron job");
    expect(activityOn(after)).toContain("An API key was created · my cron job");
  });

  test("requires a sign-in of the last minutes", async ({ expect }) => {
    const bob = await Visitor.arrive({ authenticatedAt: Date.now() - 11 * MINUTE });
    const csrf = await bob.formToken();
    const resource = `${ORIGIN}/mcp`;
    const response = await bob.post(PATHS.createKey, { ...fields, csrf, resource });
    expect([response.status, response.headers.get("location")]).toEqual([
      ...[303, newSignIn(PATHS.account)],
    ]);
    expect(await bob.shard.keys.list(bob.person.id)).toEqual([]);
  });

  test.for([
    ["without a name", { label: " \u200b " }, "Give it a name."],
    ["for nothing", { resource: "" }, "Choose what it may act on."],
    ["for another site", { resource: "https://evil.example/mcp" }, "Choose what it may act on."],
    ["for the operator's pages", { resource: `${ORIGIN}/admin` }, "Choose what it may act on."],
    ["for ever", { days: "36500" }, "Choose for how long it works."],
    ["for no number of days", { days: "x" }, "Choose for how long it works."],
  ] as const)("%s is not made", async ([, change, sentence], { expect }) => {
    const csrf = await ann.formToken();
    const all = { csrf, ...fields, resource: `${ORIGIN}/mcp/alpha`, ...change };
    const sent = Object.entries(all).filter((entry): entry is [string, string] => !!entry[1]);
    const count = (await ann.shard.keys.list(ann.person.id)).length;
    const response = await ann.post(PATHS.createKey, Object.fromEntries(sent));
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(sentence);
    expect((await ann.shard.keys.list(ann.person.id)).length).toBe(count);
  });

  test("has the scopes of its resources, whatever else is sent", async ({ expect }) => {
    const bob = await Visitor.arrive();
    const page = await bob.submit(PATHS.account, {
      action: PATHS.createKey,
      fields: { ...fields, resource: [`${ORIGIN}/mcp/alpha`, `${ORIGIN}/mcp/beta`] },
      extra: [
        ["scope", "mcp"],
        ["scope", "admin"],
      ],
    });
    expect(page.status).toBe(200);
    const [key] = await bob.shard.keys.list(bob.person.id);
    expect(key?.scopes).toEqual(["mcp:alpha", "mcp:beta"]);
    expect(key?.resources).toEqual([`${ORIGIN}/mcp/alpha`, `${ORIGIN}/mcp/beta`]);
  });

  test("is offered for each resource once, with its scope", async ({ expect }) => {
    const ofPerson = [
      ["resource", `${ORIGIN}/mcp`, "mcp"],
      ["resource", `${ORIGIN}/mcp/alpha`, "mcp:alpha"],
      ["resource", `${ORIGIN}/mcp/beta`, "mcp:beta"],
    ];
    expect(await offeredTo(ann)).toEqual(ofPerson);
    const root = await Visitor.arrive({ isAdmin: true });
    expect(await offeredTo(root)).toEqual([...ofPerson, ["resource", `${ORIGIN}/admin`, "admin"]]);
  });

  test("that could not be made leaves the input in its form", async ({ expect }) => {
    const page = await ann.submit(PATHS.account, {
      action: PATHS.createKey,
      fields: { ...fields, resource: [] },
    });
    expect([page.status, page.html.includes('value="my cron job"')]).toEqual([400, true]);
  });

  test("is not made beyond the limit", async ({ expect }) => {
    const bob = await Visitor.arrive();
    const expiresAt = Date.now() + DAY;
    for (let n = 0; n < 50; n++) {
      await bob.shard.keys.create({
        ...{ kind: "sk", owner: bob.person.id, label: `${n}`, scopes: [], resources: [] },
        expiresAt,
      });
    }
    const csrf = await bob.formToken();
    const resource = `${ORIGIN}/mcp`;
    const response = await bob.post(PATHS.createKey, { ...fields, csrf, resource });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("You have 50 keys");
  });

  test("is one of fifty at most, however many are requested at once", async ({ expect }) => {
    const bob = await Visitor.arrive();
    const csrf = await bob.formToken();
    const form = { ...fields, csrf, resource: `${ORIGIN}/mcp` };
    const statuses = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const response = await bob.post(PATHS.createKey, form);
        await response.text();
        return response.status;
      }),
    );
    expect(statuses.filter((status) => status === 200).length).toBe(50);
    expect(statuses.filter((status) => status === 400).length).toBe(50);
    expect((await bob.shard.keys.list(bob.person.id)).length).toBe(50);
  });

  test("for the operator's pages can be made by an administrator only", async ({ expect }) => {
    const root = await Visitor.arrive({ isAdmin: true });
    const made = await root.submit(PATHS.account, {
      action: PATHS.createKey,
      fields: { ...fields, resource: [`${ORIGIN}/admin`] },
    });
    expect([made.status, made.text.includes("edgeway_sk_")]).toEqual([200, true]);
  });
});
