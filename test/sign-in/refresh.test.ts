/**
 * Refresh tokens: each is replaced when it is used, and no honest client loses its sign-in by that.
 */

import { describe, test } from "vitest";

import { REDIRECT_URI, type Tokens, tokensIn } from "../support/oauth-requests.ts";
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
import { endSignIn, newOwner } from "./owners.ts";
import { SOMEBODY } from "./people.ts";
import { refresh, refusal, REFUSED, WINDOW } from "./refreshes.ts";
import { restartShardOf } from "./restart-shard.ts";

describe("a refresh", () => {
  test("B70: returns new tokens, and the earlier access token stays valid until it expires", async ({
    expect,
  }) => {
    const application = await connect();
    const { tokens, person } = application;
    const response = await ask(refreshing(application, tokens.refresh_token));
    expect(response.headers.get("cache-control")).toBe("no-store");
    const refreshed = await tokensIn(response);
    expect(refreshed).toEqual({
      ...{ access_token: expect.any(String), refresh_token: expect.any(String) },
      ...{ token_type: "bearer", expires_in: 3600, scope: "mcp", resource: `${ORIGIN}/mcp` },
    });
    expect(refreshed.refresh_token).not.toBe(tokens.refresh_token);
    const both = [refreshed.access_token, tokens.access_token];
    expect(await Promise.all(both.map((token) => isGood(token)))).toEqual([true, true]);
    expect(await eventsOf(person)).toEqual(["grant_created", "token_refreshed"]);
  });

  test.for([6, 64])(
    "B71: that is sent %i times at once returns one new token",
    async (count, { expect }) => {
      const application = await connect();
      const form = refreshing(application, application.tokens.refresh_token);
      const answers = await Promise.all(Array.from({ length: count }, () => ask(form)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      const bodies = new Set(await Promise.all(answers.map((answer) => answer.text())));
      expect(bodies.size).toBe(1);
      const tokens = JSON.parse([...bodies].join("")) as Tokens;
      expect(await isGood(tokens.access_token)).toBe(true);
      expect(await isGood((await refresh(application, tokens)).access_token)).toBe(true);
    },
  );

  test("is the same request in any order and any spelling of its resource", async ({ expect }) => {
    const { client, tokens } = await connect();
    const { refresh_token } = tokens;
    const answers = [
      { grant_type: "refresh_token", refresh_token, client_id: client, resource: `${ORIGIN}/mcp` },
      { resource: ORIGIN, client_id: client, refresh_token, grant_type: "refresh_token", x: "1" },
    ].map(async (form) => tokensIn(await ask(form)));
    const [one, other] = await Promise.all(answers);
    expect(other).toEqual(one);
  });

  test("late in the window returns the newest tokens", async ({ expect }) => {
    const application = await connect();
    const first = await refresh(application, application.tokens);
    const second = await refresh(application, first);
    const third = await refresh(application, second);
    expect(await refresh(application, application.tokens)).toEqual(third);
    passTime(WINDOW);
    expect(await isGood((await refresh(application, third)).access_token)).toBe(true);
  });

  test("returns no token that was replaced since", async ({ expect }) => {
    const application = await connect();
    const first = await refresh(application, application.tokens);
    const scoped = async ({ refresh_token }: Tokens): Promise<Tokens> =>
      tokensIn(await ask({ ...refreshing(application, refresh_token), scope: "mcp" }));
    const newest = await scoped(await scoped(first));
    expect(await isGood(first.access_token)).toBe(true);
    const late = await refresh(application, application.tokens);
    expect(late.refresh_token).toBe(newest.refresh_token);
    expect(await eventsOf(application.person)).not.toContain("refresh_reuse");
  });

  test("B75: whose response was lost can be sent again", async ({ expect }) => {
    const application = await connect();
    const lost = await refresh(application, application.tokens);
    passTime(WINDOW);
    const again = await refresh(application, application.tokens);
    expect(again.refresh_token).not.toBe(lost.refresh_token);
    expect(await isGood((await refresh(application, again)).access_token)).toBe(true);
  });

  test("B112: continues when its object is restarted meanwhile", async ({ expect }) => {
    const code = await newCode();
    const application = { ...code, tokens: await tokensIn(await ask(code.form)) };
    await restartShardOf(application.person.id);
    const first = await refresh(application, application.tokens);
    await restartShardOf(application.person.id);
    const again = await refresh(application, application.tokens);
    expect(again).toEqual(first);
    await restartShardOf(application.person.id);
    expect(await isGood((await refresh(application, again)).access_token)).toBe(true);
    passTime(WINDOW);
    await restartShardOf(application.person.id);
    expect(await refusal(application, application.tokens)).toEqual(REFUSED);
    expect(await refusal(application, again)).toEqual(REFUSED);
  });

  test("B112: leaves two processes signed in between whose refreshes its object slept", async ({
    expect,
  }) => {
    const application = await connect({ scopes: ["mcp", "mcp:alpha"] });
    const one = await refresh(application, application.tokens);
    await restartShardOf(application.person.id);
    passTime(12 * SECOND);
    const other = await refresh(application, application.tokens);
    expect(other.refresh_token).toBe(one.refresh_token);
    const narrow = { ...refreshing(application, application.tokens.refresh_token), scope: "mcp" };
    expect((await tokensIn(await ask(narrow))).refresh_token).toBe(one.refresh_token);
    passTime(WINDOW);
    expect(await isGood((await refresh(application, one)).access_token)).toBe(true);
    expect(await isGood((await refresh(application, other)).access_token)).toBe(true);
    expect(await eventsOf(application.person)).not.toContain("refresh_reuse");
  });

  test("B112: follows a code that is redeemed after its object was restarted", async ({
    expect,
  }) => {
    const code = await newCode();
    await restartShardOf(code.person.id);
    expect((await ask(code.form)).status).toBe(200);
  });
});

describe("only a refresh token gives the right to refresh:", () => {
  test("B73: only to the client that the token was issued to", async ({ expect }) => {
    const application = await connect();
    const { client_id: other } = await newClient();
    const { refresh_token } = application.tokens;
    expect(await statusAndError(await ask(refreshing({ client: other }, refresh_token)))).toEqual(
      REFUSED,
    );
    expect(
      await statusAndError(await ask(refreshing({ client: "nobody" }, refresh_token))),
    ).toEqual([...[401, "invalid_client"]]);
    expect((await ask(refreshing(application, refresh_token))).status).toBe(200);
  });

  test("B73: a client with a secret gets no response without that secret", async ({ expect }) => {
    const { client_id: id, client_secret: secret } = await newClient({
      redirect_uris: [REDIRECT_URI],
      token_endpoint_auth_method: "client_secret_post",
    });
    const code = await newCode({ client: id });
    const { refresh_token } = await tokensIn(await ask({ ...code.form, client_secret: secret }));
    const form = refreshing({ client: id }, refresh_token);
    const areRefused = async (): Promise<void> => {
      for (const wrong of [form, { ...form, client_secret: "wrong" }]) {
        expect(await statusAndError(await ask(wrong))).toEqual([401, "invalid_client"]);
      }
    };
    await areRefused();
    expect((await ask({ ...form, client_secret: secret })).status).toBe(200);
    await areRefused();
  });

  test("an access token, a code or a part of one is not accepted", async ({ expect }) => {
    const application = await connect();
    const { access_token, refresh_token } = application.tokens;
    for (const wrong of [access_token, application.code, refresh_token.slice(0, -1)]) {
      expect(await statusAndError(await ask(refreshing(application, wrong)))).toEqual(REFUSED);
    }
    expect((await ask(refreshing(application, refresh_token))).status).toBe(200);
  });

  test("another parameter never adds access", async ({ expect }) => {
    const application = await connect();
    const bystander = await newCode();
    // A code beside it must not lead the request to where that code's grant is.
    const form = {
      ...refreshing(application, application.tokens.refresh_token),
      code: bystander.code,
      token: bystander.code,
    };
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(form)));
    const bodies = await Promise.all(answers.map((answer) => answer.text()));
    expect(new Set(bodies).size).toBe(1);
  });

  test("a user who was disabled cannot refresh, even within the window", async ({ expect }) => {
    const application = await connect();
    const { person, tokens } = application;
    await refresh(application, tokens);
    await person.shard.setDisabled(person.id, true);
    expect(await refusal(application, tokens)).toEqual(REFUSED);
    await person.shard.setDisabled(person.id, false);
    expect(await refusal(application, tokens)).toEqual(REFUSED);
  });

  test("a user who was signed out by the provider cannot refresh", async ({ expect }) => {
    const application = await connect();
    const { person, tokens } = application;
    const second = await refresh(application, tokens);
    await endSignIn(person);
    passTime(61 * SECOND);
    expect(await refusal(application, second)).toEqual(REFUSED);
    expect(await isGood(second.access_token)).toBe(false);
    expect(await eventsOf(person)).toContain("provider_ended");
  });

  test("a token that was not used for a month has expired", async ({ expect }) => {
    const application = await connect();
    passTime(29 * DAY);
    const second = await refresh(application, application.tokens);
    passTime(30 * DAY);
    expect(await refusal(application, second)).toEqual(REFUSED);
  });
});

describe("the scopes of a refresh", () => {
  const SCOPES = ["mcp", "mcp:alpha"];

  test("B74: may be fewer, and never more", async ({ expect }) => {
    const application = await connect({ scopes: SCOPES });
    let { refresh_token } = application.tokens;
    const scopeFor = async (scope: string): Promise<string> => {
      const tokens = await tokensIn(
        await ask({ ...refreshing(application, refresh_token), scope }),
      );
      ({ refresh_token } = tokens);
      return tokens.scope;
    };
    expect(await scopeFor("mcp:alpha")).toBe("mcp:alpha");
    expect(await scopeFor("mcp:alpha mcp:beta admin")).toBe("mcp:alpha");
    expect(await scopeFor("mcp mcp:alpha")).toBe("mcp mcp:alpha");
    for (const scope of ["admin", "mcp:beta", "nothing"]) {
      const response = await ask({ ...refreshing(application, refresh_token), scope });
      expect(await statusAndError(response)).toEqual([400, "invalid_scope"]);
    }
  });

  test("B77a: follow the role of the user", async ({ expect }) => {
    const person = await newOwner();
    const application = await connect({ person, path: "/admin", scopes: ["admin"] });
    expect(application.tokens.scope).toBe("admin");
    const code = await newCode({ person, path: "/admin", scopes: ["admin"] });
    // Known by a provider whose list of administrators they are not on.
    await person.shard.users.change(person.id, { ...SOMEBODY, subject: person.id });
    const { access_token: token } = application.tokens;
    const bearer = await person.shard.bearers.check(ORIGIN, `${ORIGIN}/admin`, token);
    expect(bearer?.scopes).toEqual([]);
    expect(await statusAndError(await ask(code.form))).toEqual([400, "invalid_scope"]);
  });
});
