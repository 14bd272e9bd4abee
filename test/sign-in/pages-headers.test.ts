/** B95: every page has the headers that keep it from being framed, leaked, kept or scripted. */

import { beforeAll, describe, test } from "vitest";

import { loginPath, PATHS } from "../../src/pages/view/paths.ts";
import { newBrowser, ORIGIN } from "./gateway.ts";
import { Visitor } from "./visitor.ts";

interface Shown {
  readonly status: number;
  readonly headers: Headers;
  readonly html: string;
}

const NOBODY: readonly (readonly [path: string, status: number])[] = [
  [PATHS.connect, 200],
  [PATHS.login, 200],
  ["/login?to=/account&fresh=1", 200],
  ["/login?to=https://evil.example", 200],
  ["/authorize", 400],
  ["/authorize?client_id=nope&redirect_uri=http://127.0.0.1/&response_type=code", 400],
  ["/callback/nobody?code=x&state=y", 400],
  ["/connect/x", 404],
  ["/nothing/here", 404],
  ["/account/keys", 404],
];
const ROOT: readonly (readonly [path: string, status: number])[] = [
  [PATHS.connect, 200],
  [PATHS.account, 200],
  [PATHS.admin, 200],
  [PATHS.logins, 200],
  [loginPath("zzzzzzzz"), 404],
];

let root: Visitor;
let ann: Visitor;

beforeAll(async () => {
  [root, ann] = [await Visitor.arrive({ isAdmin: true }), await Visitor.arrive()];
});

function policyOf({ headers }: Shown): ReadonlyMap<string, string> {
  const policy = headers.get("content-security-policy") ?? "";
  return new Map(
    policy.split("; ").map((directive) => {
      const [name = "", ...sources] = directive.split(" ");
      return [name, sources.join(" ")];
    }),
  );
}

function faultsOf(shown: Shown): readonly string[] {
  const { headers, html } = shown;
  const policy = policyOf(shown);
  const nonce = /'nonce-([\w-]{22})'/.exec(policy.get("style-src") ?? "")?.[1] ?? "none";
  const script = policy.get("script-src");
  const scripts = html.match(/<script[^>]*>/g) ?? [];
  const checks: Readonly<Record<string, boolean>> = {
    type: headers.get("content-type") === "text/html; charset=utf-8",
    "default-src": policy.get("default-src") === "'none'",
    "base-uri": policy.get("base-uri") === "'none'",
    "frame-ancestors": policy.get("frame-ancestors") === "'none'",
    // `script-src` is left out where there is no script: nothing runs then.
    "script-src": scripts.length === 0 ? script === undefined : script === `'nonce-${nonce}'`,
    scripts: scripts.every((tag) => tag === `<script nonce="${nonce}">`),
    styles: !html.includes(" style=") && html.includes(`<style nonce="${nonce}">`),
    handlers: !/\son[a-z]+=/i.test(html),
    "x-frame-options": headers.get("x-frame-options") === "DENY",
    "referrer-policy": headers.get("referrer-policy") === "no-referrer",
    "x-content-type-options": headers.get("x-content-type-options") === "nosniff",
    "cache-control": headers.get("cache-control") === "no-store",
    hsts: /^max-age=\d{8}/.test(headers.get("strict-transport-security") ?? ""),
    "permissions-policy": headers.get("permissions-policy") !== null,
    cors: headers.get("access-control-allow-origin") === null,
    server: headers.get("server") === null && headers.get("x-powered-by") === null,
    trace: !/\bat .+\.ts:\d+/.test(html),
    language: html.includes('<html lang="en">'),
  };
  return Object.keys(checks).filter((name) => checks[name] === false);
}

function nonceOf(shown: Shown): string {
  return policyOf(shown).get("style-src") ?? "";
}

describe("a page has the same headers,", () => {
  test.for(NOBODY)("%s without a session, %i", async ([path, status], { expect }) => {
    const page = await newBrowser().visit(path);
    expect([page.status, faultsOf(page)]).toEqual([status, []]);
    expect(nonceOf(await newBrowser().visit(path))).not.toBe(nonceOf(page));
  });

  test.for(ROOT)("%s of an administrator, %i", async ([path, status], { expect }) => {
    const page = await root.visit(path);
    expect([page.status, faultsOf(page)]).toEqual([status, []]);
  });

  test("when it refuses a form, or shows its result", async ({ expect }) => {
    const csrf = await ann.formToken();
    const fields = { csrf, label: "k", resource: `${ORIGIN}/mcp`, days: "30" };
    const answers = {
      400: await ann.post(PATHS.createKey, { csrf }),
      403: await ann.post(PATHS.createKey, {}),
      404: await ann.post(PATHS.revokeKey, { csrf, id: "x" }),
      200: await ann.post(PATHS.createKey, fields),
    };
    for (const [status, response] of Object.entries(answers)) {
      const shown = {
        status: response.status,
        headers: response.headers,
        html: await response.text(),
      };
      expect([shown.status, faultsOf(shown)]).toEqual([Number(status), []]);
    }
    const forbidden = await ann.visit(PATHS.admin);
    expect([forbidden.status, faultsOf(forbidden)]).toEqual([403, []]);
    const out = await ann.submit(PATHS.account, { action: PATHS.logout });
    expect([out.status, faultsOf(out)]).toEqual([200, []]);
  });

  test("and the pages behind the sign-in have one script where they have forms", async ({
    expect,
  }) => {
    for (const [path, count] of [
      [PATHS.account, 1],
      [PATHS.admin, 1],
      [PATHS.logins, 0],
    ] as const) {
      const scripts = (await root.visit(path)).html.match(/<script/g) ?? [];
      expect([path, scripts.length]).toEqual([path, count]);
    }
  });
});

test("a redirect is not stored, and sends no referrer", async ({ expect }) => {
  const [hop] = (await newBrowser().visit(PATHS.account)).hops;
  expect(hop?.status).toBe(303);
  for (const [name, value] of [
    ["cache-control", "no-store"],
    ["referrer-policy", "no-referrer"],
    ["x-content-type-options", "nosniff"],
  ] as const) {
    expect(hop?.headers.get(name)).toBe(value);
  }
});

describe("the root", () => {
  test("shows a browser how to connect to this gateway", async ({ expect }) => {
    const { text } = await newBrowser().visit("/");
    for (const said of [`${ORIGIN}/mcp`, `${ORIGIN}/mcp/alpha`, `${ORIGIN}/sse`, "Claude Code"]) {
      expect(text).toContain(said);
    }
    expect(text).toContain("sign in with the owner code");
    expect(text).not.toContain("Admin");
    expect((await root.visit("/")).text).toContain("Admin");
  });

  test("answers a program in plain text", async ({ expect }) => {
    for (const accept of ["*/*", undefined, "application/json"]) {
      const page = await newBrowser().visit("/", { Accept: accept });
      expect(page.headers.get("content-type")).toBe("text/plain; charset=utf-8");
      expect(page.headers.get("vary")).toContain("Accept");
      expect(page.html).toContain(`${ORIGIN}/mcp\n`);
      expect(page.html).not.toContain("<");
    }
  });
});
