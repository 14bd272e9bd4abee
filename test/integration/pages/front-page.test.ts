/** `/` without sign-in, where it leads to the catalog and asks for nothing. */

import { exports } from "cloudflare:workers";
import { describe, test } from "vitest";

import { CLIENT_NAMES } from "../../../src/pages/view/client-guides.ts";
import { Browser } from "../../support/oauth-browser.ts";

const ORIGIN = "http://localhost:8787";
const browser = new Browser(ORIGIN, (url, sent) =>
  exports.default.fetch(new Request(url, { ...sent, redirect: "manual" })),
);

describe("the front page without sign-in", () => {
  test.for(CLIENT_NAMES)(
    "%s: leads to the catalog, and asks nobody to sign in",
    async ([id], { expect }) => {
      const { status, text, html } = await browser.visit(`/?client=${id}`);
      expect(status).toBe(200);
      expect(html).toContain(`<a href="/catalog">`);
      expect(html).not.toMatch(/href="\/(?:account|login)/);
      expect(text).not.toMatch(/sign[ -]?in\b|log ?in\b|API key/i);
    },
  );

  test("begins with a client that can reach this machine", async ({ expect }) => {
    const { text } = await browser.visit("/");
    expect(text).toContain(`claude mcp add --transport http --scope user edgeway ${ORIGIN}/mcp`);
  });
});
