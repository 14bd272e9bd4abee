/** `/admin/logins`: attempts as the operator reads them, as pages and as JSON. */

import { beforeAll, describe, test } from "vitest";

import { diagnose } from "../../src/auth/doctor/diagnose.ts";
import { recentLogins } from "../../src/auth/doctor/read-traces.ts";
import type { LoginStep, LoginTrace } from "../../src/auth/trace/trace.ts";
import { newServiceClientId } from "../../src/auth/store/service-clients.ts";
import { loginPath, PATHS } from "../../src/pages/view/paths.ts";
import { defaultLimits } from "../../src/policy/limits.ts";
import { until } from "../integration/bounded.ts";
import { Browser, type Send } from "../support/oauth-browser.ts";
import { obtainCode, obtainToken } from "../support/oauth-client.ts";
import { OWNER_CODE } from "../support/oauth-owner.ts";
import {
  authorizeUrl,
  newPkce,
  newSecret,
  REDIRECT_URI,
  requestToken,
} from "../support/oauth-requests.ts";
import { asked, comeWithoutToken, kinds, newName, registered, tell } from "./doctor-fixture.ts";
import { gateway, newBrowser, ORIGIN } from "./gateway.ts";
import { as, records, SOMEBODY } from "./people.ts";
import { SESSION_COOKIE, Visitor } from "./visitor.ts";

const MINUTE = 60_000;
const JSON_ONLY = { Accept: "application/json" };

let root: Visitor;

beforeAll(async () => {
  root = await Visitor.arrive({ isAdmin: true });
});

/** The attempt of an application, once all of it has been kept. */
function attemptOf(client: string, last: string): Promise<LoginTrace> {
  return until(async () => {
    const traces = await recentLogins(records().store, 1000);
    const found = traces.find(({ key }) => key === `client:${client}`);
    return found !== undefined && kinds(found).includes(last) ? found : undefined;
  }, `${last} of ${client}`);
}

describe("an attempt", () => {
  test("is recorded from the first request for metadata to the first call", async ({ expect }) => {
    const address = newName("192.0.2.1");
    const from = { origin: ORIGIN, send: sendFrom(address) };
    const get = (path: string): Promise<Response> =>
      from.send(ORIGIN + path, { method: "GET", headers: {} });
    expect((await get("/mcp")).status).toBe(401);
    await get("/.well-known/oauth-protected-resource/mcp");
    await get("/.well-known/oauth-authorization-server");
    const browser = new Browser(ORIGIN, from.send);
    const { client, tokens } = await obtainToken(from, { code: OWNER_CODE, browser });
    await from.send(`${ORIGIN}/mcp`, { method: "GET", headers: as(tokens.access_token) });

    const trace = await attemptOf(client.client_id, "used");
    expect(kinds(trace)).toEqual([
      ...["challenged", "probed", "probed", "registered", "asked", "consent_shown", "answered"],
      ...["signed_in", "code_issued", "token_issued", "used"],
    ]);
    const { attemptMinutes, codeSeconds } = defaultLimits();
    expect(diagnose(trace.steps, Date.now(), { attemptMinutes, codeSeconds })).toEqual({
      ...{ outcome: "succeeded", sentence: "The application is connected." },
    });
  });

  test("that fails shows a reference, by which the operator finds it", async ({ expect }) => {
    const page = await newBrowser().visit(
      "/authorize?response_type=code&client_id=forgotten&redirect_uri=http://127.0.0.1:9/cb",
    );
    const [reference = ""] = /(?<=<code>)[a-z2-9]{8}(?=<\/code>)/.exec(page.html) ?? [];
    expect([page.status, reference]).toEqual([400, expect.stringMatching(/^\w{8}$/)]);
    const found = await until(async () => {
      const shown = await root.visit(loginPath(reference));
      return shown.status === 200 ? shown : undefined;
    }, reference);
    expect(found.text).toContain("The client id is not known any more: remove the server");
  });

  test("keeps no token that was sent in the wrong place", async ({ expect }) => {
    const secret = `ghp_${crypto.randomUUID().replaceAll("-", "")}`;
    const from = { origin: ORIGIN, send: sendFrom(newName("192.0.2.2")) };
    await requestToken(from, { grant_type: secret, client_id: secret, code: secret });
    await requestToken(from, {
      ...{ grant_type: "refresh_token", client_id: secret, refresh_token: secret },
    });
    const asking = new URLSearchParams({
      ...{ response_type: "code", client_id: secret, redirect_uri: `http://127.0.0.1:9/${secret}` },
      ...{ state: secret, scope: secret, resource: `${ORIGIN}/${secret}` },
    });
    await new Browser(ORIGIN, from.send).visit(`/authorize?${asking.toString()}`);
    const get = (path: string, headers = {}): Promise<Response> =>
      from.send(ORIGIN + path, { method: "GET", headers });
    await get("/mcp", as(secret));
    await get(`/.well-known/oauth-protected-resource/${secret}`);
    const { token } = await root.person.key({ path: "/admin", scopes: ["admin"] });
    const shown = async (): Promise<string> => {
      const asJson = await get(PATHS.logins, { ...as(token), ...JSON_ONLY });
      return (await asJson.text()) + (await root.visit(PATHS.logins)).html;
    };
    const traces = await until(async () => {
      const all = await recentLogins(records().store, 1000);
      const own = all.flatMap(({ steps }) => steps).filter(({ address }) => /2\.2/.test(address));
      const seen = new Set(own.map(({ step }) => step.kind));
      const wanted = ["token_refused", "ask_refused", "bearer_refused"] as const;
      return wanted.every((kind) => seen.has(kind)) ? own : undefined;
    }, "the refusals");
    expect(JSON.stringify(traces)).not.toContain(secret);
    expect(await shown()).not.toContain(secret);
    const refused = traces.flatMap(({ step }) => (step.kind === "token_refused" ? [step] : []));
    expect(refused.map(({ grantType }) => grantType).toSorted()).toEqual([
      ...["other", "refresh_token"],
    ]);
    for (const step of refused) expect(step).toMatchObject({ claimed: "36 characters" });
  });

  test("that continues in another browser, or without its handle, stays one attempt", async ({
    expect,
  }) => {
    const { client } = await obtainToken(gateway, { code: OWNER_CODE });
    const address = newName("192.0.2.3");
    const browser = new Browser(ORIGIN, sendFrom(address));
    const { challenge } = await newPkce();
    const asking = {
      ...{ client_id: client.client_id, redirect_uri: REDIRECT_URI, state: newSecret() },
      ...{ code_challenge: challenge, resource: `${ORIGIN}/mcp`, scope: "mcp" },
    };
    const page = await browser.visit(authorizeUrl({ origin: ORIGIN }, asking));
    // From elsewhere, with the handle alone; and from the same browser, with its cookie alone.
    const elsewhere = new Browser(ORIGIN, sendFrom(newName("192.0.2.4")));
    const refused = await elsewhere.submit(page, { button: "Approve" });
    expect([refused.status, refused.text.includes("This page is out of date")]).toEqual([
      400,
      true,
    ]);
    await browser.visit("/callback/github");
    const [reference = ""] = /(?<=<code>)[a-z2-9]{8}(?=<\/code>)/.exec(refused.html) ?? [];
    expect(reference).not.toBe("");
    const trace = await until(async () => {
      const all = await recentLogins(records().store, 1000);
      const found = all.find(({ steps }) => steps.some((each) => each.address === address));
      const refusals = found?.steps.filter(({ step }) => step.kind === "attempt_refused");
      return refusals?.length === 2 ? found : undefined;
    }, "both refusals in the attempt");
    expect(trace.key).toBe(`client:${client.client_id}`);
    expect(kinds(trace)).toEqual(["asked", "consent_shown", "attempt_refused", "attempt_refused"]);
  });

  test("that sends its code twice differs from one that is late", async ({ expect }) => {
    const { client, exchange } = await obtainCode(gateway, { code: OWNER_CODE });
    await requestToken(gateway, exchange);
    await requestToken(gateway, exchange);
    const { steps } = await attemptOf(client.client_id, "token_refused");
    const { sentence } = diagnose(steps, Date.now(), defaultLimits());
    expect(sentence).toContain("sent its code twice");
  });
});

function sendFrom(address: string): Send {
  return (url, sent) =>
    gateway.send(url, {
      ...sent,
      headers: { ...sent?.headers, "cf-connecting-ip": address, "user-agent": "test-client/1" },
    });
}

describe("the pages of the login doctor", () => {
  test("list attempts with their outcome, and show one by its reference", async ({ expect }) => {
    const client = newName("client");
    const mismatch: LoginStep = {
      ...{ kind: "ask_refused", client, reason: "redirect-mismatch" },
      ...{ redirectUri: "http://127.0.0.1:1234/cb", registered: ["http://localhost:1234/cb"] },
    };
    const [one = "", other = ""] = await tell([registered(client), mismatch]);
    const sentence =
      "The application was registered with http://localhost:1234/cb but asked for http://127.0.0.1:1234/cb.";
    const list = await root.visit(PATHS.logins);
    expect(list.text).toContain(one);
    expect(list.text).toContain(sentence);

    // As a person types the reference.
    const found = await root.browser.submit(list, {
      fields: { reference: ` ${other.toUpperCase()} ` },
    });
    expect([found.status, found.url.pathname]).toEqual([200, PATHS.logins]);
    for (const page of [found, await root.visit(loginPath(other))]) {
      expect(page.text).toContain(`Likely cause ${sentence}`);
      expect(page.text).toContain("Test app");
      expect(page.text).toContain("Registered itself");
      expect(page.text).toContain("Could not ask for access");
      expect(page.text).toContain("test/1");
    }
    const missing = await root.visit(loginPath("zzzzzzzz"));
    expect([missing.status, missing.text]).toEqual([
      ...[404, expect.stringContaining("There is no attempt zzzzzzzz")],
    ]);
  });

  test("list an attempt, however many come without a token after it", async ({ expect }) => {
    const [one = ""] = await tell([asked(newName("client"))]);
    await comeWithoutToken();
    expect((await root.visit(PATHS.logins)).text).toContain(one);
    const traces = await recentLogins(records().store, 100);
    expect(traces.filter(({ key }) => !key.startsWith("client:"))).toHaveLength(100);
    const times = traces.map(({ updatedAt }) => updatedAt);
    expect(times).toEqual(times.toSorted((a, b) => b - a));
  });

  test("show codes in words", async ({ expect }) => {
    const client = newName("client");
    const codes: readonly LoginStep[] = [
      { kind: "attempt_refused", client, reason: "other-browser" },
      { kind: "attempt_refused", client, reason: "malformed" },
      { kind: "ask_refused", client, reason: "redirect-mismatch" },
      { kind: "registration_refused", error: "limited" },
      {
        ...{ kind: "token_refused", client, grant: "g", grantType: "authorization_code" },
        ...{ error: "invalid_grant", reason: "used-code" },
      },
      {
        ...{ kind: "sign_in_refused", client, provider: "github", reason: "bad-state" },
        detail: "",
      },
    ];
    const references = await tell([asked(client), ...codes]);
    const pages = await Promise.all(
      references.filter((each) => each !== "").map((each) => root.visit(loginPath(each))),
    );
    const text = pages.map((each) => each.text).join(" ");
    for (const code of [
      ...["other-browser", "malformed", "redirect-mismatch", "used-code", "bad-state"],
      ...["authorization_code", "OAuth error limited"],
    ]) {
      expect(text).not.toContain(code);
    }
    for (const words of [
      "the browser is not the one that began, or keeps no cookies",
      "the code was used already",
      "there were too many requests",
      "for a code · OAuth error invalid_grant",
    ]) {
      expect(text).toContain(words);
    }
  });

  test("return the same to a program as JSON", async ({ expect }) => {
    const { token } = await root.person.key({ path: "/admin", scopes: ["admin"] });
    const client = newName("client");
    const [one = ""] = await tell([
      asked(client),
      { kind: "answered", client, decision: "denied" },
    ]);
    const get = async (path: string): Promise<Response> => {
      const headers = { ...as(token), Accept: "application/json" };
      return gateway.send(ORIGIN + path, { method: "GET", headers });
    };
    const summary = {
      ...{ reference: one, clientId: client, clientName: "Test app", outcome: "failed" },
      summary: "The person turned the application away.",
    };
    const list: { readonly logins: readonly unknown[] } = await (await get(PATHS.logins)).json();
    expect(list.logins).toContainEqual(expect.objectContaining(summary));
    const response = await get(loginPath(one));
    expect([response.status, response.headers.get("cache-control")]).toEqual([200, "no-store"]);
    const trace: LoginTrace = await response.json();
    expect(trace).toMatchObject(summary);
    expect(kinds(trace)).toEqual(["asked", "answered"]);
    expect((await get(loginPath("zzzzzzzz"))).status).toBe(404);
  });

  test("show strangers' input as text", async ({ expect }) => {
    const client = `<script>alert(1)</script>\u202e${newName("x")}`;
    const [one = ""] = await tell([{ ...asked(client), name: `"><img src=x>` } as LoginStep]);
    const { html } = await root.visit(loginPath(one));
    expect(html).not.toMatch(/<script>|<img|\u202e/);
  });
});

async function ask(headers: Record<string, string>): Promise<Response> {
  const sent = { method: "GET", headers: { ...JSON_ONLY, ...headers } };
  return gateway.send(ORIGIN + PATHS.logins, sent);
}

describe("B84: the login doctor as JSON", () => {
  test("without a token gets the address of the metadata", async ({ expect }) => {
    for (const headers of [{}, { Cookie: `${SESSION_COOKIE}=${root.secret}` }]) {
      const response = await ask(headers);
      expect(response.status).toBe(401);
      const challenge = response.headers.get("www-authenticate");
      const metadata = `${ORIGIN}/.well-known/oauth-protected-resource/admin`;
      expect(challenge).toBe(`Bearer resource_metadata="${metadata}", scope="admin"`);
      const document = await gateway.send(metadata, { method: "GET", headers: {} });
      expect(await document.json()).toMatchObject({
        ...{ resource: `${ORIGIN}/admin`, scopes_supported: ["admin"] },
      });
    }
  });

  test("with insufficient scope gets the required scope", async ({ expect }) => {
    const { token } = await root.person.key({ path: "/admin", scopes: ["mcp"] });
    const response = await ask(as(token));
    expect(response.status).toBe(403);
    expect(response.headers.get("www-authenticate")).toMatch(
      /^Bearer error="insufficient_scope".*, scope="admin"$/,
    );
  });

  test("with a token for another resource is refused", async ({ expect }) => {
    const { token } = await root.person.key({ path: "/mcp", scopes: ["mcp", "admin"] });
    const response = await ask(as(token));
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toContain('error="invalid_token"');
  });

  test("can be read by an administrator only", async ({ expect }) => {
    const was = await Visitor.arrive({ isAdmin: true });
    const { token } = await was.person.key({ path: "/admin", scopes: ["admin"] });
    expect((await ask(as(token))).status).toBe(200);
    await was.shard.users.change(was.person.id, { email: SOMEBODY.email });
    expect((await ask(as(token))).status).toBe(403);
  });

  test("can be read by a service client that was made for it", async ({ expect }) => {
    const id = newServiceClientId();
    const { keys } = records().store.ofUser(id);
    const { token } = await keys.create({
      ...{ kind: "cc", owner: id, label: "", scopes: ["admin"] },
      maker: { user: root.person.id },
      ...{ resources: [`${ORIGIN}/admin`], expiresAt: Date.now() + MINUTE },
    });
    const response = await ask(as(token));
    expect([response.status, await response.json()]).toEqual([
      ...[200, { logins: expect.any(Array) }],
    ]);
  });
});
