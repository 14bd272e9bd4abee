/** The credentials of a feed, which is of one account and must not read another's lists. */

import { test } from "vitest";

import { pinnedTo } from "../../../src/accounts/pinned-credentials.ts";
import { fakeCredentials } from "../upstream/fake-credentials.ts";

test("U62 the credentials of one account are never another's", async ({ expect }) => {
  const vault = fakeCredentials("a1");
  const pinned = pinnedTo("a1", vault);
  const used = await pinned.current();
  expect(used).toMatchObject({ kind: "use", accountId: "a1" });
  vault.accountId = "a2";
  expect(await pinned.current()).toMatchObject({ kind: "need", reason: "account-replaced" });
  if (used.kind !== "use") throw new Error("There was no credential");
  expect(await pinned.refused(used, undefined)).toMatchObject({ kind: "need" });
  vault.generation += 1;
  const lacking = await pinned.lacking(used, { error: "insufficient_scope" });
  expect(lacking).toMatchObject({ kind: "need", reason: "account-replaced" });
  expect(await pinned.account()).toBe("a1");
});
