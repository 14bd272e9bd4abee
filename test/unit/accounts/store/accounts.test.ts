/** The rows of accounts: since when an account is as it is, also of rows that an earlier version has written. */

import { test } from "vitest";

import { type Account, denied, sent } from "../../../../src/accounts/account.ts";
import { summaryOf } from "../../../../src/accounts/service/account-summary.ts";
import { Accounts } from "../../../../src/accounts/store/accounts.ts";
import { START, withSql } from "../../lib/sql-fixture.ts";

const ACCOUNT: Account = {
  ...{ slug: "wiki", id: "a", kind: "oauth", life: "connected", endpoint: "https://w.example/mcp" },
  ...{ requested: [], granted: [], wanted: [], generation: 1, isRenewable: true },
  ...{ isRepeatable: false, obtainedAt: 1, failures: 0, connectedAt: 1 },
};

test("an account has the time since which it is as it is", async ({ expect }) => {
  await withSql(({ sql, clock }) => {
    const accounts = new Accounts(sql, () => clock.now);
    const kept = (): Account => accounts.find("wiki")?.account ?? ACCOUNT;
    accounts.put(ACCOUNT, "sealed");
    clock.now += 1000;
    accounts.change({ ...kept(), usedAt: clock.now });
    expect(summaryOf(kept())).toMatchObject({ state: "connected", since: START });

    accounts.change(sent(kept(), "nonce", clock.now));
    clock.now += 1000;
    accounts.change(denied(kept(), "ended"));
    clock.now += 1000;
    accounts.change({ ...kept(), failures: 1 });
    expect(summaryOf(kept())).toMatchObject({ state: "needs-connect", since: START + 2000 });
  });
});

test("a row of an earlier version says nothing of it, and is read", async ({ expect }) => {
  await withSql(({ sql, clock }) => {
    const accounts = new Accounts(sql, () => clock.now);
    const facts = JSON.stringify(ACCOUNT);
    sql.exec("INSERT INTO accounts_1 (slug, facts, sealed) VALUES ('wiki', ?, 'sealed')", facts);
    const account = accounts.find("wiki")?.account;
    expect(account).toEqual(ACCOUNT);
    expect(summaryOf(account ?? ACCOUNT)).not.toHaveProperty("since");
  });
});
