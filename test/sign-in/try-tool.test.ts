/** A tool that is run from its page with sign-in: by the person alone, and with the account that is theirs. */

import { beforeAll, describe, inject, test } from "vitest";

import { changeConfiguration } from "../integration/configuration.ts";
import { setLimits } from "../integration/own-limits.ts";
import { Vendor } from "../support/vendor/vendor.ts";
import { connect } from "./connecting.ts";
import { gateway, ORIGIN } from "./gateway.ts";
import { activityOn, newSignIn, Visitor } from "./visitor.ts";

const TOOL = "/catalog/alpha/whoami";

let vendor: Vendor;
let alice: Visitor;
let bob: Visitor;

beforeAll(async () => {
  vendor = await Vendor.take(inject("vendors"));
  // Nothing is left out of a page because the machine is busy.
  setLimits({ catalogWaitMilliseconds: 60_000 });
  changeConfiguration({
    MCP_SERVERS: JSON.stringify({ alpha: { url: vendor.url, auth: "oauth" } }),
  });
  [alice, bob] = [await Visitor.arrive(), await Visitor.arrive()];
  await connect(vendor, alice.person, "alice");
});

async function calls(): Promise<number> {
  const hits = await vendor.hits("server");
  return hits.filter(({ body }) => body?.["method"] === "tools/call").length;
}

async function run(visitor: Visitor): Promise<string> {
  const asked = await visitor.submit(TOOL, { action: TOOL });
  const done = await visitor.browser.submit(asked, { button: /^Run whoami at/ });
  return done.text;
}

describe("a server that knows each person", () => {
  test("shows its tools to the person who has an account there, and runs them as them", async ({
    expect,
  }) => {
    expect((await alice.visit("/catalog")).text).toContain("whoami");
    expect(await run(alice)).toContain("ran whoami as alice");
  });

  test("shows another person where to connect one, and no tool", async ({ expect }) => {
    const page = await bob.visit("/catalog/alpha");
    expect(page.text).toContain("Not connected");
    expect(page.html).toContain('href="/connect/alpha"');
    expect(page.text).not.toContain("whoami");
    expect((await bob.visit(TOOL)).status).toBe(404);
    const csrf = await bob.formToken();
    expect((await bob.post(TOOL, { csrf, arguments: "{}", sure: "1" })).status).toBe(404);
  });
});

describe("the form of a tool", () => {
  test("B105: runs nothing without its token, and says so to the person", async ({ expect }) => {
    const carol = await Visitor.arrive();
    await connect(vendor, carol.person, "alice");
    const before = await calls();
    const fields = { arguments: "{}", sure: "1" };
    const other = await alice.formToken();
    expect((await carol.post(TOOL, fields)).status).toBe(403);
    expect((await carol.post(TOOL, { ...fields, csrf: other })).status).toBe(403);
    const csrf = await carol.formToken();
    const foreign = { Origin: "https://evil.example" };
    expect((await carol.post(TOOL, { ...fields, csrf }, foreign)).status).toBe(403);
    expect(await calls()).toBe(before);
    expect(activityOn(await carol.visit("/account"))).toContain("A request was refused");
  });

  test("leads whoever is not signed in to the sign-in, and says that nothing was run", async ({
    expect,
  }) => {
    const response = await gateway.send(ORIGIN + TOOL, {
      method: "POST",
      headers: { "Content-Type": "application/x-www-form-urlencoded", Origin: ORIGIN },
      body: `csrf=${await alice.formToken()}&arguments={}&sure=1`,
    });
    expect([response.status, response.headers.get("location")]).toEqual([
      ...[303, newSignIn(TOOL)],
    ]);
    expect((await alice.visit(`${TOOL}?done=signed-in-again`)).text).toContain(
      "Nothing was done yet",
    );
  });

  test("leaves a line for the person, with the tool and without its arguments", async ({
    expect,
  }) => {
    await run(alice);
    const activity = activityOn(await alice.visit("/account"));
    expect(activity).toContain("A tool was run on the page that shows it · alpha · whoami · ");
  });

  test("runs nothing for a person who is disabled", async ({ expect }) => {
    const dave = await Visitor.arrive();
    await connect(vendor, dave.person, "bob");
    const csrf = await dave.formToken();
    await dave.shard.setDisabled(dave.person.id, true);
    const before = await calls();
    expect((await dave.post(TOOL, { csrf, arguments: "{}", sure: "1" })).status).toBe(303);
    expect(await calls()).toBe(before);
  });
});
