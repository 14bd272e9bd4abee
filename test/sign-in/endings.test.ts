/** The events that end a user's access end all of it, and other events end nothing. */

import { describe, test } from "vitest";

import { post } from "../integration/client.ts";
import { within } from "../integration/bounded.ts";
import { ask, connect, isGood, newClient, refreshing, statusAndError } from "./codes.ts";
import { passTime } from "./clock.ts";
import { fromElsewhere } from "./context.ts";
import { ORIGIN } from "./gateway.ts";
import { endSignIn, newOwner } from "./owners.ts";
import { as, type Person } from "./people.ts";
import { Visitor } from "./visitor.ts";

const PING = { jsonrpc: "2.0", id: 1, method: "ping" };
const DAY_MS = 86_400_000;

/** @returns whether an API key is valid where its record is. */
async function isKeyGood({ shard }: Person, token: string): Promise<boolean> {
  return (await shard.bearers.check(ORIGIN, `${ORIGIN}/mcp/alpha`, token)) !== undefined;
}

describe("a provider that ends the sign-in", () => {
  test("ends the applications, keys and browsers as well", async ({ expect }) => {
    const person = await newOwner();
    const [one, other] = [await connect({ person }), await connect({ person })];
    const key = await person.key();
    const visitor = await Visitor.as(person);
    expect(await isKeyGood(person, key.token)).toBe(true);
    expect((await visitor.visit("/account")).url.pathname).toBe("/account");

    await endSignIn(person);
    const refused = await ask(refreshing(one, one.tokens.refresh_token));
    expect(await statusAndError(refused)).toEqual([400, "invalid_grant"]);
    expect(await isGood(other.tokens.access_token)).toBe(false);
    expect(await isKeyGood(person, key.token)).toBe(false);
    expect((await visitor.visit("/account")).url.pathname).not.toBe("/account");
  });

  test("ends an API key that was made long ago by its first use", async ({ expect }) => {
    const person = await newOwner();
    const key = await person.key({ expiresAt: Date.now() + 30 * DAY_MS });
    await endSignIn(person);
    passTime(DAY_MS);
    let isGood = await isKeyGood(person, key.token);
    for (let n = 0; isGood && n < 100; n++) isGood = await isKeyGood(person, key.token);
    expect(isGood).toBe(false);
  });

  test("ends an API key within a day of its use", async ({ expect }) => {
    const person = await newOwner();
    const key = await person.key({ expiresAt: Date.now() + 30 * DAY_MS });
    expect(await isKeyGood(person, key.token)).toBe(true);
    await endSignIn(person);
    expect(await isKeyGood(person, key.token)).toBe(true);
    passTime(DAY_MS);
    await isKeyGood(person, key.token);
    await within(
      (async () => {
        while (await isKeyGood(person, key.token));
      })(),
      "the end of the key",
    );
  });
});

test("a user who is enabled again starts without earlier access", async ({ expect }) => {
  const person = await newOwner();
  const connection = await connect({ person });
  const key = await person.key();
  await person.shard.setDisabled(person.id, true);
  await person.shard.setDisabled(person.id, false);
  expect(await isGood(connection.tokens.access_token)).toBe(false);
  expect(await isKeyGood(person, key.token)).toBe(false);
  const refused = await ask(refreshing(connection, connection.tokens.refresh_token));
  expect(await statusAndError(refused)).toEqual([400, "invalid_grant"]);
});

test("a user of a provider that is no longer configured is signed out", async ({ expect }) => {
  const person = await newOwner();
  const key = await person.key();
  await person.shard.users.change(person.id, { provider: "gone" });
  expect(await isKeyGood(person, key.token)).toBe(false);
});

test("a server that has the name of an HTTP+SSE path is requested under its own name", async ({
  expect,
}) => {
  const person = await newOwner();
  const { tokens } = await connect({ person });
  const response = await post(`${ORIGIN}/mcp/message`, PING, as(tokens.access_token));
  expect(response.status).toBe(404);
});

test("another site cannot sign a user out", async ({ expect }) => {
  const answer = await post(`${ORIGIN}/logout`, "", {
    ...{ "Content-Type": "application/x-www-form-urlencoded", Accept: "text/html" },
    ...{ Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site", ...fromElsewhere() },
  });
  expect([answer.status, answer.headers.get("set-cookie")]).toEqual([403, null]);
  expect(answer.headers.has("clear-site-data")).toBe(false);
});

test("a broken Authorization header is not read", async ({ expect }) => {
  const { client_id: client } = await newClient();
  const headers = { Authorization: `Basic ${btoa(`${client}:`).slice(0, 4)}\f${btoa("x")}` };
  const response = await ask({ grant_type: "authorization_code", code: "x" }, headers).catch(
    () => undefined,
  );
  // What no header can carry does not even get out; what can is refused here.
  if (response !== undefined)
    expect(await statusAndError(response)).toEqual([401, "invalid_client"]);
  const odd = await ask({ grant_type: "refresh_token" }, { Authorization: "Basic !!!!" });
  expect(await statusAndError(odd)).toEqual([401, "invalid_client"]);
});

test.for(["/.//evil.example/x", "/x/..//evil.example", "/%2e//evil.example", "//evil.example"])(
  "a sign-in redirects to no other host: %s",
  async (to, { expect }) => {
    const visitor = await Visitor.as(await newOwner());
    const page = await visitor.visit(`/login?to=${encodeURIComponent(to)}`);
    expect(page.url.origin).toBe(ORIGIN);
    expect(page.left).toBeUndefined();
    expect(page.url.pathname).toBe("/account");
  },
);
