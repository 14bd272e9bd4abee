/** The keys of what is kept of a server, for all callers or for one account. */

import { describe, test } from "vitest";

import {
  readAccountKey,
  serverKey,
  slugOfKey,
  writeKey,
} from "../../../src/upstream/server-key.ts";
import { fakeCredentials } from "./fake-credentials.ts";

describe("the key of a server", () => {
  test("is its slug where all callers share", async ({ expect }) => {
    expect(await serverKey({ slug: "docs" })).toBe("docs");
    expect(readAccountKey("docs")).toBeUndefined();
    expect(slugOfKey("docs")).toBe("docs");
  });

  test("U40 names the account and its vault elsewhere", async ({ expect }) => {
    const credentials = fakeCredentials("a1");
    const key = await serverKey({ slug: "docs", credentials });
    expect(key).toBe("docs a1 person p1");
    expect(readAccountKey(key ?? "")).toEqual({
      ...{ slug: "docs", accountId: "a1", owner: "person p1" },
    });
    expect(slugOfKey(key ?? "")).toBe("docs");
    credentials.accountId = "a2";
    expect(await serverKey({ slug: "docs", credentials })).not.toBe(key);
  });

  test("is missing without an account", async ({ expect }) => {
    const credentials = { ...fakeCredentials(), account: () => Promise.resolve(undefined) };
    expect(await serverKey({ slug: "docs", credentials })).toBeUndefined();
  });

  test("keeps an owner with spaces and line breaks", ({ expect }) => {
    const account = { slug: "docs", accountId: "a", owner: "person a b\nc" };
    expect(readAccountKey(writeKey(account))).toEqual(account);
  });
});
