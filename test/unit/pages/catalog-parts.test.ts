/** What the pages of the catalog say of a server that cannot be listed. */

import { describe, test } from "vitest";

import { stateNotes } from "../../../src/pages/view/catalog-parts.ts";
import { catalogView } from "../../../src/pages/view/catalog-view.ts";
import { CATALOG_MODELS } from "../../support/catalog-models.ts";
import { textOf } from "../../support/oauth-html.ts";

const CONNECT = "/connect/github";
const PAGE = "/admin/servers/github";

test("a search names the servers of which nobody knows whether they have it", ({ expect }) => {
  const { catalog } = CATALOG_MODELS;
  const notSearched = catalog.servers.filter(({ state }) => state === "unconnected");
  const view = catalogView({ ...catalog, query: "tea", servers: [], notSearched });
  const text = textOf(String(view.body));
  expect(text).toMatch(/Nothing has tea in it.*Not searched: Notion \(not connected\)/);
  expect(text).toContain(", Build (not available)");
});

describe("a server without its account", () => {
  test.for([
    ["oauth", false, "you have connected your account", CONNECT],
    ["key", false, "you have connected your account", CONNECT],
    ["oauth-shared", true, "you have connected your account", CONNECT],
    ["oauth-shared", false, "which an administrator has to connect", undefined],
    ["client-credentials", true, "own account there does not work. See why", PAGE],
    ["client-credentials", false, "Whoever runs this gateway can mend it", undefined],
  ] as const)(
    "that knows callers by %s, shown to an administrator: %s",
    ([auth, isForAdmin, said, link], { expect }) => {
      const { server } = CATALOG_MODELS.server;
      const notes = String(stateNotes({ ...server, state: "unconnected", auth, isForAdmin }));
      expect(textOf(notes)).toContain(said);
      const [, href] = /href="([^"]+)"/.exec(notes) ?? [];
      expect(href).toBe(link);
    },
  );
});
