/** The question whether an application may act for a user, and the result of each answer. */

import { describe, test } from "vitest";

import type { Page } from "../support/oauth-browser.ts";
import { REDIRECT_URI } from "../support/oauth-requests.ts";
import { answerIn, Asking, ownersBrowser, WEB_CLIENT } from "./asking.ts";
import { hitsAt, newHost } from "./canary.ts";
import { FakeProvider } from "./fake-provider.ts";
import { ORIGIN } from "./gateway.ts";
import { browserOf } from "./sign-in-gateway.ts";

function formActionsOf({ headers }: Page): readonly string[] {
  const policy = headers.get("content-security-policy") ?? "";
  return /form-action ([^;]*)/.exec(policy)?.[1]?.split(" ") ?? [];
}

describe("the consent page", () => {
  test("B42: shows the application, the redirect URI and the scopes, and runs no script", async ({
    expect,
  }) => {
    const page = await (await Asking.begin()).visit();
    expect(page.status).toBe(200);
    for (const said of ["Test client", "127.0.0.1:9", "this computer", `${ORIGIN}/mcp`, "alpha"]) {
      expect(page.text).toContain(said);
    }
    const policy = page.headers.get("content-security-policy");
    for (const directive of ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"]) {
      expect(policy).toContain(directive);
    }
    expect(Object.fromEntries(page.headers)).toMatchObject({
      "x-frame-options": "DENY",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    });
    expect(page.html).not.toMatch(/<script/i);
    const labels = page.forms.flatMap(({ method, buttons }) =>
      buttons.map(({ label }) => [method, label]),
    );
    expect(labels).toEqual([
      ["post", "Deny"],
      ["post", "Approve"],
    ]);
  });

  test("B42a: has a form-action that lets the answer reach the application and the provider", async ({
    expect,
  }) => {
    const options = { providers: [new FakeProvider("one"), new FakeProvider("two")] };
    const web = await (await Asking.begin(WEB_CLIENT, options)).visit();
    expect(formActionsOf(web)).toEqual([
      ...["'self'", "https://app.client.example", "https://one.idp.example"],
      ...["https://two.idp.example", "https:"],
    ]);
    const local = await (await Asking.begin(undefined, options)).visit();
    expect(formActionsOf(local)).toContain("http://127.0.0.1:*");
  });

  test("B43: binds the attempt to the browser", async ({ expect }) => {
    const { headers } = await (await Asking.begin()).visit();
    const [cookie = "", ...others] = headers.getSetCookie();
    expect(others).toEqual([]);
    expect(cookie).toMatch(/^__Host-edgeway-attempt-[\w-]{8}=[\w-]{43}; /);
    expect(cookie.split("; ").slice(1).toSorted()).toEqual([
      ...["HttpOnly", "Max-Age=600", "Path=/", "SameSite=Lax", "Secure"],
    ]);
  });

  test("keeps the cookies of a few attempts, and not of all earlier ones", async ({ expect }) => {
    const asking = await Asking.begin();
    const browser = browserOf();
    for (let n = 0; n < 20; n++) await asking.visit({}, browser);
    const page = await asking.visit({}, browser);
    expect(browser.jar.all.length).toBeLessThanOrEqual(12);
    expect((await browser.submit(page, { button: "Approve" })).status).toBe(200);
  });

  test("B29: shows a name as text, and loads no content of the application", async ({ expect }) => {
    const host = newHost();
    const asking = await Asking.begin({
      ...WEB_CLIENT,
      client_name: "<script>x</script>\u202Eevil",
      logo_uri: `https://${host}/l.png`,
    });
    const page = await asking.visit();
    expect(page.status).toBe(200);
    expect(page.html).toContain("&lt;script&gt;x&lt;/script&gt;evil");
    expect(page.html).not.toMatch(/<script|\u202E|l\.png/);
    expect(await hitsAt(host)).toEqual([]);
  });

  test("names no user to a person who is not signed in, and names the user to one who is", async ({
    expect,
  }) => {
    const asking = await Asking.begin();
    expect((await asking.visit()).text).not.toContain("Not you?");
    const page = await asking.visit({}, await ownersBrowser());
    expect(page.text).toMatch(/Signed in as.*Owner/);
    expect(page.text).toContain("Not you?");
  });
});

describe("an approval", () => {
  test("B59: redirects back with a code, and deletes the attempt", async ({ expect }) => {
    const asking = await Asking.begin();
    const browser = await ownersBrowser();
    const page = await browser.submit(await asking.visit({}, browser), { button: "Approve" });
    expect(page.status).toBe(303);
    expect(`${page.left?.origin}${page.left?.pathname}`).toBe(REDIRECT_URI);
    const { code, ...answer } = answerIn(page.left);
    expect(answer).toEqual({ state: asking.state, iss: ORIGIN });
    expect(code).toBeDefined();
    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(page.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-edgeway-attempt-[\w-]{8}=; Max-Age=0;/),
    ]);
    expect((await asking.redeem(page.left ?? "")).status).toBe(200);
  });

  test("B41: grants no scope that the page did not offer", async ({ expect }) => {
    const browser = await ownersBrowser();
    for (const scope of ["mcp:alpha", "mcp:alpha mcp:beta"]) {
      const asking = await Asking.begin();
      const extra: [string, string][] = ["admin", "mcp", "mcp:beta"].map((each) => ["scope", each]);
      const page = await asking.visit({ scope }, browser);
      const granted = await asking.tokens(await browser.submit(page, { button: "Approve", extra }));
      expect(granted.scope).toBe(scope);
    }
  });

  test("leaves out the scopes that the person deselects", async ({ expect }) => {
    const asking = await Asking.begin();
    const browser = await ownersBrowser();
    const page = await asking.visit({ scope: "mcp:alpha mcp:beta" }, browser);
    const answer = await browser.submit(page, {
      button: "Approve",
      fields: { scope: ["mcp:beta"] },
    });
    expect((await asking.tokens(answer)).scope).toBe("mcp:beta");
  });

  test("without any scope does not count, and can be corrected", async ({ expect }) => {
    const asking = await Asking.begin();
    const browser = await ownersBrowser();
    const page = await asking.visit({ scope: "mcp:alpha mcp:beta" }, browser);
    const refused = await browser.submit(page, { button: "Approve", fields: { scope: [] } });
    expect([refused.status, refused.left]).toEqual([400, undefined]);
    expect((await browser.submit(page, { button: "Approve" })).left).toBeDefined();
  });
});

describe("an approval that led nowhere can be sent again:", () => {
  test("B47c: while the only provider was down", async ({ expect }) => {
    const provider = new FakeProvider("one");
    const options = { providers: [provider] };
    const asking = await Asking.begin(undefined, options);
    const browser = browserOf(options);
    const page = await asking.visit({ scope: "mcp:alpha mcp:beta" }, browser);
    provider.isReachable = false;
    const down = await browser.submit(page, { button: "Approve" });
    expect([down.status, down.text]).toEqual([503, expect.stringContaining("cannot be reached")]);
    provider.isReachable = true;
    const chosen = { button: "Approve", fields: { scope: ["mcp:beta"] } };
    const { left } = await browser.submit(page, chosen);
    const done = await browser.visit(provider.wayBack(left));
    expect((await asking.tokens(done)).scope).toBe("mcp:beta");
  });

  test("while the provider that was chosen was down, at its page", async ({ expect }) => {
    const [one, two] = [new FakeProvider("one"), new FakeProvider("two")];
    const options = { providers: [one, two] };
    const asking = await Asking.begin(undefined, options);
    const browser = browserOf(options);
    const page = await asking.visit({}, browser);
    const login = await browser.submit(page, { button: "Approve" });
    one.isReachable = false;
    expect((await browser.submit(login, { button: "Continue with one" })).status).toBe(503);
    const { left } = await browser.submit(login, { button: "Continue with two" });
    expect((await browser.visit(two.wayBack(left))).left).toBeDefined();
  });
});

describe("a denial", () => {
  test("B59a: is sent to the application, and ends the attempt", async ({ expect }) => {
    const asking = await Asking.begin();
    const browser = browserOf();
    const page = await asking.visit({}, browser);
    const denied = await browser.submit(page, { button: "Deny" });
    expect(denied.status).toBe(303);
    const { error_description: _, ...answer } = answerIn(denied.left);
    expect(answer).toEqual({ error: "access_denied", state: asking.state, iss: ORIGIN });
    const again = await browser.submit(page, { button: "Approve" });
    expect([again.status, again.left]).toEqual([400, undefined]);
  });

  test("B59a: is shown as a link where no host vouches for the application", async ({ expect }) => {
    const asking = await Asking.begin(WEB_CLIENT);
    const browser = browserOf();
    const denied = await browser.submit(await asking.visit({}, browser), { button: "Deny" });
    expect([denied.status, denied.left]).toEqual([200, undefined]);
    expect(denied.text).toContain("Return to app.client.example");
    expect(denied.html).toContain("error=access_denied");
  });
});
