/** Authorization requests: which are served, and who receives the error when one is not. */

import { describe, test } from "vitest";

import type { Page } from "../support/oauth-browser.ts";
import { newSecret, REDIRECT_URI } from "../support/oauth-requests.ts";
import { answerIn, Asking, ownersBrowser, WEB_CLIENT } from "./asking.ts";
import { hitsAt, newHost } from "./canary.ts";
import { ORIGIN } from "./gateway.ts";
import { browserOf } from "./sign-in-gateway.ts";

const PHISH = { ...WEB_CLIENT, redirect_uris: ["https://phish.client.example/cb"] };

/** Only the person is shown the error. */
function isPage({ status, headers, left }: Page): boolean {
  return status === 400 && left === undefined && headers.get("location") === null;
}

describe("an application that is unknown", () => {
  test("B30: gets a page that helps", async ({ expect }) => {
    const asking = await Asking.begin({ client_id: "nope" });
    const page = await asking.visit();
    expect(isPage(page)).toBe(true);
    expect(page.headers.get("content-type")).toContain("text/html");
    expect(page.text).toMatch(/remove this server and add it again/);
  });

  test.for(["a\u0000b", "a%0A[ERROR] forged", "a b", "é", "x".repeat(513)])(
    "B57: is not even looked up by the name %j",
    async (name, { expect }) => {
      const steps: unknown[] = [];
      const asking = await Asking.begin({ client_id: decodeURIComponent(name) });
      const page = await asking.visit({}, browserOf({ steps: steps as never[] }));
      expect(isPage(page)).toBe(true);
      expect(JSON.stringify(steps)).not.toContain("forged");
    },
  );
});

describe("for a redirect URI that is not the application's,", () => {
  test.for([
    ["B31", "http://127.0.0.1:9/other"],
    ["B31", "https://evil.example/"],
    ["B31", "http://localhost:9/cb"],
    ["B31", undefined],
    ["B31", "http://127.0.0.1:9/cb#x"],
    ["B31", "http://127.0.0.1:9/cb\n"],
    ["B31", "http://user@127.0.0.1:9/cb"],
    ["B31", "javascript:alert(1)"],
    ["B31", "cursor://anysphere.cursor-mcp/oauth/callback"],
  ] as const)("%s: %j is answered by a page", async ([, redirect_uri], { expect }) => {
    const asking = await Asking.begin();
    expect(isPage(await asking.visit({ redirect_uri }))).toBe(true);
  });

  test("B31: no error of such a request is sent there", async ({ expect }) => {
    const asking = await Asking.begin();
    const redirect_uri = "https://evil.example/";
    for (const change of [{ response_type: "token" }, { code_challenge: undefined }]) {
      expect(isPage(await asking.visit({ ...change, redirect_uri }))).toBe(true);
    }
  });

  test("B32: another port of a loopback address is accepted", async ({ expect }) => {
    const asking = await Asking.begin();
    const page = await asking.visit({ redirect_uri: "http://127.0.0.1:5555/cb" });
    expect([page.status, page.text]).toEqual([200, expect.stringContaining("127.0.0.1:5555")]);
  });
});

test.for([
  "client_id=x",
  "state=x",
  `redirect_uri=${encodeURIComponent(REDIRECT_URI)}`,
  "foo=1&foo=1",
])(
  "B33: a request that repeats the parameter %s is answered by a page",
  async (twice, { expect }) => {
    const asking = await Asking.begin();
    expect(isPage(await browserOf().visit(`${asking.url()}&${twice}`))).toBe(true);
  },
);

test("a query over 8 KB is not read", async ({ expect }) => {
  const asking = await Asking.begin();
  const page = await asking.visit({ state: "x".repeat(8192) });
  expect([page.status, page.left]).toEqual([414, undefined]);
});

describe("an error that the application receives", () => {
  const CONFIDENTIAL = {
    client_name: "Confidential",
    redirect_uris: [REDIRECT_URI],
    token_endpoint_auth_method: "client_secret_basic",
  };
  const cases = [
    ["B34", { code_challenge: undefined }, "invalid_request"],
    ["B34", { code_challenge: undefined, code_challenge_method: undefined }, "invalid_request"],
    ["B35", { code_challenge_method: "plain" }, "invalid_request"],
    ["B35", { code_challenge_method: undefined }, "invalid_request"],
    ["B35", { code_challenge: "short" }, "invalid_request"],
    ["B36", { response_type: "token" }, "unsupported_response_type"],
    ["B37", { resource: "https://evil.example/mcp" }, "invalid_target"],
    ["B37", { resource: `${ORIGIN}/unknown` }, "invalid_target"],
    ["B37", { resource: `${ORIGIN}/mcp/unknown` }, "invalid_target"],
    ["B37", { resource: `http://gw.example.com/mcp` }, "invalid_target"],
    ["B38b", { response_mode: "fragment" }, "invalid_request"],
    ["B38b", { request: "a.b.c" }, "request_not_supported"],
    ["B38b", { request_uri: "https://evil.example/r" }, "request_uri_not_supported"],
    ["B38b", { prompt: "none" }, "interaction_required"],
    ["B40", { scope: "admin root" }, "invalid_scope"],
  ] as const;

  test.for(
    cases.flatMap(
      (each) =>
        [
          [...each, "public"],
          [...each, "confidential"],
        ] as const,
    ),
  )("%s: %j is %s, to a %4$s one", async ([, changes, error, kind], { expect }) => {
    const asking = await Asking.begin(kind === "public" ? undefined : CONFIDENTIAL);
    const { left, headers, hops } = await asking.visit(changes);
    expect(hops.map(({ status }) => status)).toEqual([303]);
    expect(`${left?.origin}${left?.pathname}`).toBe(REDIRECT_URI);
    const { error_description, ...answer } = answerIn(left);
    expect(answer).toEqual({ error, state: asking.state, iss: ORIGIN });
    expect(error_description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]{8,200}$/);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.getSetCookie()).toEqual([]);
  });

  test("B38: is sent for two resources", async ({ expect }) => {
    const asking = await Asking.begin();
    for (const second of [`${ORIGIN}/mcp/alpha`, `${ORIGIN}/mcp`]) {
      const resource = encodeURIComponent(second);
      const { left } = await browserOf().visit(`${asking.url()}&resource=${resource}`);
      expect(answerIn(left)).toMatchObject({ error: "invalid_target", state: asking.state });
    }
  });

  test("returns the state unchanged, and sets no header from it", async ({ expect }) => {
    const asking = await Asking.begin();
    const state = "a\r\nSet-Cookie: b=c\r\n\r\n<script>&iss=https://evil.example#x";
    const { left, headers } = await asking.visit({ state, response_type: "token" });
    expect(answerIn(left)).toMatchObject({ state, iss: ORIGIN });
    expect([headers.getSetCookie(), left?.hash]).toEqual([[], ""]);
  });

  test("contains no text of the request", async ({ expect }) => {
    const asking = await Asking.begin();
    const { left } = await asking.visit({ response_type: 'x"\r\nSet-Cookie: a=b\\é' });
    const { error_description } = answerIn(left);
    expect(error_description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/);
  });
});

describe("the resource that an application requests as", () => {
  test.for([
    ["B38a", `${ORIGIN}/`, "/mcp"],
    ["B38a", ORIGIN, "/mcp"],
    ["B38a", `${ORIGIN}/mcp/`, "/mcp"],
    ["B38a", `${ORIGIN}/sse`, "/mcp"],
    ["B38a", undefined, "/mcp"],
    ["B38a", "", "/mcp"],
    ["B38a", `${ORIGIN}/mcp/alpha/`, "/mcp/alpha"],
    ["B38a", `${ORIGIN}/sse/alpha`, "/mcp/alpha"],
  ] as const)("%s: %j is %s", async ([, resource, path], { expect }) => {
    const asking = await Asking.begin();
    const page = await asking.visit({ resource, scope: undefined });
    expect([page.status, page.html]).toEqual([200, expect.stringContaining(`>${ORIGIN}${path}<`)]);
  });
});

describe("for an application that no host vouches for,", () => {
  const malformed = { response_type: "x" };

  test("B39: the page shows a link instead of a redirect", async ({ expect }) => {
    const asking = await Asking.begin(PHISH);
    const page = await asking.visit(malformed);
    expect([page.status, page.left]).toEqual([400, undefined]);
    expect(page.text).toContain("Return to phish.client.example");
    const [, href = ""] = /href="(https:\/\/phish[^"]*)"/.exec(page.html) ?? [];
    expect(answerIn(href.replaceAll("&amp;", "&"))).toMatchObject({
      ...{ error: "unsupported_response_type", state: asking.state, iss: ORIGIN },
    });
  });

  test("B39: an approval of another user counts for nothing, and one of this user removes the warning", async ({
    expect,
  }) => {
    const asking = await Asking.begin(PHISH);
    const browser = await ownersBrowser();
    expect((await asking.visit(malformed, browser)).left).toBeUndefined();
    await browser.submit(await asking.visit({}, browser), { button: "Approve" });
    expect((await asking.visit(malformed, browser)).left?.host).toBe("phish.client.example");
    const other = await Asking.begin(PHISH);
    expect((await other.visit(malformed, browser)).left).toBeUndefined();
    expect((await asking.visit(malformed)).left).toBeUndefined();
  });

  test.for(["https://claude.ai/api/mcp/auth_callback", "https://vscode.dev/redirect"])(
    "%s is a host that is known",
    async (uri, { expect }) => {
      const asking = await Asking.begin({ ...WEB_CLIENT, redirect_uris: [uri] });
      expect((await asking.visit(malformed)).left?.host).toBe(new URL(uri).host);
    },
  );

  test.for(["https://claude.ai.client.example/cb", "https://claude.ai:8443/cb"])(
    "%s is not",
    async (uri, { expect }) => {
      const asking = await Asking.begin({ ...WEB_CLIENT, redirect_uris: [uri] });
      expect((await asking.visit(malformed)).left).toBeUndefined();
    },
  );
});

describe("of the scopes that are requested,", () => {
  test("B40: those that are not available are left out", async ({ expect }) => {
    const asking = await Asking.begin();
    const page = await asking.visit({ scope: "mcp admin root" }, await ownersBrowser());
    expect(page.text).toContain("Use all servers here");
    expect(page.text).not.toMatch(/Administer|root/);
  });

  test("B40: those are missing from the token too", async ({ expect }) => {
    const asking = await Asking.begin();
    const browser = await ownersBrowser();
    const page = await asking.visit({ scope: "mcp admin" }, browser);
    expect(page.text).not.toContain("Administer");
    const { scope } = await asking.tokens(await browser.submit(page, { button: "Approve" }));
    expect(scope).toBe("mcp");
  });

  test("an empty request gets the first scopes of the resource", async ({ expect }) => {
    const asking = await Asking.begin();
    for (const scope of [undefined, "", "offline_access"]) {
      expect((await asking.visit({ scope })).text).toContain("Use all servers here");
      const resource = `${ORIGIN}/mcp/alpha`;
      expect((await asking.visit({ scope, resource })).text).toContain("Use alpha");
    }
  });
});

test("one address may begin a limited number of attempts", async ({ expect }) => {
  const options = { limits: { attemptsPerMinute: 3 } };
  const asking = await Asking.begin(undefined, options);
  const browser = browserOf(options);
  const statuses: number[] = [];
  for (let n = 0; n < 4; n++) statuses.push((await asking.visit({}, browser)).status);
  expect(statuses).toEqual([200, 200, 200, 429]);
  const limited = await asking.visit({}, browser);
  expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await asking.visit({}, browserOf(options))).status).toBe(200);
});

test("one address may have a limited number of documents loaded, and cached ones do not count", async ({
  expect,
}) => {
  const browser = browserOf({ limits: { documentsPerMinute: 1 } });
  const visits = async (client_id: string, redirect_uri: string): Promise<number> => {
    const asking = await Asking.begin({ client_id, redirect_uris: [redirect_uri] });
    return (await asking.visit({}, browser)).status;
  };
  const host = newHost();
  expect(await visits(`https://${host}/1.json`, "https://a.example/cb")).toBe(400);
  expect(await visits(`https://${host}/2.json`, "https://a.example/cb")).toBe(429);
  const id = newSecret().slice(0, 12);
  const codex = `https://chatgpt.com/oauth/codex/${id}/client.json`;
  expect(await visits(codex, `http://127.0.0.1:9/callback/${id}`)).toBe(200);
  expect((await hitsAt(host)).map(({ url }) => url)).toEqual([`https://${host}/1.json`]);
  expect((await hitsAt("chatgpt.com")).filter(({ url }) => url === codex)).toEqual([]);
});

test("every refusal has a reference by which the operator finds it", async ({ expect }) => {
  const steps: { kind: string; reason?: string }[] = [];
  const asking = await Asking.begin({ client_id: "nope" });
  const page = await asking.visit({}, browserOf({ steps: steps as never[] }));
  expect(steps).toMatchObject([{ kind: "ask_refused", reason: "unknown-client" }]);
  expect(page.text).toContain("Reference 1");
});
