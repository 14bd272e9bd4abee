/**
 * The gateway is killed while servers are added, served, changed and sealed anew, at seeded moments and between any
 * two pages, and started again on what it had stored: each act has happened as a whole, or not at all.
 */

import { afterAll, beforeAll, describe, test } from "vitest";

import { type KillableGateway, startKillableGateway } from "../support/killable-gateway.ts";
import { ModernCaller } from "../support/modern-caller.ts";
import { Browser, type Page } from "../support/oauth-browser.ts";
import { overHttp } from "../support/oauth-over-http.ts";
import { seeded } from "../support/seeded.ts";
import { seedsUpTo } from "../support/seeds.ts";
import { pause } from "../support/until.ts";
import { Vendor } from "../support/vendor/vendor.ts";
import { startVendors, type Vendors } from "../support/vendor/vendors.ts";

const LIST = "/admin/servers";
const SEEDS = seedsUpTo(12);
const TIMEOUT_MS = 60_000;
/** About as long as the longest act takes. */
const ACT_MS = 40;
const FIRST = "tea-key-of-the-first-day";
const SECOND = "tea-key-of-the-next-day";

let vendors: Vendors;
let tea: Vendor;
let gateway: KillableGateway;
let browser: Browser;
/** The VAULT_SECRET in use, the newest first. */
let secrets: readonly string[] = [secretOf(0)];

function secretOf(n: number): string {
  return Buffer.alloc(32, n + 1).toString("base64url");
}

beforeAll(async () => {
  vendors = await startVendors();
  const keys = { [`Bearer ${FIRST}`]: "alice", [`Bearer ${SECOND}`]: "alice" } as const;
  tea = await Vendor.take(vendors.origin, { keys });
  gateway = await startKillableGateway({ auth: "none", vars: { VAULT_SECRET: secrets.join() } });
  browser = new Browser(gateway.url, overHttp);
});
afterAll(async () => {
  await gateway?.remove();
  await vendors?.stop();
});

async function killed(): Promise<void> {
  await gateway.kill();
  await gateway.start(undefined, { VAULT_SECRET: secrets.join() });
}

async function read(servers: object): Promise<Page> {
  const list = await browser.visit(LIST);
  const text = JSON.stringify({ mcpServers: servers });
  return browser.submit(list, { button: "Read it", fields: { text } });
}

const entry = (): object => ({ url: tea.url, headers: { Authorization: `Bearer ${FIRST}` } });

/** @returns the page of a draft. */
async function draft(slug: string): Promise<Page> {
  await browser.submit(await read({ [slug]: entry() }), { button: "Keep as a draft" });
  return browser.visit(`${LIST}/${slug}`);
}

async function served(slug: string): Promise<void> {
  await browser.submit(await draft(slug), { button: `Serve it ${slug}` });
}

async function edited(slug: string): Promise<Page> {
  const form = await browser.visit(`${LIST}/${slug}/edit`);
  const fields = { label: "Next day", "secret-AUTHORIZATION": SECOND };
  return browser.submit(form, { button: "See what changes", fields });
}

/** @returns the key with which a call of a tool came to the server. */
async function keyOfCall(slug: string): Promise<string | undefined> {
  const { kind } = await new ModernCaller(`${gateway.url}/mcp/${slug}`, "whoami", {}).begin();
  if (kind !== "over") return undefined;
  return (await tea.hits("server")).at(-1)?.headers["authorization"]?.replace("Bearer ", "");
}

async function remove(slug: string): Promise<void> {
  const page = await browser.visit(`${LIST}/${slug}`);
  if (page.status === 200) await browser.submit(page, { button: `Remove it ${slug}` });
}

/** Sends a form, and kills the gateway after a while. Nobody knows what came of it. */
async function killedIn(ms: number, page: Page, button: string): Promise<void> {
  const sent = browser.submit(page, { button }).catch(() => undefined);
  await pause(ms);
  await killed();
  await sent;
}

test(
  "a gateway that is killed between any two pages goes on where its operator was",
  async ({ expect }) => {
    const shown = await read({ between: entry() });
    await killed();
    await browser.submit(shown, { button: "Keep as a draft" });
    await killed();
    const page = await browser.visit(`${LIST}/between`);
    expect(page.text).toMatch(/Draft.*Reached/s);
    expect(await keyOfCall("between")).toBeUndefined();
    await killed();
    await browser.submit(page, { button: "Serve it between" });
    await killed();
    expect(await keyOfCall("between")).toBe(FIRST);
    const review = await edited("between");
    await killed();
    expect(await keyOfCall("between")).toBe(FIRST);
    await browser.submit(review, { button: "Keep the change" });
    await killed();
    expect(await keyOfCall("between")).toBe(SECOND);
    await remove("between");
  },
  TIMEOUT_MS,
);

describe("a gateway that is killed", () => {
  test.for(SEEDS.filter((seed) => seed % 4 === 0))(
    "while three servers are added, seed %i, has all of them or none",
    { timeout: TIMEOUT_MS },
    async (seed, { expect }) => {
      const slugs = ["a", "b", "c"].map((name) => `${name}-${seed}`);
      const shown = await read(Object.fromEntries(slugs.map((slug) => [slug, entry()])));
      await killedIn(seeded(seed).int(0, ACT_MS), shown, "Keep as drafts");
      const { text } = await browser.visit(LIST);
      expect([0, 3]).toContain(slugs.filter((slug) => text.includes(slug)).length);
      for (const slug of slugs) await remove(slug);
    },
  );

  test.for(SEEDS.filter((seed) => seed % 4 === 1))(
    "while a draft is served, seed %i, serves it or has the draft",
    { timeout: TIMEOUT_MS },
    async (seed, { expect }) => {
      const slug = `serve-${seed}`;
      await killedIn(seeded(seed).int(0, ACT_MS), await draft(slug), `Serve it ${slug}`);
      const page = await browser.visit(`${LIST}/${slug}`);
      const isDraft = page.text.includes("State Draft");
      expect(await keyOfCall(slug)).toBe(isDraft ? undefined : FIRST);
      if (isDraft) await browser.submit(page, { button: `Serve it ${slug}` });
      expect(await keyOfCall(slug)).toBe(FIRST);
      await remove(slug);
    },
  );

  test.for(SEEDS.filter((seed) => seed % 4 === 2))(
    "while a server is changed, seed %i, has the whole change or none of it",
    { timeout: TIMEOUT_MS },
    async (seed, { expect }) => {
      const slug = `edit-${seed}`;
      await served(slug);
      await killedIn(seeded(seed).int(0, ACT_MS), await edited(slug), "Keep the change");
      const isChanged = (await browser.visit(`${LIST}/${slug}`)).text.includes("Next day");
      expect(await keyOfCall(slug)).toBe(isChanged ? SECOND : FIRST);
      await remove(slug);
    },
  );

  test.for(SEEDS.filter((seed) => seed % 4 === 3))(
    "while all is sealed anew, seed %i, loses no secret",
    { timeout: TIMEOUT_MS },
    async (seed, { expect }) => {
      const slugs = ["x", "y", "z"].map((name) => `${name}-${seed}`);
      for (const slug of slugs) await served(slug);
      secrets = [secretOf(seed), ...secrets];
      await killed();
      const admin = await browser.visit("/admin");
      await killedIn(seeded(seed).int(0, ACT_MS), admin, "Seal all accounts anew");
      for (const slug of slugs) expect(await keyOfCall(slug)).toBe(FIRST);
      await browser.submit(await browser.visit("/admin"), { button: "Seal all accounts anew" });
      secrets = secrets.slice(0, 1);
      await killed();
      for (const slug of slugs) expect(await keyOfCall(slug)).toBe(FIRST);
      for (const slug of slugs) await remove(slug);
    },
  );
});
