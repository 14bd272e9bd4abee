/** `/catalog` with sign-in: for whoever is signed in, and for nobody else. */

import { describe, test } from "vitest";

import { gateway, ORIGIN } from "./gateway.ts";
import { as } from "./people.ts";
import { SESSION_COOKIE, Visitor } from "./visitor.ts";

const PAGES = ["/catalog", "/catalog?q=x", "/catalog/alpha", "/catalog/alpha/echo"];

describe("the catalog", () => {
  test.for(PAGES)(
    "%s leads whoever is not signed in to the sign-in, and back",
    async (path, { expect }) => {
      const { token } = await (await Visitor.arrive()).person.key();
      for (const headers of [{}, as(token), { Cookie: `${SESSION_COOKIE}=${"x".repeat(43)}` }]) {
        const response = await gateway.send(ORIGIN + path, { headers });
        expect([response.status, response.headers.get("location")]).toEqual([
          ...[303, `/login?to=${encodeURIComponent(path).replaceAll("%20", "+")}`],
        ]);
      }
    },
  );

  test("shows a person every server, and no page of administrators", async ({ expect }) => {
    const ann = await Visitor.arrive();
    const page = await ann.visit("/catalog");
    expect(page.status).toBe(200);
    expect(page.html).toContain('href="/catalog/alpha"');
    expect(page.html).toContain('href="/catalog/beta"');
    expect(page.html).toContain('href="/account"');
    expect(page.html).not.toContain('href="/admin"');
  });

  test("ends with the person’s access", async ({ expect }) => {
    const bob = await Visitor.arrive();
    await bob.shard.setDisabled(bob.person.id, true);
    expect((await bob.visit("/catalog")).url.pathname).not.toBe("/catalog");
  });
});
