/** The forms of the other pages: tokens, names, and texts that belong to their fields. */

import { describe, test } from "vitest";

import { accountView } from "../../../src/pages/view/account-view.ts";
import { adminView } from "../../../src/pages/view/admin-view.ts";
import { disconnectPath, PATHS } from "../../../src/pages/view/paths.ts";
import { signInView } from "../../../src/pages/view/sign-in-view.ts";
import { type Form, formsOf, textOf } from "../../support/oauth-html.ts";
import { MODELS } from "../../support/page-models.ts";

const { account, admin, signIn } = MODELS;

function buttonsOf(forms: readonly Form[]): (string | undefined)[][] {
  return forms.map(({ action, buttons }) => [action, ...buttons.map(({ label }) => label)]);
}

describe("the account page", () => {
  const forms = formsOf(accountView(account).body.toString());

  test("changes everything with POST and the token of the session", ({ expect }) => {
    expect(forms.length).toBeGreaterThan(8);
    for (const { method, controls } of forms) {
      expect(method).toBe("post");
      expect(controls.filter(({ name }) => name === "csrf").map(({ value }) => value)).toEqual([
        account.csrf,
      ]);
    }
  });

  test("names on each button the item that it ends", ({ expect }) => {
    expect(buttonsOf(forms)).toEqual([
      [PATHS.logout, "Sign out"],
      [disconnectPath("github"), "Disconnect GitHub"],
      [disconnectPath("stripe"), "Disconnect Stripe"],
      [disconnectPath("old"), "Disconnect old"],
      [PATHS.revokeConnection, "Revoke Claude"],
      [PATHS.revokeConnection, "Revoke Claude Code"],
      [PATHS.forgetApproval, "Forget Claude"],
      [PATHS.revokeKey, "Revoke the key Nightly report"],
      [PATHS.revokeKey, "Revoke the key Old laptop"],
      [PATHS.createKey, "Create the key"],
      [PATHS.endSession, "End the session of Firefox on macOS"],
      [PATHS.endSession, "End the session of Safari on iPhone"],
      [PATHS.revokeAll, "Yes, revoke everything"],
    ]);
    const ids = forms.map(({ controls }) => controls.find(({ name }) => name === "id")?.value);
    expect(ids.filter((id) => id !== undefined)).toEqual([
      "g1",
      "g2",
      "https://claude.ai/oauth/mcp-oauth-client-metadata",
      "k1",
      "k2",
      "s1",
      "s2",
    ]);
  });

  test("shows of each part that it is empty", ({ expect }) => {
    const keys = { ...account.keys, list: [] };
    const empty = { grants: [], approvals: [], sessions: [], activity: [], keys };
    const text = textOf(accountView({ ...account, ...empty }).body.toString());
    for (const sentence of [
      "No application is connected.",
      "Nothing is remembered",
      "You have no API keys.",
      "You are signed in nowhere.",
      "Nothing has happened yet.",
    ]) {
      expect(text).toContain(sentence);
    }
  });

  test("ties the reason of a failure to its field, in a form that is open", ({ expect }) => {
    const error = { field: "label", sentence: "Give it a name." } as const;
    const keys = { ...account.keys, form: { ...account.keys.form, label: "typed", error } };
    const html = accountView({ ...account, keys }).body.toString();
    expect(html).toMatch(/<details class="sure" open>/);
    expect(html).toMatch(/id="key-error"[^>]*>Give it a name\.</);
    const [input = ""] = /<input[^>]*id="key-label"[^>]*>/.exec(html) ?? [];
    expect(input).toContain('aria-describedby="key-error"');
    expect(input).toContain('aria-invalid="true"');
    expect(input).toContain('value="typed"');
  });
});

describe("the admin page", () => {
  test("has no button to disable oneself", ({ expect }) => {
    const forms = formsOf(adminView(admin).body.toString());
    expect(buttonsOf(forms)).toEqual([
      [disconnectPath("wiki"), "Disconnect Wiki"],
      [PATHS.sealAccounts, "Seal all accounts anew"],
      [`${PATHS.admin}#people`, "Search"],
      [PATHS.enableUser, "Enable charles@example.com"],
      [PATHS.deleteClient, "Delete for everybody Claude"],
      [PATHS.deleteClient, "Delete for everybody Cursor"],
      [PATHS.revokeService, "Revoke Build server"],
      [PATHS.createService, "Create the client"],
    ]);
  });
});

describe("the sign-in page", () => {
  test("has a form for each way in, with the attempt in it", ({ expect }) => {
    const forms = formsOf(signInView(signIn).body.toString());
    expect(buttonsOf(forms)).toEqual([
      ["/login", "Continue with GitHub"],
      ["/login", "Continue with Microsoft"],
      ["/login", "Sign in"],
    ]);
    for (const { method, controls } of forms) {
      expect(method).toBe("post");
      const [handle] = controls;
      expect([handle?.name, handle?.value]).toEqual(["handle", signIn.handle]);
    }
  });

  test("asks for the code as for a password, which a manager may fill in", ({ expect }) => {
    const html = signInView(signIn).body.toString();
    const [input = ""] = /<input[^>]*id="code"[^>]*>/.exec(html) ?? [];
    expect(input).toContain('type="password"');
    expect(input).toContain('autocomplete="current-password"');
    expect(input).not.toContain("aria-invalid");
    expect(html).toContain('<label for="code">');
  });

  test.for([
    [undefined, "That is not the owner code.", "That is not the owner code."],
    [1, undefined, "Wait 1 second, then try again."],
    [42, undefined, "Wait 42 seconds, then try again."],
    [119, "ignored", "Wait 119 seconds, then try again."],
    [120, undefined, "Wait 2 minutes, then try again."],
    [121, undefined, "Wait 3 minutes, then try again."],
  ] as const)("shows why it did not work: %j", ([waitSeconds, error, sentence], { expect }) => {
    const owner = {
      ...(error !== undefined && { error }),
      ...(waitSeconds !== undefined && { waitSeconds }),
    };
    const html = signInView({ ...signIn, owner }).body.toString();
    expect(/id="code-error"[^>]*>([^<]*)</.exec(html)?.[1]).toContain(sentence);
    const [input = ""] = /<input[^>]*id="code"[^>]*>/.exec(html) ?? [];
    expect(input).toContain('aria-describedby="code-error code-hint"');
    expect(input).toContain('aria-invalid="true"');
  });
});
