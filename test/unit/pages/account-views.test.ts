/** The pages about an account at a server: what a person reads before the browser leaves, and after. */

import { describe, test } from "vitest";

import { connectPath } from "../../../src/accounts/addresses.ts";
import { TROUBLES, troubleWords } from "../../../src/pages/trouble-words.ts";
import { accountProblemView } from "../../../src/pages/view/account-problem-view.ts";
import {
  accountServersSection,
  ownAccountsSection,
} from "../../../src/pages/view/accounts-view.ts";
import { connectedView } from "../../../src/pages/view/connected-view.ts";
import {
  type ConnectAccountView,
  connectAccountView,
} from "../../../src/pages/view/connect-account-view.ts";
import { disconnectPath } from "../../../src/pages/view/paths.ts";
import { formsOf, textOf } from "../../support/oauth-html.ts";
import { ACCOUNT_MODELS } from "../../support/account-page-models.ts";

const { signIn, key, connected, problem, own, servers } = ACCOUNT_MODELS;

function read(model: ConnectAccountView): string {
  return textOf(connectAccountView(model).body.toString());
}

describe("the page of a link", () => {
  test("U22: says what is connected to what, for whom, and where the browser goes", ({
    expect,
  }) => {
    const text = read({ ...signIn, account: undefined });
    for (const said of [
      ...["Connect GitHub", "api.githubcopilot.com", "as you"],
      ...["You sign in at github.com", "the accounts of login.example.com"],
      ...["repo", "read:org", "Stay connected while you are away"],
      ...["You are signed in here as ada@example.com", "for you alone"],
      ...["Continue to github.com", "Sign in with your account of the company."],
    ]) {
      expect(text).toContain(said);
    }
    expect(text).not.toContain("Connected now");
    expect(text).not.toContain("Disconnect");
  });

  test("warns before another account replaces one that works", ({ expect }) => {
    const { account } = signIn;
    if (account === undefined) throw new Error("The model has an account");
    const working = read(signIn);
    expect(working).toContain("Another one replaces it");
    expect(working).toContain("Connect another account");
    const dead = read({ ...signIn, account: { ...account, state: "needs-connect" } });
    expect(dead).not.toContain("replaces");
    expect(dead).toContain("Continue to github.com");
  });

  test("sends its forms with the token of the session and the link's handle", ({ expect }) => {
    const forms = formsOf(connectAccountView(signIn).body.toString());
    const sent = forms.map(({ action, method, controls }) => [
      ...[action, method],
      Object.fromEntries(controls.map(({ name, value }) => [name, value])),
    ]);
    const { csrf, ask } = signIn;
    expect(sent).toEqual([
      [connectPath("github"), "post", { csrf, e: ask }],
      [connectPath("github"), "post", { csrf, e: ask, anew: "1" }],
      [disconnectPath("github"), "post", { csrf }],
    ]);
  });

  test("U65: takes a key in a field that no browser shows or remembers", ({ expect }) => {
    const html = connectAccountView(key).body.toString();
    const [field = ""] = /<input[^>]*id="key"[^>]*>/.exec(html) ?? [];
    expect(field).toContain('type="password"');
    expect(field).toContain('autocomplete="off"');
    expect(textOf(html)).toContain("…x9Zq");
  });

  test("says of a shared account that it is for everybody", ({ expect }) => {
    const text = read({ ...signIn, isShared: true });
    expect(text).toContain("Everybody who uses this gateway");
    expect(text).toContain("The account is for everybody.");
    expect(text).not.toContain("as you.");
  });

  test("names nobody where there is no sign-in", ({ expect }) => {
    expect(read({ ...signIn, person: undefined })).not.toContain("signed in here");
  });
});

describe("the page after a connection", () => {
  test("U33: says that it is done, and what was not allowed", ({ expect }) => {
    const text = textOf(connectedView(connected).body.toString());
    expect(text).toContain("GitHub is connected");
    expect(text).toContain("You can close this window");
    expect(text).toMatch(/Not allowed workflow ?delete_repo/);
    const whole = textOf(connectedView({ ...connected, missing: [] }).body.toString());
    expect(whole).not.toContain("Not allowed");
  });
});

describe("the page of a problem", () => {
  test("U13: names for the operator what to enter, with the redirect URI", ({ expect }) => {
    const html = accountProblemView(problem).body.toString();
    const text = textOf(html);
    expect(text).toContain("The settings are in MCP_SERVERS.github.oauth.");
    expect(text).toContain("A server that was added is not there: it is changed on its page.");
    expect(html).toContain('href="/admin/servers/github"');
    expect(text).toContain("https://mcp.example.com/oauth/upstream/github/callback");
    expect(text).toContain("enter clientId and issuer.");
  });

  test.for(Object.entries(TROUBLES))("%s has sentences of its own", ([, words], { expect }) => {
    expect(words.title).toMatch(/^[A-Z][^.]+[^.]$/);
    expect(words.whatHappened).toMatch(/^[A-Z].+\.$/);
    expect(words.forOperator ?? "Ends.").toMatch(/\.$/);
    expect((words.forOperator ?? "").split("`").length % 2).toBe(1);
    expect(words.status).toBeGreaterThan(399);
  });

  test("a code of another version has a sentence too", ({ expect }) => {
    for (const code of ["nothing-like-it", "constructor", "__proto__", ""]) {
      expect(troubleWords(code).title).toBe("The account cannot be used");
    }
  });
});

describe("the accounts of a person", () => {
  const html = String(ownAccountsSection(own, signIn));
  const text = textOf(html);

  test("have their state, their last use and their last error", ({ expect }) => {
    expect(text).toMatch(/GitHub Connected Server api\.githubcopilot\.com/);
    expect(text).toMatch(/Last used yesterday/);
    expect(text).toMatch(/Stripe Connect it again.*Problem The server does not accept/);
    expect(text).toMatch(/Linear Not connected/);
    expect(text).toMatch(/old Connect it again Not served any more/);
  });

  test("are connected, changed and disconnected from there", ({ expect }) => {
    const links = Array.from(html.matchAll(/href="([^"]+)"/g), ([, href]) => href);
    expect(links).toEqual(["github", "stripe", "linear"].map((slug) => connectPath(slug)));
    expect(formsOf(html).map(({ action }) => action)).toEqual(
      ["github", "stripe", "old"].map(disconnectPath),
    );
  });

  test("are not mentioned where no server asks for one", ({ expect }) => {
    expect(ownAccountsSection([], signIn)).toBeUndefined();
    expect(accountServersSection([], signIn)).toBeUndefined();
  });
});

test("the operator sees who is connected to what, and what to register", ({ expect }) => {
  const text = textOf(String(accountServersSection(servers, signIn)));
  for (const said of [
    "https://mcp.example.com/oauth/upstream/wiki/callback",
    "ada@example.com Connected, charles@example.com Connect it again Not known of 112 more people, who may have one.",
    "by each person’s own key Connected by nobody yet",
    "by the gateway’s own account, whoever calls",
    "Connected by ada@example.com",
  ]) {
    expect(text).toContain(said);
  }
});
