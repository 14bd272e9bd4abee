/** The built-in default: one code, too long to be guessed, and never a known one. */

import { describe, test } from "vitest";

import { OwnerProvider, weaknessOf } from "../../../../src/auth/identity/owner.ts";
import { hashOf } from "../../../../src/lib/random.ts";

const CODE = "kT7wq2Zp9sLr4Vx8Nc3M";
const owner = { issuer: "edgeway:owner", subject: "owner" };
const NAMES = { name: "owner", label: "Continue as the owner" };

const codeMac = (hash: string): Promise<string> => hashOf(`under a key: ${hash}`);
const outOfReach = { codeHash: () => Promise.reject(new Error("out of reach")) };

const withCode = (code: string): OwnerProvider =>
  new OwnerProvider({ ...NAMES, code }, { enrolment: () => outOfReach, codeMac });
const enrolled = (hash: string | undefined): OwnerProvider =>
  new OwnerProvider(NAMES, { enrolment: () => ({ codeHash: async () => hash }), codeMac });

describe("OwnerProvider.check()", () => {
  test("knows the owner by the operator's code", async ({ expect }) => {
    const result = await withCode(CODE).check(` ${CODE}\n`);
    expect(result).toMatchObject({
      kind: "identity",
      identity: { ...owner, name: "Owner", isAdmin: true },
    });
    expect(JSON.stringify(result)).not.toContain(CODE);
    expect(JSON.stringify(result)).not.toContain(await hashOf(CODE));
  });

  test("knows the owner by an enrolled code", async ({ expect }) => {
    const provider = enrolled(await hashOf(CODE));
    expect((await provider.check(CODE)).kind).toBe("identity");
    expect((await provider.check(`${CODE}x`)).kind).toBe("refused");
  });

  const wrong = ["", " ", CODE.slice(1), `${CODE}x`, CODE.toLowerCase(), "x".repeat(100_000)];
  test.for(wrong)("refuses %j", async (code, { expect }) => {
    expect(await withCode(CODE).check(code)).toMatchObject({
      kind: "refused",
      reason: "wrong-code",
    });
  });

  test("refuses everything before there is a code", async ({ expect }) => {
    const provider = enrolled(undefined);
    expect(await provider.hasCode()).toBe(false);
    expect(await enrolled(await hashOf(CODE)).hasCode()).toBe(true);
    for (const code of ["", "undefined", CODE]) {
      expect(await provider.check(code)).toMatchObject({ kind: "refused", reason: "not-set-up" });
    }
  });

  test("refuses the hash of the code", async ({ expect }) => {
    const hash = await hashOf(CODE);
    expect((await enrolled(hash).check(hash)).kind).toBe("refused");
  });
});

/** The MAC that a sign-in with the code leaves in everything that it begins. */
async function kept(): Promise<string | undefined> {
  const result = await withCode(CODE).check(CODE);
  return result.kind === "identity" ? result.codeMac : undefined;
}

describe("OwnerProvider.standing()", () => {
  const isAdmin = { isAdmin: true };

  test("is the administrator's while the code is what it was, wherever it is kept", async ({
    expect,
  }) => {
    expect(await withCode(CODE).standing(owner, await kept())).toEqual(isAdmin);
    const provider = enrolled(await hashOf(CODE));
    expect(await provider.standing(owner, await kept())).toEqual(isAdmin);
  });

  test("is invalid when the code is replaced or removed, or was never given", async ({
    expect,
  }) => {
    const mac = await kept();
    expect(await withCode(`${CODE}2`).standing(owner, mac)).toBeUndefined();
    expect(await enrolled(undefined).standing(owner, mac)).toBeUndefined();
    expect(await withCode(CODE).standing(owner, undefined)).toBeUndefined();
    expect(await withCode(CODE).standing({ ...owner, subject: "x" }, mac)).toBeUndefined();
    expect(await withCode(CODE).standing({ ...owner, issuer: "x" }, mac)).toBeUndefined();
  });

  test("cannot be judged while the enrolment cannot be read", async ({ expect }) => {
    const provider = new OwnerProvider(NAMES, { enrolment: () => outOfReach, codeMac });
    await expect(provider.standing(owner, await kept())).rejects.toThrow("out of reach");
  });
});

describe("B94: weaknessOf()", () => {
  const weak = [
    "changeme",
    "changeme-changeme-changeme",
    "ChangeMe-8fj2kd93ms02kf8",
    "my-password-is-very-long",
    "this-is-an-example-code-1",
    "owner-code-owner-code-9",
    "1234567890123456789012",
    "aaaaaaaaaaaaaaaaaaaaaaaa",
    "abababababababababababab",
    CODE.slice(1),
    ` ${CODE}`,
    "x".repeat(257),
  ];
  test.for(weak)("refuses %s", (code, { expect }) => {
    expect(weaknessOf(code)).toMatch(/^(?:must|is) /);
  });

  test.for([CODE, "correct horse battery staple", "0b9f5c9ad2c84e51b1f6a2c7"])(
    "takes %s",
    (code, { expect }) => {
      expect(weaknessOf(code)).toBeUndefined();
    },
  );
});
