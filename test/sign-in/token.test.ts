/** The token endpoint: a code for tokens, once, for the client that it was issued to. */

import { describe, test } from "vitest";

import { newSecret, REDIRECT_URI, tokensIn } from "../support/oauth-requests.ts";
import { DAY, passTime, SECOND } from "./clock.ts";
import {
  ask,
  basic,
  connect,
  eventsOf,
  isGood,
  newClient,
  newCode,
  refreshing,
  statusAndError,
} from "./codes.ts";
import { ORIGIN } from "./gateway.ts";
import { Person } from "./people.ts";

const CONFIDENTIAL = {
  redirect_uris: [REDIRECT_URI],
  token_endpoint_auth_method: "client_secret_basic",
};

describe("a code", () => {
  test("B60: is redeemed", async ({ expect }) => {
    const { form, person, client } = await newCode();
    const response = await ask({ ...form, resource: `${ORIGIN}/mcp` });
    expect([response.status, ...[...response.headers].map(([, value]) => value)]).toEqual([
      ...[200, "no-store", "application/json", "no-cache"],
    ]);
    const tokens = await tokensIn(response);
    expect(tokens).toEqual({
      ...{ access_token: expect.any(String), refresh_token: expect.any(String) },
      ...{ token_type: "bearer", expires_in: 3600, scope: "mcp", resource: `${ORIGIN}/mcp` },
    });
    expect(await isGood(tokens.access_token)).toBe(true);
    expect(await person.shard.grants.list(person.id)).toMatchObject([
      { client, name: "Test client", resource: `${ORIGIN}/mcp`, redirectUri: REDIRECT_URI },
    ]);
    expect(await eventsOf(person)).toEqual(["grant_created"]);
  });

  test.for(["", "/", "/mcp/", "/sse", "/sse/"])(
    "B38a: is redeemed for the resource spelt as the origin and %j",
    async (path, { expect }) => {
      const { form } = await newCode();
      const { resource } = await tokensIn(await ask({ ...form, resource: ORIGIN + path }));
      expect(resource).toBe(`${ORIGIN}/mcp`);
    },
  );

  test("B68: is not redeemed for another resource", async ({ expect }) => {
    const { form } = await newCode();
    for (const resource of [
      `${ORIGIN}/mcp/alpha`,
      `${ORIGIN}/mcp/nobody`,
      "https://a.example/mcp",
    ]) {
      expect(await statusAndError(await ask({ ...form, resource }))).toEqual([
        400,
        "invalid_target",
      ]);
    }
    expect((await ask(form)).status).toBe(200);
  });

  test("for one server gives no token for another", async ({ expect }) => {
    const { tokens } = await connect({ path: "/mcp/alpha", scopes: ["mcp:alpha"] });
    const paths = ["/mcp/alpha", "/mcp", "/mcp/beta", "/admin"];
    const good = await Promise.all(paths.map((path) => isGood(tokens.access_token, path)));
    expect(good).toEqual([true, false, false, false]);
  });

  test("B61: stays valid after a wrong verifier, but not after five", async ({ expect }) => {
    const { form, person } = await newCode();
    const wrong = async (): Promise<unknown> =>
      statusAndError(await ask({ ...form, code_verifier: newSecret() }));
    for (let n = 0; n < 4; n++) expect(await wrong()).toEqual([400, "invalid_grant"]);
    expect((await ask(form)).status).toBe(200);

    const other = await newCode({ person });
    for (let n = 0; n < 5; n++) await ask({ ...other.form, code_verifier: newSecret() });
    expect(await statusAndError(await ask(other.form))).toEqual([400, "invalid_grant"]);
    expect(await eventsOf(person)).toEqual(["grant_created", "denied"]);
  });

  test("stays valid when a client without it guesses, however often", async ({ expect }) => {
    const { form, person, grant, code: whole } = await newCode();
    const guess = `${person.id}:${grant}:${"x".repeat(32)}`;
    const part = { ...form, code: whole.slice(0, -1) };
    expect(await statusAndError(await ask(part))).toEqual([400, "invalid_grant"]);
    for (let n = 0; n < 8; n++) {
      expect(await statusAndError(await ask({ ...form, code: guess }))).toEqual([
        400,
        "invalid_grant",
      ]);
    }
    const { access_token } = await tokensIn(await ask(form));
    for (let n = 0; n < 8; n++) await ask({ ...form, code: guess });
    expect(await isGood(access_token)).toBe(true);
  });

  test("B62: needs a verifier of 43 to 128 characters", async ({ expect }) => {
    const { form } = await newCode();
    const verifiers = [undefined, "", "x".repeat(42), "x".repeat(129), `${"x".repeat(42)}!`];
    for (const code_verifier of verifiers) {
      expect(await statusAndError(await ask({ ...form, code_verifier }))).toEqual([
        400,
        "invalid_request",
      ]);
    }
    const secret = await newClient(CONFIDENTIAL);
    const withSecret = await newCode({ client: secret.client_id });
    const without = { ...withSecret.form, client_id: undefined, code_verifier: undefined };
    const header = basic(secret.client_id, secret.client_secret);
    expect(await statusAndError(await ask(without, header))).toEqual([400, "invalid_request"]);
    expect((await ask({ ...withSecret.form, client_id: undefined }, header)).status).toBe(200);
  });

  test("B63: needs the redirect URI of the request, if any", async ({ expect }) => {
    const { form } = await newCode();
    for (const redirect_uri of ["https://a.example/cb", "http://127.0.0.1:10/cb"]) {
      expect(await statusAndError(await ask({ ...form, redirect_uri }))).toEqual([
        400,
        "invalid_grant",
      ]);
    }
    expect((await ask({ ...form, redirect_uri: undefined })).status).toBe(200);
  });

  test("B64: is refused to another client, and stays valid", async ({ expect }) => {
    const { form } = await newCode();
    const { client_id, client_secret } = await newClient(CONFIDENTIAL);
    const other = { ...form, client_id: undefined };
    const header = basic(client_id, client_secret);
    expect(await statusAndError(await ask(other, header))).toEqual([400, "invalid_grant"]);
    expect((await ask(form)).status).toBe(200);
  });

  test("B65: that is used again revokes the tokens that it gave", async ({ expect }) => {
    const code = await connect();
    const { form, tokens, person } = code;
    expect(await isGood(tokens.access_token)).toBe(true);
    expect(await statusAndError(await ask(form))).toEqual([400, "invalid_grant"]);
    expect(await isGood(tokens.access_token)).toBe(false);
    const refreshed = await ask(refreshing(code, tokens.refresh_token));
    expect(await statusAndError(refreshed)).toEqual([400, "invalid_grant"]);
    expect(await eventsOf(person)).toEqual(["grant_created", "code_reuse"]);
    expect(await person.shard.grants.list(person.id)).toEqual([]);
  });

  test("B66: is redeemed once by 64 concurrent requests", async ({ expect }) => {
    const { form } = await newCode();
    const answers = await Promise.all(Array.from({ length: 64 }, () => ask(form)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, ...Array<number>(63).fill(400)]);
  });

  test("B66: is redeemed once, however the request is written", async ({ expect }) => {
    const { form, code, verifier, client } = await newCode();
    const others = [
      { ...form, refresh_token: code, token: code },
      { code_verifier: verifier, client_id: client, code, grant_type: "authorization_code" },
      { ...form, resource: ORIGIN },
      { ...form, scope: "mcp", refresh_token: `other:${"g".repeat(16)}:${"x".repeat(32)}` },
      { ...form, extra: "1" },
    ];
    const answers = await Promise.all([...others, ...others, ...others].map((one) => ask(one)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test("B67, B113: lasts two minutes", async ({ expect }) => {
    // The clock stands, so that only the time counts that is let pass.
    passTime(0);
    const [early, late] = await Promise.all([newCode(), newCode()]);
    passTime(119 * SECOND);
    expect((await ask(early.form)).status).toBe(200);
    passTime(2 * SECOND);
    expect(await statusAndError(await ask(late.form))).toEqual([400, "invalid_grant"]);
  });

  test("of a user who was disabled meanwhile gives no token", async ({ expect }) => {
    const { form, person } = await newCode();
    await person.shard.setDisabled(person.id, true);
    expect(await statusAndError(await ask(form))).toEqual([400, "invalid_grant"]);
    await person.shard.setDisabled(person.id, false);
    expect(await statusAndError(await ask(form))).toEqual([400, "invalid_grant"]);
    expect(await eventsOf(person)).toEqual([]);
  });

  test("of an application that was disconnected meanwhile gives no token", async ({ expect }) => {
    const { form, person, client } = await newCode();
    await person.shard.grants.revokeAll(person.id, client);
    expect(await statusAndError(await ask(form))).toEqual([400, "invalid_grant"]);
  });

  test("B113: gives an access token that lasts as long as `expires_in` announces", async ({
    expect,
  }) => {
    const { tokens } = await connect();
    passTime(tokens.expires_in * SECOND - 1500);
    expect(await isGood(tokens.access_token)).toBe(true);
    passTime(3000);
    expect(await isGood(tokens.access_token)).toBe(false);
  });
});

describe("an application of one user", () => {
  test("keeps its ten newest sign-ins", async ({ expect }) => {
    const person = await Person.signIn();
    const { client_id: client } = await newClient();
    const all: string[] = [];
    for (let n = 0; n < 12; n++) {
      const { tokens } = await connect({ person, client });
      all.push(tokens.access_token);
      expect(await isGood(tokens.access_token)).toBe(true);
    }
    const good = await Promise.all(all.map((token) => isGood(token)));
    expect(good.filter(Boolean)).toHaveLength(10);
    // Other resources and other applications are counted for themselves.
    const other = await connect({ person, client, path: "/mcp/alpha", scopes: ["mcp:alpha"] });
    expect(await isGood(other.tokens.access_token, "/mcp/alpha")).toBe(true);
    expect(await person.shard.grants.list(person.id)).toHaveLength(11);
  });

  test("B50: keeps its token while another sign-in of it is under way", async ({ expect }) => {
    const { person, client, tokens } = await connect();
    const { form } = await newCode({ person, client });
    expect(await isGood(tokens.access_token)).toBe(true);
    expect((await ask(form)).status).toBe(200);
    expect(await isGood(tokens.access_token)).toBe(true);
  });
});

describe("a registration", () => {
  test("is kept for as long as tokens are issued to it", async ({ expect }) => {
    const used = await connect();
    const { client_id: unused } = await newClient();
    passTime(2 * DAY);
    expect(await statusAndError(await ask({ client_id: unused, token: "x" }))).toEqual([
      401,
      "invalid_client",
    ]);
    const again = await tokensIn(await ask(refreshing(used, used.tokens.refresh_token)));
    passTime(29 * DAY);
    let more = await tokensIn(await ask(refreshing(used, again.refresh_token)));
    passTime(29 * DAY);
    more = await tokensIn(await ask(refreshing(used, more.refresh_token)));
    for (let n = 0; n < 3; n++) {
      passTime(29 * DAY);
      // A request that brings no token keeps it no longer, and no shorter either.
      expect((await ask({ client_id: used.client, token: "x" })).status).toBe(200);
    }
    const dead = await ask(refreshing(used, more.refresh_token));
    expect(await statusAndError(dead)).toEqual([400, "invalid_grant"]);
    expect((await ask({ client_id: used.client, token: "x" })).status).toBe(200);
    passTime(10 * DAY);
    expect(await statusAndError(await ask({ client_id: used.client, token: "x" }))).toEqual([
      ...[401, "invalid_client"],
    ]);
  });

  test("is not kept by revocations of unknown tokens", async ({ expect }) => {
    const { client_id } = await newClient();
    const token = `${(await Person.signIn()).id}:${"g".repeat(16)}:${"x".repeat(32)}`;
    passTime(DAY / 2);
    expect((await ask({ client_id, token })).status).toBe(200);
    expect((await ask({ client_id, token: "x" })).status).toBe(200);
    passTime(DAY / 2 + 60 * SECOND);
    expect(await statusAndError(await ask({ client_id, token }))).toEqual([401, "invalid_client"]);
  });
});
