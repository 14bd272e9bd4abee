/** The content of the consent page, and what it omits. */

import { describe, test } from "vitest";

import { consentView, type ConsentView } from "../../../src/pages/view/consent-view.ts";
import { redirectTarget } from "../../../src/pages/view/parts.ts";
import { formsOf, textOf } from "../../support/oauth-html.ts";
import { MODELS } from "../../support/page-models.ts";

const { consent } = MODELS;

function render(changes: Partial<ConsentView> = {}): { html: string; text: string } {
  const html = consentView({ ...consent, ...changes }).body.toString();
  return { html, text: textOf(html) };
}

describe("the consent page", () => {
  test("B42: shows the application, the target of the access, its scopes, and the user", ({
    expect,
  }) => {
    const { text } = render();
    for (const said of [
      "Connect “Claude Code”?",
      "An unverified application",
      "127.0.0.1:53412",
      "An app on this computer will receive access. Continue only if you just started it.",
      "http://127.0.0.1:53412/callback?from=claude",
      "https://mcp.example.com/mcp",
      "GitHub",
      "Postgres (read only)",
      "Use your servers",
      "ada@example.com",
    ]) {
      expect(text).toContain(said);
    }
  });

  test("B42: has Deny before Approve in one POST form, with nothing focused or scripted", ({
    expect,
  }) => {
    const { html } = render();
    const form = formsOf(html).find(({ action }) => action === "/authorize");
    expect(form?.method).toBe("post");
    expect(form?.buttons).toEqual([
      { name: "decision", value: "deny", label: "Deny" },
      { name: "decision", value: "approve", label: "Approve" },
    ]);
    expect(html).not.toMatch(/autofocus|<script|<img/);
  });

  test("sends the handle and the boxes that can be cleared, and no more", ({ expect }) => {
    const form = formsOf(render().html).find(({ action }) => action === "/authorize");
    expect(form?.controls.map(({ type, name, value }) => [type, name, value])).toEqual([
      ["hidden", "handle", consent.handle],
      ["checkbox", "scope", "admin"],
    ]);
  });

  test("shows the host of a client that is known by one, and its name as a claim", ({ expect }) => {
    const { text } = render({ client: { name: "Claude", verifiedHost: "claude.ai" } });
    expect(text).toContain("Who asks claude.ai This host was checked.");
    expect(text).toContain("The name “Claude” is the application’s own.");
    expect(text).not.toContain("nverified");
  });

  test("warns of what runs on the machine, and not of a host on the web", ({ expect }) => {
    const web = render({ redirectUri: "https://claude.ai/api/mcp/auth_callback" }).text;
    expect(web).toContain("Access goes to claude.ai");
    expect(web).not.toContain("will receive access");
    const app = render({ redirectUri: "cursor://anysphere.cursor-mcp/oauth/callback" }).text;
    expect(app).toContain("The app on this device that opens cursor: links will receive access.");
  });

  test("contains nothing about a person who is not signed in", ({ expect }) => {
    const { html, text } = render({ account: undefined });
    expect(text).toContain("You sign in on the next page.");
    expect(formsOf(html).map(({ action }) => action)).toEqual(["/authorize"]);
  });

  test("lets another person sign in, with the same attempt", ({ expect }) => {
    const form = formsOf(render().html).find(({ action }) => action === "/authorize/switch");
    expect(form?.method).toBe("post");
    expect(form?.controls.map(({ name }) => name)).toEqual(["handle"]);
  });

  test("B58: shows what has changed, and marks the scopes that are new", ({ expect }) => {
    const { text } = render({ changes: ["It has another name."] });
    expect(text).toContain("This application has changed since you approved it.");
    expect(text).toContain("It has another name.");
    expect(text).toMatch(/Manage this gateway ?New/);
    expect(render().text).not.toContain("has changed");
  });

  test("has words for an application without a name", ({ expect }) => {
    const client = { name: "\u200B \u3164", verifiedHost: undefined };
    expect(render({ client }).text).toContain("Connect “An application without a name”?");
  });
});

describe("redirectTarget()", () => {
  const CASES: readonly (readonly [uri: string, kind: string, place: string])[] = [
    ["https://claude.ai/cb", "web", "claude.ai"],
    ["https://claude.ai@evil.example:8443/cb", "web", "evil.example:8443"],
    ["https://clаude.ai/cb", "web", "xn--clude-5ve.ai"],
    ["https://127.0.0.1.evil.example/", "web", "127.0.0.1.evil.example"],
    ["http://127.0.0.1:7/cb", "loopback", "127.0.0.1:7"],
    ["http://localhost/cb", "loopback", "localhost"],
    ["http://[::1]:7/cb", "loopback", "[::1]:7"],
    ["com.example.app:/cb", "application", "com.example.app:"],
    ["nonsense", "application", "nonsense"],
  ];
  test.for(CASES)("%s", ([uri, kind, place], { expect }) => {
    expect(redirectTarget(uri)).toEqual({ kind, place });
  });
});
