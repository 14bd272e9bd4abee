/** What was asked for and not given, as the page after a connection says it. */

import { describe, test } from "vitest";

import { missingScopes } from "../../../src/accounts/scopes.ts";

const requested = ["read", "write", "offline_access"];

describe("missingScopes()", () => {
  test("names each scope that was asked for and not granted", ({ expect }) => {
    const account = { requested, granted: ["read", "more"], isRenewable: false };
    expect(missingScopes(account)).toEqual(["write", "offline_access"]);
  });

  test("leaves out `offline_access` where there is a refresh token", ({ expect }) => {
    const account = { requested, granted: ["read"], isRenewable: true };
    expect(missingScopes(account)).toEqual(["write"]);
  });
});
