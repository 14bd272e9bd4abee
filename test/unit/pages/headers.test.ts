/** The headers of what people see: the same on every page, and nothing on any that lets more in. */

import { describe, test } from "vitest";

import { formActionsFor, page, type PageOptions, seeOther } from "../../../src/pages/respond.ts";
import { SAMPLES } from "../../support/page-samples.ts";

const HTTPS = { origin: "https://mcp.example.com" };
const names = Object.keys(SAMPLES);

function respond(name: string, options: Partial<PageOptions> = {}): Response {
  const view = SAMPLES[name];
  if (view === undefined) throw new Error(`no sample ${name}`);
  return page(view, { ...HTTPS, ...options });
}

function policyOf(response: Response): Map<string, string> {
  const policy = response.headers.get("Content-Security-Policy") ?? "";
  return new Map(
    policy.split("; ").map((directive) => {
      const [name = "", ...sources] = directive.split(" ");
      return [name, sources.join(" ")] as const;
    }),
  );
}

/** A button that copies: an address, or a secret that is shown once. */
function hasCopyButton(name: string): boolean {
  return /^(?:connect|export-servers|key-created$|service-created$)/.test(name);
}

/** Its forms do something, once. */
function sendsOnce(name: string): boolean {
  return SAMPLES[name]?.sendsOnce === true;
}

/** What a tool gave may have sound in it. */
function hasSound(name: string): boolean {
  return name.startsWith("tool-") && name !== "tool-confirm";
}

describe("page()", () => {
  test.for(names)("B42, B95: guards %s", (name, { expect }) => {
    const { headers, status } = respond(name);
    expect(status).toBe(200);
    expect(headers.get("Content-Type")).toBe("text/html; charset=utf-8");
    expect(headers.get("X-Frame-Options")).toBe("DENY");
    expect(headers.get("Referrer-Policy")).toBe("no-referrer");
    expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
    expect(headers.get("Cache-Control")).toBe("no-store");
    expect(headers.get("Strict-Transport-Security")).toBe("max-age=31536000");
    expect(headers.get("Permissions-Policy")).toContain("camera=()");
    expect(headers.has("Server")).toBe(false);
    expect(headers.has("X-Powered-By")).toBe(false);
  });

  test.for(names)(
    "B42: lets nothing into %s but what was sent with it",
    async (name, { expect }) => {
      const response = respond(name);
      const policy = policyOf(response);
      const text = await response.text();
      const [, nonce] = /<style nonce="([A-Za-z0-9_-]{22})">/.exec(text) ?? [];
      expect(Object.fromEntries(policy)).toEqual({
        "default-src": "'none'",
        "style-src": `'nonce-${nonce}'`,
        "img-src": "'self' data:",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
        "form-action": "'self'",
        ...(hasSound(name) && { "media-src": "data:" }),
        ...((hasCopyButton(name) || sendsOnce(name)) && { "script-src": `'nonce-${nonce}'` }),
      });
      const scripts = Array.from(text.matchAll(/<script[^>]*>/g), ([tag]) => tag);
      const count = Number(hasCopyButton(name)) + Number(sendsOnce(name));
      expect(scripts).toEqual(Array(count).fill(`<script nonce="${nonce}">`));
      expect(text).not.toMatch(/\sstyle="|\son[a-z]+="/);
    },
  );

  test("B42: has no script on the way to an application", ({ expect }) => {
    const logins = names.filter((name) => SAMPLES[name]?.kind === "login");
    expect(logins.filter(sendsOnce)).toEqual([]);
    expect(logins).toContain("consent");
  });

  test("makes a nonce for each page", ({ expect }) => {
    const policies = Array.from({ length: 100 }, () => policyOf(respond("done")).get("style-src"));
    expect(new Set(policies).size).toBe(100);
  });

  test("binds browsers to HTTPS only where it is spoken", ({ expect }) => {
    const { headers } = respond("done", { origin: "http://localhost:8787" });
    expect(headers.has("Strict-Transport-Security")).toBe(false);
  });

  test("leaves the window that opened it alone on the way to a client, and only there", ({
    expect,
  }) => {
    const openers = names.map((name) => [
      SAMPLES[name]?.kind,
      respond(name).headers.get("Cross-Origin-Opener-Policy"),
    ]);
    for (const [kind, policy] of openers) {
      expect(policy).toBe(kind === "login" ? "unsafe-none" : "same-origin");
    }
    expect(new Set(openers.map(([kind]) => kind))).toEqual(new Set(["login", "site"]));
  });

  test("has the status and the cookies of its caller, and its own headers before theirs", ({
    expect,
  }) => {
    const own = new Headers({ "Cache-Control": "public", "Retry-After": "42" });
    own.append("Set-Cookie", "a=1");
    own.append("Set-Cookie", "b=2");
    const { status, headers } = respond("problem", { status: 429, headers: own });
    expect(status).toBe(429);
    expect(headers.get("Retry-After")).toBe("42");
    expect(headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect(headers.get("Cache-Control")).toBe("no-store");
    expect(own.has("Content-Security-Policy")).toBe(false);
  });

  test("B42a: lists the targets of a form, or omits the directive", ({ expect }) => {
    const formActions = [
      ...formActionsFor("https://claude.ai/api/mcp/auth_callback"),
      ...formActionsFor("https://accounts.google.com/o/oauth2/v2/auth"),
    ];
    expect(policyOf(respond("consent", { formActions })).get("form-action")).toBe(
      "'self' https://claude.ai https://accounts.google.com",
    );
    expect(policyOf(respond("consent", { formActions: "omit" })).has("form-action")).toBe(false);
  });
});

describe("formActionsFor()", () => {
  const LOOPBACK = ["http://127.0.0.1:*", "http://localhost:*"];
  const CASES: readonly (readonly [url: string, sources: readonly string[]])[] = [
    ["https://claude.ai/api/mcp/auth_callback?a=b", ["https://claude.ai"]],
    ["https://host.example:8443/cb", ["https://host.example:8443"]],
    ["http://127.0.0.1:53412/callback", LOOPBACK],
    ["http://127.0.0.9/callback", ["http://127.0.0.9:*", ...LOOPBACK]],
    ["http://localhost/callback", ["http://localhost:*", "http://127.0.0.1:*"]],
    // No browser knows `http://[::1]:*`: the grammar has no such host.
    ["http://[::1]:8000/callback", ["http:"]],
    ["cursor://anysphere.cursor-mcp/oauth/callback", ["cursor:"]],
    ["https://x.example/; script-src *", ["https://x.example"]],
    ["no url; script-src *", []],
  ];
  test.for(CASES)("%s", ([url, sources], { expect }) => {
    expect(formActionsFor(url)).toEqual(sources);
  });
});

describe("seeOther()", () => {
  test("leads on with GET, and is not kept", ({ expect }) => {
    const { status, headers } = seeOther("https://client.example/cb?code=c", HTTPS);
    expect(status).toBe(303);
    expect(headers.get("Location")).toBe("https://client.example/cb?code=c");
    expect(headers.get("Cache-Control")).toBe("no-store");
    expect(headers.get("Referrer-Policy")).toBe("no-referrer");
    expect(headers.get("Strict-Transport-Security")).toBe("max-age=31536000");
    // In the middle of the way of a window, this would cut its tie to who opened it.
    expect(headers.has("Cross-Origin-Opener-Policy")).toBe(false);
  });
});
