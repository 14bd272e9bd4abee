/** Steps of an attempt: what of them may be kept, and where. */

import { describe, test } from "vitest";

import { claimedId, cleanStep, maskTokens } from "../../../../src/auth/trace/clean-step.ts";
import { traceKey } from "../../../../src/auth/trace/trace-key.ts";
import type { LoginStep } from "../../../../src/auth/trace/trace.ts";

describe("a step as it is kept", () => {
  test("has no part of a URI in which a secret could be", ({ expect }) => {
    const secret = "s3cr3t";
    const cleaned = cleanStep({
      ...{ kind: "ask_refused", client: "c", reason: "redirect-mismatch" },
      redirectUri: `https://me:${secret}@a.example/cb?code=${secret}&x=1#${secret}`,
      registered: [`app:/cb?x=${secret}`, `no uri?${secret}`],
      resource: `https://gw.example.com/mcp?token=${secret}`,
    });
    expect(JSON.stringify(cleaned)).not.toContain(secret);
    expect(cleaned).toMatchObject({
      redirectUri: "https://a.example/cb",
      registered: ["app:/cb", "no uri"],
      resource: "https://gw.example.com/mcp",
    });
  });

  test("is short, and of one line", ({ expect }) => {
    const cleaned = cleanStep({
      ...{
        kind: "registered",
        client: "c\r\n[ERROR] forged",
        name: "\u202Eevil" + ".x".repeat(999),
      },
      redirectUris: Array.from({ length: 50 }, (_, n) => `http://127.0.0.1/${n}`),
    });
    expect(cleaned).toMatchObject({ client: "c [ERROR] forged" });
    const { name, redirectUris } = cleaned as Extract<LoginStep, { kind: "registered" }>;
    expect(name).toMatch(/^evil[.x]+…$/);
    expect([name?.length, redirectUris.length]).toEqual([300, 10]);
  });

  test("keeps values that are no text", ({ expect }) => {
    expect(cleanStep({ kind: "probed", path: "/x", isFound: false })).toEqual(missedAt("/x"));
    const used: LoginStep = { kind: "used", client: "c", path: "/mcp", status: 200 };
    expect(cleanStep(used)).toEqual(used);
  });
});

function missedAt(path: string): LoginStep {
  return { kind: "probed", path, isFound: false };
}

describe("text that could be a token", () => {
  const TOKENS = [
    "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "sk-proj-abcDEF1234567890abcdef",
    "edgeway_sk_h7k2m4p8r3t5w9xz_Zx9Zx9Zx9Zx9Zx9Zx9Zx9Zx9Zx9Zx9Zx9Zx9Zx9Zx9Q",
    "1234567890123456",
    "deadbeefdeadbeef0123456789abcdef",
    "a".repeat(40),
    "sk_live_abcdefghij",
    "xoxb-abcdefghij",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "%61%62%63%64%65%66",
  ];

  test.for(TOKENS)("is masked wherever it stands: %s", (token, { expect }) => {
    const cleaned = [
      cleanStep({ kind: "probed", path: `/.well-known/oauth-x/${token}`, isFound: false }),
      cleanStep({
        ...{ kind: "registered", client: "c", name: `App ${token}` },
        redirectUris: [`https://a.example/${token}/cb`],
      }),
      cleanStep({ kind: "registration_refused", error: "x", redirectUris: [token] }),
    ];
    expect(JSON.stringify(cleaned)).not.toContain(token);
    expect(claimedId(token)).toEqual({ claimed: `${token.length} characters` });
  });

  test.for([
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko)",
    "modelcontextprotocol-typescript-sdk/2.0.0",
    "/.well-known/oauth-protected-resource/mcp",
    "https://chatgpt.com/connector_platform_oauth_redirect",
    "http://127.0.0.1:33418/callback",
  ])("is no word, name or address: %s", (text, { expect }) => {
    expect(maskTokens(text)).toBe(text);
  });

  test("is no more than a host, of a client id that is an address", ({ expect }) => {
    expect(claimedId("https://a.example/secret/path?token=x")).toEqual({
      claimed: "https://a.example/…",
    });
    expect(claimedId("")).toEqual({});
  });
});

describe("the key of a step", () => {
  const from = { address: "192.0.2.1", agent: "app/1" };
  const attempt = "abcdefghijk";

  test.for<readonly [LoginStep, string]>([
    [{ kind: "consent_shown", client: "c", attempt }, "client:c"],
    [{ kind: "attempt_refused", reason: "used", attempt }, "attempt:abcdefgh"],
    [{ kind: "attempt_refused", reason: "used" }, "address:192.0.2.1"],
    [{ kind: "challenged", path: "/mcp" }, "lookup:192.0.2.1 app/1"],
    [{ kind: "bearer_refused", path: "/mcp" }, "address:192.0.2.1"],
    [{ kind: "bearer_refused", path: "/mcp", client: "c", grant: "g" }, "client:c"],
    [{ kind: "ask_refused", reason: "unknown-client", claimed: "x" }, "address:192.0.2.1"],
    [{ kind: "token_refused", grantType: "other", error: "x", client: "c" }, "address:192.0.2.1"],
  ])("%j is %s", ([step, key], { expect }) => {
    expect(traceKey(step, from)).toBe(key);
  });

  test("of a look-up by a program without a name joins it to nothing", ({ expect }) => {
    const step: LoginStep = { kind: "challenged", path: "/mcp" };
    expect(traceKey(step, { ...from, agent: "" })).toBe("address:192.0.2.1");
  });
});
