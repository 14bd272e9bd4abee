/** `/` of people who are signed in: it is about the client that they connected, and not about anybody else’s. */

import { describe, test } from "vitest";

import { gateway, ORIGIN } from "./gateway.ts";
import { Visitor } from "./visitor.ts";

/** The client that a page is about. */
function clientOn({ html }: { readonly html: string }): string | undefined {
  return /<section class="stop part chosen" id="([^"]+)"/.exec(html)?.[1];
}

describe("the front page", () => {
  test("begins with the client that this person has connected", async ({ expect }) => {
    const ann = await Visitor.arrive();
    const bob = await Visitor.arrive();
    expect(clientOn(await ann.visit("/"))).toBe("claude");
    await ann.person.connect({ name: "Cursor" });
    expect(clientOn(await ann.visit("/"))).toBe("cursor");
    expect(clientOn(await bob.visit("/"))).toBe("claude");
  });

  test("shows the client and the server that a link names, and remembers neither", async ({
    expect,
  }) => {
    const ann = await Visitor.arrive();
    const page = await ann.visit("/?client=codex&server=beta");
    expect(clientOn(page)).toBe("codex");
    expect(page.text).toContain(`codex mcp add beta --url ${ORIGIN}/mcp/beta`);
    expect(clientOn(await ann.visit("/"))).toBe("claude");
    expect(ann.browser.jar.all.map(({ name }) => name)).toHaveLength(1);
  });

  test.for(["/?client=constructor", "/?client=%22%3E", "/?server=nobody", "/?client=&server="])(
    "takes %s for no choice at all",
    async (path, { expect }) => {
      const response = await gateway.send(ORIGIN + path, { headers: { Accept: "text/html" } });
      expect(response.status).toBe(200);
      expect(response.headers.get("set-cookie")).toBeNull();
      const html = await response.text();
      expect(clientOn({ html })).toBe("claude");
      expect(html).toContain(`<code>${ORIGIN}/mcp</code>`);
      expect(html).not.toContain("nobody");
    },
  );
});
