/** A refresh token that comes back after it was replaced: two have it, and one of them is a thief. */

import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, test } from "vitest";

import { grantKey } from "../../src/auth/oauth/grants/grant-record.ts";
import { Grants } from "../../src/auth/oauth/grants/grants.ts";
import { KvRows } from "../../src/auth/store/kv-rows.ts";
import { shardName } from "../../src/auth/store/shards.ts";
import { REDIRECT_URI, tokensIn } from "../support/oauth-requests.ts";
import { DAY, passTime, SECOND } from "./clock.ts";
import {
  ask,
  connect,
  eventsOf,
  isGood,
  newClient,
  newCode,
  refreshing,
  statusAndError,
} from "./codes.ts";
import { ORIGIN } from "./gateway.ts";
import { refresh, refusal, REFUSED, WINDOW } from "./refreshes.ts";
import { restartShardOf } from "./restart-shard.ts";

describe("a refresh token that was replaced", () => {
  test("B72: ends the family when it is used again", async ({ expect }) => {
    const application = await connect();
    const second = await refresh(application, application.tokens);
    const third = await refresh(application, second);
    const fourth = await refresh(application, third);
    passTime(WINDOW);
    expect(await refusal(application, application.tokens)).toEqual(REFUSED);
    expect(await refusal(application, third)).toEqual(REFUSED);
    expect(await refusal(application, fourth)).toEqual(REFUSED);
    expect(await isGood(fourth.access_token)).toBe(false);
    expect(await eventsOf(application.person)).toEqual([
      ...["grant_created", "token_refreshed", "token_refreshed", "token_refreshed"],
      "refresh_reuse",
    ]);
  });

  test("reveals a thief who uses it first when the owner does", async ({ expect }) => {
    const application = await connect();
    const stolen = application.tokens;
    const thief = await refresh(application, stolen);
    passTime(WINDOW);
    const thiefsNext = await refresh(application, thief);
    // The owner has not refreshed yet, and comes with the token that the thief copied.
    expect(await refusal(application, stolen)).toEqual(REFUSED);
    expect(await refusal(application, thiefsNext)).toEqual(REFUSED);
    const all = [stolen, thief, thiefsNext].map(({ access_token }) => isGood(access_token));
    expect(await Promise.all(all)).toEqual([false, false, false]);
  });

  test("reveals a thief who uses it second at once", async ({ expect }) => {
    const application = await connect();
    const stolen = application.tokens;
    const owners = await refresh(application, await refresh(application, stolen));
    passTime(WINDOW);
    expect(await refusal(application, stolen)).toEqual(REFUSED);
    expect(await isGood(owners.access_token)).toBe(false);
  });

  test("ends at the owner's next refresh when a thief uses it in between", async ({ expect }) => {
    const application = await connect();
    const owners = await refresh(application, application.tokens);
    passTime(WINDOW);
    // Good for once more, since the owner's new one was never used: an answer may have been lost.
    const thiefs = await refresh(application, application.tokens);
    expect(await refusal(application, owners)).toEqual(REFUSED);
    expect(await refusal(application, thiefs)).toEqual(REFUSED);
    expect(await isGood(thiefs.access_token)).toBe(false);
  });

  test("ends the family also when its object was restarted, and half a year is nearly over", async ({
    expect,
  }) => {
    const application = await connect();
    let tokens = await refresh(application, application.tokens);
    for (let month = 0; month < 6; month++) {
      passTime(29 * DAY);
      tokens = await refresh(application, tokens);
    }
    await restartShardOf(application.person.id);
    expect(await isGood(tokens.access_token)).toBe(true);
    expect(await refusal(application, application.tokens)).toEqual(REFUSED);
    expect(await isGood(tokens.access_token)).toBe(false);
  });

  test("is refused and ends nothing when a thousand were replaced after it", async ({ expect }) => {
    const application = await connect();
    const { person, grant, tokens } = application;
    const second = await refresh(application, tokens);
    const third = await refresh(application, second);
    passTime(WINDOW);
    const shard = env.AUTH.getByName(shardName("u", person.id));
    const owner = grantKey({ user: person.id, grant });
    await runInDurableObject(shard, (_, { storage }) => {
      const { retired } = new Grants(new KvRows(storage.sql), storage.sql);
      retired.retire(
        owner,
        Array.from({ length: 1010 }, (_hash, n) => `hash ${n}`),
      );
    });
    const fourth = await refresh(application, third);
    const newest = await refresh(application, fourth);
    passTime(WINDOW);
    expect(await refusal(application, tokens)).toEqual(REFUSED);
    expect(await isGood(newest.access_token)).toBe(true);
    const rows = await runInDurableObject(shard, (_, { storage: { sql } }) =>
      sql.exec("SELECT hash FROM retired_1 WHERE owner = ?", owner).toArray(),
    );
    expect(rows).toHaveLength(1000);
    // A token that was replaced a moment ago still reveals that two have it.
    expect(await refusal(application, third)).toEqual(REFUSED);
    expect(await isGood(newest.access_token)).toBe(false);
    expect(await eventsOf(person)).toContain("refresh_reuse");
  });

  test("ends nothing when another client sends it", async ({ expect }) => {
    const { client_id: id, client_secret: secret } = await newClient({
      redirect_uris: [REDIRECT_URI],
      token_endpoint_auth_method: "client_secret_post",
    });
    const code = await newCode({ client: id });
    const mine = { ...code.form, client_secret: secret };
    const tokens = await tokensIn(await ask(mine));
    const form = { grant_type: "refresh_token", client_id: id, client_secret: secret };
    const second = await tokensIn(await ask({ ...form, refresh_token: tokens.refresh_token }));
    const third = await tokensIn(await ask({ ...form, refresh_token: second.refresh_token }));
    passTime(WINDOW);
    const { client_id: other } = await newClient();
    const old = { grant_type: "refresh_token", refresh_token: tokens.refresh_token };
    expect(await statusAndError(await ask({ ...old, client_id: other }))).toEqual(REFUSED);
    expect(await statusAndError(await ask({ ...old, client_id: id }))).toEqual([
      401,
      "invalid_client",
    ]);
    expect(await statusAndError(await ask({ ...old, client_id: id, client_secret: "x" }))).toEqual([
      ...[401, "invalid_client"],
    ]);
    expect((await ask({ ...form, refresh_token: third.refresh_token })).status).toBe(200);
  });
});

describe("the same refresh token, a moment later and with other parameters,", () => {
  const SCOPES = ["mcp", "mcp:alpha"];

  test("returns a new access token, and the same refresh token as before", async ({ expect }) => {
    const application = await connect({ scopes: SCOPES });
    const { refresh_token: first } = application.tokens;
    const asked = refreshing(application, first);
    const wide = await tokensIn(await ask(asked));
    const narrow = await tokensIn(await ask({ ...asked, scope: "mcp:alpha" }));
    expect([wide.scope, narrow.scope]).toEqual(["mcp mcp:alpha", "mcp:alpha"]);
    expect(narrow.refresh_token).toBe(wide.refresh_token);
    expect(narrow.access_token).not.toBe(wide.access_token);
    const again = await tokensIn(await ask({ ...asked, scope: "mcp:alpha" }));
    expect(again).toEqual(narrow);
    passTime(WINDOW);
    const next = await refresh(application, narrow);
    const all = [wide, narrow, next].map(({ access_token }) => isGood(access_token));
    expect(await Promise.all(all)).toEqual([true, true, true]);
    expect(await eventsOf(application.person)).not.toContain("refresh_reuse");
  });

  test("returns the newest refresh token, when that has been used as well", async ({ expect }) => {
    const application = await connect({ scopes: SCOPES });
    const asked = refreshing(application, application.tokens.refresh_token);
    const third = await refresh(application, await tokensIn(await ask(asked)));
    const narrow = await tokensIn(await ask({ ...asked, scope: "mcp:alpha" }));
    const same = await tokensIn(await ask(asked));
    expect([narrow.refresh_token, same.refresh_token]).toEqual([
      third.refresh_token,
      third.refresh_token,
    ]);
    passTime(WINDOW);
    expect(await isGood((await refresh(application, third)).access_token)).toBe(true);
    expect(await isGood(narrow.access_token)).toBe(true);
  });

  test("is not accepted after the window, however often it is sent", async ({ expect }) => {
    const application = await connect({ scopes: SCOPES });
    const asked = refreshing(application, application.tokens.refresh_token);
    const second = await refresh(application, application.tokens);
    passTime(20 * SECOND);
    expect((await ask({ ...asked, scope: "mcp:alpha" })).status).toBe(200);
    const third = await refresh(application, second);
    passTime(20 * SECOND);
    // Two have it: who sends it within each window must not follow the family for ever.
    expect(await statusAndError(await ask({ ...asked, scope: "mcp" }))).toEqual(REFUSED);
    expect(await refusal(application, third)).toEqual(REFUSED);
    expect(await eventsOf(application.person)).toContain("refresh_reuse");
  });

  test("returns no more than was granted, and nothing to another application", async ({
    expect,
  }) => {
    const application = await connect({ scopes: ["mcp:alpha"], path: "/mcp/alpha" });
    const asked = refreshing(application, application.tokens.refresh_token);
    const second = await tokensIn(await ask(asked));
    const wider = await ask({ ...asked, scope: "mcp" });
    expect(await statusAndError(wider)).toEqual([400, "invalid_scope"]);
    const { client_id } = await newClient();
    expect(await statusAndError(await ask({ ...asked, client_id }))).toEqual([
      400,
      "invalid_grant",
    ]);
    const elsewhere = { ...asked, resource: `${ORIGIN}/mcp` };
    expect(await statusAndError(await ask(elsewhere))).toEqual([400, "invalid_target"]);
    expect((await refresh(application, second)).scope).toBe("mcp:alpha");
  });
});
