/** Tokens that are given back (RFC 7009), and grants that end. */

import { describe, test } from "vitest";

import { REDIRECT_URI, tokensIn } from "../support/oauth-requests.ts";
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
import { REFUSED } from "./refreshes.ts";
import { isRefused, statusWith } from "./token-use.ts";

describe("revocation", () => {
  test("B76: of a refresh token ends the grant, at once", async ({ expect }) => {
    const application = await connect();
    const { client, tokens, person } = application;
    const response = await ask({ token: tokens.refresh_token, client_id: client });
    expect([response.status, response.headers.get("cache-control"), await response.text()]).toEqual(
      [200, "no-store", ""],
    );
    expect(await isGood(tokens.access_token)).toBe(false);
    expect(await statusAndError(await ask(refreshing(application, tokens.refresh_token)))).toEqual(
      REFUSED,
    );
    expect(await eventsOf(person)).toEqual(["grant_created", "token_revoked"]);
  });

  test("B76: takes effect at the endpoint within seconds", async ({ expect }) => {
    const { client, tokens } = await connect({ path: "/mcp/alpha", scopes: ["mcp:alpha"] });
    expect(await statusWith(tokens.access_token)).toBe(200);
    expect((await ask({ token: tokens.refresh_token, client_id: client })).status).toBe(200);
    await isRefused(tokens.access_token);
  });

  test.for(["access_token", "refresh_token", "nonsense", undefined])(
    "of an access token ends only that token (hint: %s)",
    async (token_type_hint, { expect }) => {
      const application = await connect();
      const { client, tokens, person } = application;
      const second = await tokensIn(await ask(refreshing(application, tokens.refresh_token)));
      const form = { token: tokens.access_token, client_id: client, token_type_hint };
      expect((await ask(form)).status).toBe(200);
      const both = [tokens, second].map(({ access_token }) => isGood(access_token));
      expect(await Promise.all(both)).toEqual([false, true]);
      expect((await ask(refreshing(application, second.refresh_token))).status).toBe(200);
      expect((await eventsOf(person)).filter((event) => event === "token_revoked")).toHaveLength(1);
    },
  );

  test("of the previous refresh token ends the grant as well", async ({ expect }) => {
    const application = await connect();
    const second = await tokensIn(
      await ask(refreshing(application, application.tokens.refresh_token)),
    );
    await ask({ token: application.tokens.refresh_token, client_id: application.client });
    expect(await isGood(second.access_token)).toBe(false);
  });

  test("prevents the repetition of a recent answer", async ({ expect }) => {
    const application = await connect();
    const { client, tokens } = application;
    const again = refreshing(application, tokens.refresh_token);
    const second = await tokensIn(await ask(again));
    await ask({ token: second.refresh_token, client_id: client });
    expect(await statusAndError(await ask(again))).toEqual(REFUSED);
  });

  test("prevents the repetition of an access token that was revoked since", async ({ expect }) => {
    const application = await connect();
    const { client, tokens } = application;
    const again = refreshing(application, tokens.refresh_token);
    const second = await tokensIn(await ask(again));
    await ask({ token: second.access_token, client_id: client });
    const third = await tokensIn(await ask(again));
    expect(third.access_token).not.toBe(second.access_token);
    expect(await isGood(third.access_token)).toBe(true);
  });

  test("B77: of an unknown token succeeds", async ({ expect }) => {
    const { client_id } = await newClient();
    for (const token of [
      "bogus",
      "a:b:c",
      ":x:y",
      "edgeway_sk_x",
      `u_x:${"g".repeat(16)}:${"x".repeat(32)}`,
    ]) {
      expect([token, (await ask({ token, client_id })).status]).toEqual([token, 200]);
    }
  });

  test("B77: of another client's token changes nothing, and reveals nothing", async ({
    expect,
  }) => {
    const application = await connect();
    const { person, tokens } = application;
    const { client_id } = await newClient();
    for (const token of [tokens.access_token, tokens.refresh_token]) {
      const response = await ask({ token, client_id });
      expect([response.status, await response.text()]).toEqual([200, ""]);
    }
    expect(await isGood(tokens.access_token)).toBe(true);
    expect(await eventsOf(person)).toEqual(["grant_created"]);
    expect((await ask(refreshing(application, tokens.refresh_token))).status).toBe(200);
  });

  test("B77: without a client, or without its secret, revokes nothing", async ({ expect }) => {
    const { client_id, client_secret } = await newClient({
      redirect_uris: [REDIRECT_URI],
      token_endpoint_auth_method: "client_secret_post",
    });
    const { form } = await newCode({ client: client_id });
    const { access_token: token } = await tokensIn(await ask({ ...form, client_secret }));
    for (const wrong of [
      {},
      { client_id },
      { client_id, client_secret: "x" },
      { client_id: "x" },
    ]) {
      expect(await statusAndError(await ask({ token, ...wrong }))).toEqual([401, "invalid_client"]);
    }
    expect(await isGood(token)).toBe(true);
    await ask({ token, client_id, client_secret });
    expect(await isGood(token)).toBe(false);
  });

  test("without a token is an error", async ({ expect }) => {
    const { client_id } = await newClient();
    expect(await statusAndError(await ask({ client_id }))).toEqual([400, "unsupported_grant_type"]);
  });

  test("during a refresh invalidates everything of the grant", async ({ expect }) => {
    const application = await connect();
    const { client, tokens } = application;
    const [refreshed] = await Promise.all([
      ask(refreshing(application, tokens.refresh_token)),
      ask({ token: tokens.refresh_token, client_id: client }),
    ]);
    const after = refreshed.ok ? await tokensIn(refreshed) : tokens;
    expect(await isGood(after.access_token)).toBe(false);
    expect(await isGood(tokens.access_token)).toBe(false);
    expect(await statusAndError(await ask(refreshing(application, after.refresh_token)))).toEqual(
      REFUSED,
    );
  });
});

describe("a user can end", () => {
  test("B106: a grant, and its tokens with it", async ({ expect }) => {
    const application = await connect();
    const { person, grant, tokens } = application;
    const again = refreshing(application, tokens.refresh_token);
    await ask(again);
    expect(await person.shard.endGrant(person.id, grant)).toBe(true);
    expect(await isGood(tokens.access_token)).toBe(false);
    expect(await statusAndError(await ask(again))).toEqual(REFUSED);
    expect(await person.shard.endGrant(person.id, grant)).toBe(false);
  });

  test("all grants of an application, with the codes on their way", async ({ expect }) => {
    const { person, client, tokens } = await connect();
    const pending = await newCode({ person, client });
    const other = await connect({ person });
    const ended = await person.shard.grants.revokeAll(person.id, client);
    expect(ended).toHaveLength(2);
    expect(await isGood(tokens.access_token)).toBe(false);
    expect(await statusAndError(await ask(pending.form))).toEqual(REFUSED);
    expect(await isGood(other.tokens.access_token)).toBe(true);
  });

  test("everything", async ({ expect }) => {
    const one = await connect();
    const two = await connect({ person: one.person });
    const pending = await newCode({ person: one.person });
    await one.person.shard.revokeEverything(one.person.id);
    const good = [one, two].map(({ tokens }) => isGood(tokens.access_token));
    expect(await Promise.all(good)).toEqual([false, false]);
    expect(await statusAndError(await ask(pending.form))).toEqual(REFUSED);
  });

  test("an application for all users", async ({ expect }) => {
    // The second has an address that is too long to be kept beside its grant.
    const [short, long] = [REDIRECT_URI, `https://a.example/${"x".repeat(1500)}`];
    const { client_id: client } = await newClient({
      redirect_uris: [short, long],
      token_endpoint_auth_method: "none",
    });
    const [one, two] = await Promise.all([
      connect({ client }),
      connect({ client, redirectUri: long }),
    ]);
    const other = await connect({ person: one.person });
    for (const { person } of [one, two]) await person.shard.grants.revokeOfEverybody(client);
    const good = [one, two, other].map(({ tokens }) => isGood(tokens.access_token));
    expect(await Promise.all(good)).toEqual([false, false, true]);
  });
});
