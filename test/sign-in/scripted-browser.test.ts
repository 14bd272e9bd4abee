/** The browser that the tests of sign-in use does what a real one does, where that matters. */

import { describe, test } from "vitest";

import { Browser, type Send, type Sent } from "../support/oauth-browser.ts";
import { newPkce } from "../support/oauth-requests.ts";

const ORIGIN = "https://gw.example.com";
const FORMS = `<!doctype html><html><head><title>T</title><style>form { color: red }</style></head>
<body><h1>Connect &lt;App&gt; &amp; more?</h1>
<form method="post" action="/switch"><input type="hidden" name="handle" value="h1" />
  <button class="link">Not you?<span class="unseen"> Sign in with another account</span></button></form>
<form method="post" action="/authorize"><input type="hidden" name="handle" value="h&#39;2&quot;" />
  <label><input type="checkbox" name="scope" value="mcp" checked /><b>All</b> of it</label>
  <label><input type="checkbox" name="scope" value="mcp:a" /> Only a</label>
  <label for="days">Days</label><select id="days" name="days"><option value="7">7 days</option>
    <option value="30" selected>30 days</option></select>
  <button name="decision" value="deny">Deny</button>
  <button name="decision" value="approve">Approve</button></form></body></html>`;

type Answer = readonly [
  status: number,
  headers: readonly (readonly [string, string])[],
  html?: string,
];

/** A site whose paths each have one answer. */
function siteOf(answers: Readonly<Record<string, Answer>>): {
  browser: Browser;
  sent: (Sent & { url: string })[];
} {
  const sent: (Sent & { url: string })[] = [];
  const send: Send = async (url, request) => {
    sent.push({ url, ...request });
    const [status, headers, html = null] = answers[new URL(url).pathname] ?? [404, []];
    return new Response(html, { status, headers: headers.map(([name, value]) => [name, value]) });
  };
  return { browser: new Browser(ORIGIN, send), sent };
}

function set(...cookies: readonly string[]): Answer {
  return [200, cookies.map((cookie) => ["Set-Cookie", cookie])];
}

function to(location: string): Response {
  return new Response(null, { status: 303, headers: { Location: location } });
}

const PAGE: Answer = [200, [["Referrer-Policy", "no-referrer"]], FORMS];
const GONE: Answer = [303, [["Location", "http://127.0.0.1:9/cb?code=1"]]];

describe("forms", () => {
  test("are found by their content, and sent unchanged", async ({ expect }) => {
    const { browser, sent } = siteOf({ "/page": PAGE, "/authorize": GONE, "/switch": PAGE });
    const page = await browser.visit("/page");
    expect(page.text).toContain("Connect <App> & more?");
    expect(page.text).not.toContain("color");
    expect(page.forms.map(({ buttons }) => buttons.map(({ label }) => label))).toEqual([
      ["Not you? Sign in with another account"],
      ["Deny", "Approve"],
    ]);
    expect(page.forms[1]?.controls.map(({ label }) => label)).toEqual([
      ...["", "All of it", "Only a", "Days"],
    ]);

    const after = await browser.submit(page, { button: "Approve" });
    expect(after.left?.href).toBe("http://127.0.0.1:9/cb?code=1");
    expect(after.hops.map(({ status }) => status)).toEqual([303]);
    expect(sent[1]).toMatchObject({ url: `${ORIGIN}/authorize`, method: "POST" });
    expect([...new URLSearchParams(sent[1]?.body as string)]).toEqual([
      ...[
        ["handle", "h'2\""],
        ["scope", "mcp"],
        ["days", "30"],
        ["decision", "approve"],
      ],
    ]);
  });

  test("accept the values that are filled in, and no field that is not offered", async ({
    expect,
  }) => {
    const { browser, sent } = siteOf({ "/page": PAGE, "/authorize": GONE });
    const page = await browser.visit("/page");
    await browser.submit(page, {
      button: /^Approve/,
      fields: { scope: ["mcp:a"], handle: "other", days: "7" },
      extra: [["scope", "admin"]],
    });
    expect([...new URLSearchParams(sent[1]?.body as string)]).toEqual([
      ...[
        ["handle", "other"],
        ["scope", "mcp:a"],
        ["days", "7"],
      ],
      ...[
        ["decision", "approve"],
        ["scope", "admin"],
      ],
    ]);
    for (const fields of [{ scope: ["admin"] }, { days: "8" }, { nothing: "" }]) {
      expect(() => browser.submit(page, { button: "Approve", fields })).toThrow();
    }
    expect(() => browser.submit(page)).toThrow("2 forms");
    expect(() => browser.submit(page, { action: "/authorize" })).toThrow("Which button?");
  });
});

describe("request headers", () => {
  test("are those of Chromium for a typed address, and for a form", async ({ expect }) => {
    const open: Answer = [200, [], FORMS];
    const { browser, sent } = siteOf({ "/page": PAGE, "/open": open, "/authorize": GONE });
    await browser.submit(await browser.visit("/page"), { button: "Approve" });
    await browser.submit(await browser.visit("/open"), {
      button: "Approve",
      headers: { Cookie: "a" },
    });
    const usual = { "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document" };
    expect(sent[0]?.headers).toMatchObject({ ...usual, "Sec-Fetch-Site": "none" });
    expect(sent[0]?.headers).not.toHaveProperty("Origin");
    // A page that sends no referrer sends no origin either.
    const [first, second] = [sent[1]?.headers, sent[3]?.headers];
    expect(first).toMatchObject({ ...usual, "Sec-Fetch-Site": "same-origin", Origin: "null" });
    expect(second).toMatchObject({ ...usual, Origin: ORIGIN, Cookie: "a" });
  });
});

describe("cookies", () => {
  test("are kept by name and path, and end when they are deleted", async ({ expect }) => {
    const host = "Secure; HttpOnly; SameSite=Lax; Path=/";
    const { browser, sent } = siteOf({
      "/set": set(`__Host-a=1; ${host}; Max-Age=600`, "b=2; Path=/deep", "c=3; Max-Age=600"),
      "/bad": set("__Host-d=1; Path=/", "__Host-e=1; Secure; Path=/x", "f=1; Domain=example.com"),
      "/end": set(`__Host-a=; ${host}; Max-Age=0`, "c=; Expires=Thu, 01 Jan 1970 00:00:00 GMT"),
    });
    const cookieAt = async (path: string): Promise<string | undefined> => {
      await browser.visit(path);
      return sent.at(-1)?.headers?.["Cookie"];
    };
    expect(await cookieAt("/set")).toBeUndefined();
    expect(await cookieAt("/bad")).toBe("__Host-a=1; c=3");
    expect(await cookieAt("/deep/er")).toBe("b=2; __Host-a=1; c=3");
    expect(await cookieAt("/deeper")).toBe("__Host-a=1; c=3");
    expect(browser.jar.all.map(({ name }) => name)).toEqual(["__Host-a", "b", "c"]);
    await browser.visit("/end");
    expect(await cookieAt("/")).toBeUndefined();
  });

  test("that are same-site are not sent on the redirect back from another site", async ({
    expect,
  }) => {
    const idp = "https://idp.example";
    const sent: (readonly [string, string | undefined])[] = [];
    const send: Send = async (url, { headers = {} } = {}) => {
      sent.push([url, headers["Cookie"]]);
      if (url === `${ORIGIN}/page`) {
        const headers = new Headers();
        headers.append("Set-Cookie", "lax=1; SameSite=Lax; Path=/");
        headers.append("Set-Cookie", "strict=1; SameSite=Strict; Path=/");
        return new Response(FORMS, { headers });
      }
      if (url === `${ORIGIN}/authorize`) return to(`${idp}/login`);
      return url === `${idp}/login` ? to(`${ORIGIN}/callback`) : new Response("done");
    };
    const browser = new Browser(ORIGIN, send, [idp]);
    const page = await browser.submit(await browser.visit("/page"), { button: "Approve" });
    expect([page.text, page.left]).toEqual(["done", undefined]);
    expect(sent.slice(1)).toEqual([
      [`${ORIGIN}/authorize`, "lax=1; strict=1"],
      [`${idp}/login`, undefined],
      [`${ORIGIN}/callback`, "lax=1"],
    ]);
  });
});

test("the challenge is that of RFC 7636, appendix B", async ({ expect }) => {
  const { challenge } = await newPkce("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
  expect(challenge).toBe("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
});
