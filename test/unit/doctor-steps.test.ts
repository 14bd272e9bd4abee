/** Steps of an attempt: what of them may be kept, and what the library says of a refusal. */

import { describe, test } from "vitest";

import { cleanStep } from "../../src/auth/doctor/clean-step.ts";
import { tokenReason } from "../../src/auth/doctor/token-reasons.ts";
import type { LoginStep } from "../../src/auth/doctor/trace.ts";

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
        name: "\u202Eevil" + "x".repeat(999),
      },
      redirectUris: Array.from({ length: 50 }, (_, n) => `http://127.0.0.1/${n}`),
    });
    expect(cleaned).toMatchObject({ client: "c [ERROR] forged" });
    const { name, redirectUris } = cleaned as Extract<LoginStep, { kind: "registered" }>;
    expect(name).toMatch(/^evilx+…$/);
    expect([name?.length, redirectUris.length]).toEqual([300, 10]);
  });

  test("keeps what is no text", ({ expect }) => {
    expect(cleanStep({ kind: "probed", path: "/x", isFound: false })).toEqual(missedAt("/x"));
    const used: LoginStep = { kind: "used", client: "c", path: "/mcp", status: 200 };
    expect(cleanStep(used)).toEqual(used);
  });
});

function missedAt(path: string): LoginStep {
  return { kind: "probed", path, isFound: false };
}

test.for([
  ["Client not found", "unknown-client"],
  ["Client authentication failed: invalid client_secret", "wrong-secret"],
  ["Authorization code already used", "used-code"],
  ["Invalid PKCE code_verifier", "verifier"],
  ["something with a secret in it", undefined],
  [undefined, undefined],
  [{}, undefined],
])("tokenReason() of %j is %s", ([description, reason], { expect }) => {
  expect(tokenReason(description)).toBe(reason);
});
