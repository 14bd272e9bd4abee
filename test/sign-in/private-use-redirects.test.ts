/**
 * Redirect URIs with the private-use scheme of a desktop application (RFC 8252 section 7.1): those
 * few that are on the list are used, and every other may be listed and is never used.
 */

import { describe, test } from "vitest";

import { issueCode } from "../../src/auth/sign-in/issue.ts";
import { sessionId } from "../../src/auth/store/browser-sessions.ts";
import { readAuthorizeRequest } from "../../src/auth/oauth/endpoints/authorization-request.ts";
import { judgeAuthorization, knownClient } from "../../src/auth/oauth/endpoints/authorize.ts";
import { PUBLIC_CLIENT, register } from "../support/oauth-requests.ts";
import { answerIn, Asking, ownersBrowser } from "./asking.ts";
import { newHost, serveJsonAt } from "./canary.ts";
import { ORIGIN } from "./gateway.ts";
import { newOwner } from "./owners.ts";
import { browserOf, signInContext, signInGateway } from "./sign-in-gateway.ts";

const CURSOR = "cursor://anysphere.cursor-mcp/oauth/callback";
const LOOPBACK = "http://localhost:8787/callback";
const OTHERS = [
  "windsurf://codeium.windsurf/oauth/callback",
  "vscode://anysphere.cursor-mcp/oauth/callback",
  "com.example.app:/callback",
  "cursor://evil.example/oauth/callback",
  "cursor://anysphere.cursor-mcp/oauth/callback/more",
  "cursor://anysphere.cursor-mcp/oauth/callback?to=evil",
  "CURSOR://anysphere.cursor-mcp/oauth/callback",
];

/** An application that has listed an address, and others beside. */
function listing(redirectUri: string): Promise<Asking> {
  return Asking.begin({ ...PUBLIC_CLIENT, redirect_uris: [redirectUri, LOOPBACK] });
}

describe("a private-use redirect URI that is on the list", () => {
  test("gets a code, and the page names the application that will open", async ({ expect }) => {
    const asking = await listing(CURSOR);
    const browser = await ownersBrowser();
    const page = await asking.visit({}, browser);
    expect(page.text).toContain("The app on this device that opens cursor: links");
    expect(page.headers.get("content-security-policy")).toMatch(/form-action [^;]* cursor:/);
    const answer = await browser.submit(page, { button: "Approve" });
    expect(answer.hops.map(({ status }) => status)).toEqual([303]);
    expect(answer.left?.href).toMatch(new RegExp(`^${CURSOR}\\?code=`));
    expect(answerIn(answer.left)).toMatchObject({ state: asking.state, iss: ORIGIN });
    expect((await asking.tokens(answer)).scope).toBe("mcp");
  });

  test("is accepted in a registration, and in a document", async ({ expect }) => {
    const alone = { ...PUBLIC_CLIENT, redirect_uris: [CURSOR] };
    expect((await register(signInGateway(), alone))["redirect_uris"]).toEqual([CURSOR]);
    const client_id = `https://${newHost()}/client.json`;
    await serveJsonAt(client_id, { ...alone, client_id });
    const page = await (await Asking.begin({ client_id, redirect_uris: [CURSOR] })).visit();
    expect([page.status, page.text]).toEqual([200, expect.stringContaining("opens cursor: links")]);
  });

  test("requires consent each time, because another program may have claimed the scheme", async ({
    expect,
  }) => {
    const asking = await listing(CURSOR);
    const browser = await ownersBrowser();
    await browser.submit(await asking.visit({}, browser), { button: "Approve" });
    const again = await asking.visit({}, browser);
    expect([again.status, again.left]).toEqual([200, undefined]);
  });

  test("receives the error, so that the application does not wait", async ({ expect }) => {
    const asking = await listing(CURSOR);
    const { left } = await asking.visit({ resource: "https://evil.example/mcp" });
    expect(left?.href).toMatch(new RegExp(`^${CURSOR}\\?error=invalid_target&`));
    const browser = browserOf();
    const denied = await browser.submit(await asking.visit({}, browser), { button: "Deny" });
    expect(denied.left?.href).toMatch(new RegExp(`^${CURSOR}\\?error=access_denied&`));
  });

  test("is accepted only from an application that has registered it", async ({ expect }) => {
    const asking = await Asking.begin();
    const page = await asking.visit({ redirect_uri: CURSOR });
    expect([page.status, page.left]).toEqual([400, undefined]);
    expect(page.text).toContain("an address that it has not registered");
  });
});

describe("any other private-use redirect URI", () => {
  test.for(OTHERS)(
    "such as %s may be registered, and no response is sent there",
    async (uri, { expect }) => {
      const asking = await listing(uri);
      expect(asking.client["redirect_uris"]).toEqual([uri, LOOPBACK]);
      const browser = await ownersBrowser();
      for (const change of [
        {},
        { response_type: "token" },
        { resource: "https://evil.example/" },
      ]) {
        const page = await asking.visit(change, browser);
        expect([page.status, page.left, page.html.includes(uri)]).toEqual([400, undefined, false]);
        expect(page.text).toContain("to this computer, and to no others");
      }
      expect((await asking.visit({ redirect_uri: LOOPBACK }, browser)).status).toBe(200);
    },
  );

  test("of a document is not used either", async ({ expect }) => {
    const client_id = `https://${newHost()}/client.json`;
    const redirect_uris = [...OTHERS, LOOPBACK];
    await serveJsonAt(client_id, { ...PUBLIC_CLIENT, client_id, redirect_uris });
    for (const redirect_uri of OTHERS) {
      const page = await (await Asking.begin({ client_id })).visit({ redirect_uri });
      expect([page.status, page.left]).toEqual([400, undefined]);
    }
  });

  test("gets no code, even when a request reaches the consent page", async ({ expect }) => {
    const asking = await listing("windsurf://codeium.windsurf/oauth/callback");
    const request = new Request(asking.url({ redirect_uri: LOOPBACK }));
    const context = signInContext();
    const reading = readAuthorizeRequest(request, ORIGIN);
    if (reading.kind !== "read") throw new Error(reading.sentence);
    const found = await knownClient(context, request, reading);
    if (found.kind !== "client") throw new Error(found.problem);
    const content = await judgeAuthorization(context, reading, found, undefined);
    if (content.kind !== "authorize") throw new Error(content.kind);
    const { id, shard, codeMac } = await newOwner();
    const user = await shard.currentUser(id, codeMac);
    if (user === undefined) throw new Error("There is no such user");
    const authenticatedAt = Date.now();
    const secret = await shard.sessions.open(id, { authenticatedAt, agent: "test" });
    const session = await sessionId(secret);

    const issue = (redirectUri: string) =>
      issueCode(
        context,
        {
          content: { ...content, request: { ...content.request, redirectUri } },
          scopes: ["mcp"],
        },
        { user, session, authenticatedAt },
      );
    const listed = await issue(asking.redirectUri);
    expect(listed).toMatchObject({ kind: "problem", problem: "bad-redirect" });
    expect(await issue(LOOPBACK)).toMatchObject({ kind: "redirect" });
  });
});
