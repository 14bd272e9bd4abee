/** A gateway without an owner's code: a link in the log, which makes one, once. */

import { env } from "cloudflare:workers";
import { afterEach, describe, test, vi } from "vitest";

import { OwnerProvider, weaknessOf } from "../../src/auth/identity/owner.ts";
import { OwnerCode, type OwnerSetup } from "../../src/auth/identity/owner-code.ts";
import type { Page } from "../support/oauth-browser.ts";
import { gateway, ORIGIN } from "./gateway.ts";
import { records } from "./people.ts";
import { browserOf, type SignInOptions } from "./sign-in-gateway.ts";

const MINUTE = 60_000;

afterEach(() => {
  vi.restoreAllMocks();
});

interface New extends SignInOptions {
  readonly owner: OwnerSetup & { codeHash(): Promise<string | undefined> };
}

let registries = 0;

/** A gateway with an empty registry. */
function newGateway(): New {
  registries += 1;
  const owner = env.REGISTRY.getByName(`setup-${registries}`);
  const provider = new OwnerProvider(
    { name: "owner", label: "Owner code" },
    {
      enrolment: () => owner,
      codeMac: async (hash) => (await records().secrets()).ownerCodeMac(hash),
    },
  );
  return { owner, setup: () => owner, providers: [provider] };
}

/** Visits the sign-in page. @returns the links that were written to the log meanwhile. */
async function linksLogged(options: New): Promise<readonly string[]> {
  const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
  const page = await browserOf(options).visit("/login");
  const lines = log.mock.calls.map((call) => call.join(" "));
  log.mockRestore();
  if (/token=/.test(page.html)) throw new Error("The link is on the page");
  return lines.flatMap((line) => /https:\/\/\S+\/setup\?\S+/.exec(line) ?? []);
}

async function codeMadeWith(link: string, options: New): Promise<string> {
  const browser = browserOf(options);
  return codeOn(await browser.submit(await browser.visit(link)));
}

function codeOn({ status, text }: Page): string {
  const [code] = /[a-z2-9]{4}(?:-[a-z2-9]{4}){7}/.exec(text) ?? [];
  if (code === undefined) throw new Error(`${status} ${text}`);
  return code;
}

describe("the setup link", () => {
  test("B94: is written to the log once, and is not shown to visitors of the page", async ({
    expect,
  }) => {
    const options = newGateway();
    const [link = "", ...others] = await linksLogged(options);
    expect(link).toMatch(new RegExp(`^${ORIGIN}/setup\\?token=[\\w-]{43}$`));
    expect([others, await linksLogged(options)]).toEqual([[], []]);
    const page = await browserOf(options).visit("/login");
    expect(page.text).toContain("There is no code yet");
  });

  test("B94: creates a code of 160 bits, with which the owner signs in", async ({ expect }) => {
    const options = newGateway();
    const [link = ""] = await linksLogged(options);
    const code = await codeMadeWith(link, options);
    expect(code.replaceAll("-", "")).toHaveLength(32);
    expect(weaknessOf(code)).toBeUndefined();
    const browser = browserOf(options);
    const page = await browser.visit("/login");
    const answered = await browser.submit(page, { fields: { code } });
    expect(answered.hops[0]?.status).toBe(303);
    expect(browser.jar.all.map(({ name }) => name)).toEqual(["__Host-edgeway-session"]);
    expect(await linksLogged(options)).toEqual([]);
    expect(await options.owner.codeHash()).not.toContain(code);
  });

  test("B94: works once", async ({ expect }) => {
    const options = newGateway();
    const [link = ""] = await linksLogged(options);
    const browser = browserOf(options);
    const page = await browser.visit(link);
    expect(page.status).toBe(200);
    await codeMadeWith(link, options);
    expect((await browser.visit(link)).status).toBe(410);
    const again = await browser.submit(page);
    expect([again.status, again.text]).toEqual([410, expect.not.stringMatching(/(?:\w{4}-){7}/)]);
  });

  test("B94: creates one code, however many pages use it at once", async ({ expect }) => {
    const { owner } = newGateway();
    const token = (await owner.beginSetup()) ?? "";
    const pages = Array.from({ length: 8 }, (_, n) => `page ${n}`);
    const codes = await Promise.all(pages.map((nonce) => owner.finishSetup(token, nonce)));
    expect(codes.filter((code) => code !== undefined)).toHaveLength(1);
  });

  // The browser shows the response to the second click alone.
  test("shows its code to who clicks twice", async ({ expect }) => {
    const options = newGateway();
    const [link = ""] = await linksLogged(options);
    const browser = browserOf(options);
    const page = await browser.visit(link);
    const [first, second] = await Promise.all([browser.submit(page), browser.submit(page)]);
    expect(codeOn(second)).toBe(codeOn(first));
    const login = await browser.visit("/login");
    const answered = await browser.submit(login, { fields: { code: codeOn(second) } });
    expect(answered.hops[0]?.status).toBe(303);
  });

  test.for(["", "x", "a".repeat(43)])("is not %j", async (token, { expect }) => {
    const options = newGateway();
    await linksLogged(options);
    const browser = browserOf(options);
    expect((await browser.visit(`/setup?token=${token}`)).status).toBe(410);
    expect(await options.owner.finishSetup(token, "page")).toBeUndefined();
  });

  test("cannot be used by a page from elsewhere", async ({ expect }) => {
    const options = newGateway();
    const [link = ""] = await linksLogged(options);
    const browser = browserOf(options);
    const page = await browser.visit(link);
    const headers = { Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site" };
    expect((await browser.submit(page, { headers })).status).toBe(403);
    expect((await browser.submit(page)).status).toBe(200);
  });
});

function atClock() {
  const values = new Map<string, unknown>();
  const store = {
    get: (key: string) => values.get(key),
    put: (key: string, value: unknown) => void values.set(key, value),
    delete: (key: string) => values.delete(key),
  };
  const clock = { now: 0, values };
  return Object.assign(clock, { code: new OwnerCode(store, () => clock.now) });
}

describe("the code of the owner", () => {
  test("has a link that works for 30 minutes, and then another one", async ({ expect }) => {
    const clock = atClock();
    const first = (await clock.code.beginSetup()) ?? "";
    clock.now = 30 * MINUTE - 1;
    expect(await clock.code.isSetupToken(first)).toBe(true);
    expect(await clock.code.beginSetup()).toBeUndefined();
    clock.now = 30 * MINUTE;
    expect(await clock.code.isSetupToken(first)).toBe(false);
    expect(await clock.code.finishSetup(first, "page")).toBeUndefined();
    const second = (await clock.code.beginSetup()) ?? "";
    expect(await clock.code.finishSetup(second, "page")).toMatch(
      /^(?:[a-z2-9]{4}-){7}[a-z2-9]{4}$/,
    );
  });

  test("is not made again once it exists", async ({ expect }) => {
    const { code } = atClock();
    await code.finishSetup((await code.beginSetup()) ?? "", "page");
    const hash = code.codeHash();
    expect(await code.beginSetup()).toBeUndefined();
    expect(code.codeHash()).toBe(hash);
  });

  test("is shown again for as long as its link would work, and to that page alone", async ({
    expect,
  }) => {
    const clock = atClock();
    const token = (await clock.code.beginSetup()) ?? "";
    const made = await clock.code.finishSetup(token, "page");
    expect(await clock.code.finishSetup(token, "another page")).toBeUndefined();
    expect(await clock.code.isSetupToken(token)).toBe(false);
    clock.now = 30 * MINUTE - 1;
    expect(await clock.code.finishSetup(token, "page")).toBe(made);
    clock.now = 30 * MINUTE;
    expect(await clock.code.finishSetup(token, "page")).toBeUndefined();
  });

  test("and its link are stored as hashes", async ({ expect }) => {
    const { code, values } = atClock();
    const token = (await code.beginSetup()) ?? "";
    expect(JSON.stringify([...values])).not.toContain(token);
    const made = (await code.finishSetup(token, "page")) ?? "";
    expect(JSON.stringify([...values])).not.toContain(made);
  });
});

test("a code that the operator configures needs no link", async ({ expect }) => {
  const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
  await browserOf().visit("/login");
  expect(log.mock.calls.flat().join(" ")).not.toContain("/setup");
});

test("the setup page does not exist without a link", async ({ expect }) => {
  const response = await gateway.send(`${ORIGIN}/setup`, { method: "GET", headers: {} });
  expect([404, 410]).toContain(response.status);
});
