/** Accounts that do not work stand first on `/admin`, until somebody connects them again: a shared one, and one's own. */

import { beforeAll, describe, test, vi } from "vitest";

import type { Page } from "../support/oauth-browser.ts";
import { AccountGateway, type Guest } from "./account-gateway.ts";
import { FakeVaults } from "./fake-vaults.ts";

const vaults = new FakeVaults();
const gateway = new AccountGateway(vaults);
let root: Guest;

beforeAll(async () => {
  root = await gateway.arrive({ isAdmin: true });
  await root.visitor.shard.users.change(root.id, { hasAccounts: true });
});

/** The items of this kind, and where their links lead. */
async function signInsNeeded(): Promise<readonly string[]> {
  const { html } = await root.browser.visit("/admin");
  const list = /<ol class="entries">(.*?)<\/ol>/s.exec(html)?.[1] ?? "";
  const entries = list
    .split('<li class="entry">')
    .filter((each) => each.includes("Sign-in needed"));
  return entries.map((each) => /class="button" href="([^"]+)"/.exec(each)?.[1] ?? "");
}

const show = (path: string): Promise<Page> => root.browser.visit(path);

describe("the account that all share", () => {
  test("is needed until somebody has connected it, and again when it has ended", async ({
    expect,
  }) => {
    expect(await signInsNeeded()).toEqual(["/connect/all"]);
    expect((await show("/connect/all")).status).toBe(200);
    expect((await show("/admin")).text).toContain(
      "Nobody has connected the account that all share.",
    );

    vaults.shared.keep("all");
    expect(await signInsNeeded()).toEqual([]);

    const since = Date.now() - 3 * 3_600_000;
    vaults.shared.keep("all", { state: "needs-connect", trouble: "ended", since });
    expect(await signInsNeeded()).toEqual(["/connect/all"]);
    const { text } = await show("/admin");
    expect(text).toMatch(
      /all Sign-in needed The account that all share does not work: .* 3 hours ago/,
    );
    vaults.shared.keep("all");
    expect(await signInsNeeded()).toEqual([]);
  });
});

test("that an account may be needed is said while it is not known", async ({ expect }) => {
  const logged = vi.spyOn(console, "error").mockImplementation(() => {});
  for (const vault of [vaults.shared, root.vault]) {
    vault.isSilent = true;
    const { text } = await show("/admin");
    expect(text).toContain("Whether an account has to be connected again is not known");
    vault.isSilent = false;
  }
  logged.mockRestore();
  expect((await show("/admin")).text).not.toContain("is not known");
});

describe("one's own account", () => {
  test("is needed when it has ended, and by nobody else", async ({ expect }) => {
    vaults.shared.keep("all");
    root.vault.keep("s", { state: "moved", trouble: "moved" });
    expect(await signInsNeeded()).toEqual(["/connect/s"]);
    expect((await show("/connect/s")).status).toBe(200);

    const other = await gateway.arrive({ isAdmin: true });
    expect((await other.browser.visit("/admin")).text).not.toContain("Sign-in needed");
    root.vault.keep("s");
    expect(await signInsNeeded()).toEqual([]);
  });
});
