/** Great numbers: of sign-ins at once, and of applications that register and never come back. */

import { describe, test } from "vitest";

import { inParallel } from "../support/in-parallel.ts";
import { PUBLIC_CLIENT, tokensIn } from "../support/oauth-requests.ts";
import { clientRow } from "./client-rows.ts";
import { ask, connect, isGood, newClient, newCode, refreshing } from "./codes.ts";
import { fromElsewhere } from "./context.ts";
import { gateway, ORIGIN } from "./gateway.ts";
import { newOwner } from "./owners.ts";

describe("1,000 times,", () => {
  test("a code is issued and redeemed, and its token used, at once", async ({ expect }) => {
    const { client_id: client } = await newClient();
    const people = await inParallel(50, 10, () => newOwner());
    const outcomes = await inParallel(1000, 20, async (index) => {
      const person = people[index % people.length];
      if (person === undefined) return "nobody";
      const { form } = await newCode({ person, client });
      const response = await ask(form);
      if (response.status !== 200) return await response.text();
      const { access_token } = await tokensIn(response);
      return (await isGood(access_token)) ? "good" : "not good";
    });
    expect(new Set(outcomes)).toEqual(new Set(["good"]));
  }, 600_000);
});

function registerFrom(address: ReturnType<typeof fromElsewhere>): Promise<Response> {
  return gateway.send(`${ORIGIN}/register`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...address },
    body: JSON.stringify(PUBLIC_CLIENT),
  });
}

describe("10,000 registrations", () => {
  const FLOOD = 10_000;

  test("are accepted slowly, stay small, and do not affect existing clients", async ({
    expect,
  }) => {
    const application = await connect();
    const address = fromElsewhere();
    const startedAt = Date.now();
    const answers = await inParallel(FLOOD, 50, async () => (await registerFrom(address)).status);
    const taken = answers.filter((status) => status === 201).length;
    // 20 at once, and 20 in each minute that this takes.
    expect(taken).toBeGreaterThanOrEqual(20);
    expect(taken).toBeLessThanOrEqual(21 + (20 * (Date.now() - startedAt)) / 60_000);
    expect(answers.filter((status) => status === 429)).toHaveLength(FLOOD - taken);
    const { refresh_token } = application.tokens;
    expect((await ask(refreshing(application, refresh_token))).status).toBe(200);
  }, 600_000);

  test("from as many addresses are kept for a day, and block no other client", async ({
    expect,
  }) => {
    const application = await connect();
    const ids = await inParallel(1000, 50, async () => (await newClient()).client_id);
    expect(new Set(ids).size).toBe(1000);
    const { bytes, expires } = await clientRow(ids[0] ?? "");
    expect(bytes).toBeLessThan(600);
    expect(expires).toBeLessThan(Date.now() / 1000 + 25 * 3600);
    const { refresh_token } = application.tokens;
    expect((await ask(refreshing(application, refresh_token))).status).toBe(200);
    const { tokens } = await connect({ client: ids.at(-1) ?? "" });
    expect(await isGood(tokens.access_token)).toBe(true);
  }, 600_000);
});
