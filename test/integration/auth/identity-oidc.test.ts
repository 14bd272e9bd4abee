/** Sign-in at a real OpenID provider, over real HTTP, with a browser that has no script. */

import { beforeAll, beforeEach, describe, inject, test } from "vitest";

import { NO_ONE_ALLOWED } from "../../../src/auth/identity/allow-list.ts";
import { OidcProvider } from "../../../src/auth/identity/oidc.ts";
import type { OidcConfig } from "../../../src/auth/identity/oidc-traits.ts";
import { ProviderDocuments } from "../../../src/auth/identity/provider-documents.ts";
import type { Departure, SignInResult } from "../../../src/auth/identity/provider.ts";
import { Browser, type Page } from "../../support/oauth-browser.ts";
import { type OidcState, turn } from "../../support/oidc-control.ts";
import { type Fault, FAULTS } from "../../support/oidc-faults.ts";

const CALLBACK = "https://mcp.example.com/callback/oidc";
const STATE = "state-of-the-sign-in";
const ISSUER = inject("oidc");

let real: OidcState;

beforeAll(async () => {
  real = await turn(ISSUER, { allowRedirect: CALLBACK });
});
beforeEach(() => turn(ISSUER, { misbehave: null, isOut: false }));

function provider(config: Partial<OidcConfig> = {}): OidcProvider {
  const usual: OidcConfig = {
    name: "oidc",
    label: "Continue with single sign-on",
    issuers: [ISSUER],
    clientId: real.clientId,
    clientSecret: real.clientSecret,
    scopes: [],
    groupsClaim: "groups",
    formActions: [],
    allow: { ...NO_ONE_ALLOWED, domains: ["example.com"] },
    admins: ["alice@example.com"],
  };
  const deps = {
    fetch: (url: URL, init: RequestInit) => fetch(url, init),
    documents: new ProviderDocuments(),
  };
  return new OidcProvider({ ...usual, ...config }, deps);
}

const newBrowser = (): Browser =>
  new Browser(ISSUER, (url, sent) => fetch(url, { ...sent, redirect: "manual" }));

async function begin(at: OidcProvider, fresh = false): Promise<Departure> {
  const departure = await at.begin({ state: STATE, callback: CALLBACK, fresh });
  if (departure.kind === "refused") throw new Error(departure.detail);
  return departure;
}

const isThere = ({ left }: Page): boolean => left?.href.startsWith(CALLBACK) === true;

/** The browser's way from the button on our page to our callback. */
async function travel(location: string, login = "alice", browser = newBrowser()): Promise<URL> {
  let page = await browser.visit(location);
  if (!isThere(page)) page = await browser.submit(page, { button: "Sign in", fields: { login } });
  if (page.left === undefined || !isThere(page)) throw new Error(`stuck: ${page.text}`);
  return page.left;
}

async function signIn(at: OidcProvider, login?: string, fresh = false): Promise<SignInResult> {
  const { location, memory } = await begin(at, fresh);
  return at.finish({
    url: await travel(location, login),
    state: STATE,
    callback: CALLBACK,
    memory,
  });
}

async function signedIn(at: OidcProvider, login?: string) {
  const result = await signIn(at, login);
  if (result.kind === "refused") throw new Error(`${result.reason}: ${result.detail}`);
  return result;
}

async function countTokenRequests(): Promise<number> {
  const { requests } = await turn(ISSUER, {});
  return requests.filter((line) => line === "POST /token").length;
}

describe("a real OpenID provider", () => {
  test("identifies who signed in", async ({ expect }) => {
    expect(await signIn(provider(), "alice", true)).toEqual({
      kind: "identity",
      identity: {
        issuer: ISSUER,
        subject: "alice",
        name: "Alice Example",
        email: "alice@example.com",
        groups: ["mcp-users", "staff"],
        isAdmin: true,
      },
      upkeep: expect.stringContaining("refreshToken"),
      authTime: expect.closeTo(Date.now() / 1000, -1),
    });
  });

  test("B109: identifies a person who is not on the list", async ({ expect }) => {
    expect(await signIn(provider(), "bob")).toMatchObject({ reason: "not-allowed" });
    const byGroup = provider({ allow: { ...NO_ONE_ALLOWED, groups: ["staff"] } });
    expect(await signedIn(byGroup, "bob")).toMatchObject({
      identity: { subject: "bob", isAdmin: false },
    });
  });

  test("signs the same person in again when asked to", async ({ expect }) => {
    const browser = newBrowser();
    const at = provider();
    await travel((await begin(at)).location, "alice", browser);
    // Its session is there, and yet it asks who it is.
    const page = await browser.visit((await begin(at, true)).location);
    expect(page.left).toBeUndefined();
    expect(page.text).toContain("User name");
  });

  test("reports that a person cancelled", async ({ expect }) => {
    const browser = newBrowser();
    const { memory, location } = await begin(provider());
    const page = await browser.submit(await browser.visit(location), { button: "Cancel" });
    const url = page.left ?? page.url;
    const end = { url, state: STATE, callback: CALLBACK, memory };
    expect(await provider().finish(end)).toMatchObject({
      reason: "provider-error",
      detail: expect.stringContaining("denied"),
    });
  });

  test("accepts a code once, and with its own verifier", async ({ expect }) => {
    const at = provider();
    const { memory, location } = await begin(at);
    const end = { url: await travel(location), state: STATE, callback: CALLBACK };
    const other = await begin(at);
    expect(await at.finish({ ...end, memory: other.memory })).toMatchObject({
      reason: "provider-error",
    });
    expect((await at.finish({ ...end, memory })).kind).toBe("identity");
    expect(await at.finish({ ...end, memory })).toMatchObject({ reason: "provider-error" });
  });

  test("B99: its answer is no answer to another provider's sign-in", async ({ expect }) => {
    const { location } = await begin(provider());
    const url = await travel(location);
    const before = await countTokenRequests();
    const other = provider({ name: "other" });
    const end = { url, state: STATE, callback: CALLBACK, memory: (await begin(other)).memory };
    expect(await provider().finish(end)).toMatchObject({ reason: "bad-state" });
    const foreign = new URL(url);
    foreign.searchParams.set("iss", "https://evil.example");
    expect(await other.finish({ ...end, url: foreign })).toMatchObject({ reason: "bad-state" });
    expect(await countTokenRequests()).toBe(before);
  });

  test.for(Object.keys(FAULTS) as Fault[])(
    "B97: is not believed with %s",
    async (misbehave, { expect }) => {
      await turn(ISSUER, { misbehave });
      expect(await signIn(provider())).toMatchObject({ kind: "refused", reason: "bad-token" });
    },
  );

  test("causes a refusal with a sentence while it is unreachable", async ({ expect }) => {
    await turn(ISSUER, { isOut: true });
    const start = { state: STATE, callback: CALLBACK, fresh: false };
    expect(await provider().begin(start)).toMatchObject({ reason: "provider-unreachable" });
  });
});

describe("a recheck at a real OpenID provider", () => {
  test("renews again and again, each time with another refresh token", async ({ expect }) => {
    const at = provider();
    const { identity, upkeep } = await signedIn(at);
    const seen = new Set([upkeep]);
    for (let n = 0, kept = upkeep; n < 3; n++) {
      const verdict = await at.recheck(kept, identity);
      expect(verdict).toMatchObject({ kind: "alive", identity });
      kept = verdict.kind === "alive" ? verdict.upkeep : undefined;
      seen.add(kept);
    }
    expect(seen.size).toBe(4);
  });

  test("ends with the provider's session", async ({ expect }) => {
    const at = provider();
    const { identity, upkeep } = await signedIn(at);
    await turn(ISSUER, { endSession: "alice" });
    expect((await at.recheck(upkeep, identity)).kind).toBe("ended");
  });

  test("ends for a person who left the group", async ({ expect }) => {
    const at = provider({ allow: { ...NO_ONE_ALLOWED, groups: ["mcp-users"] } });
    const { identity, upkeep } = await signedIn(at);
    await turn(ISSUER, { change: { alice: { groups: ["staff"] } } });
    expect((await at.recheck(upkeep, identity)).kind).toBe("ended");
    await turn(ISSUER, { change: { alice: { groups: ["mcp-users"] } } });
  });

  test("ends nothing during an outage", async ({ expect }) => {
    const at = provider();
    const { identity, upkeep } = await signedIn(at);
    await turn(ISSUER, { isOut: true });
    expect(await at.recheck(upkeep, identity)).toEqual({ kind: "unavailable" });
    await turn(ISSUER, { isOut: false });
    expect((await at.recheck(upkeep, identity)).kind).toBe("alive");
  });
});
