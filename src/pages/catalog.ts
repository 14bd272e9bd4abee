/**
 * `/catalog`: the servers behind the gateway, and what this person may use of each. Anything else does
 * not exist for them (404).
 */

import { rowOf, search, wordsOf } from "./catalog-items.ts";
import { type CatalogHandler, headOf, visiting } from "./catalog-visit.ts";
import { navFor, respondTo } from "./page-visitor.ts";
import { pageOf, queryOf } from "./paging.ts";
import { notFound } from "./respond.ts";
import { catalogView } from "./view/catalog-view.ts";
import { serverView } from "./view/server-view.ts";

/** Items of all servers on the first page, shared out among them. */
const SHOWN_ITEMS = 60;
const SHOWN_OF_EACH = { min: 3, max: 12 };

export const showCatalog: CatalogHandler = visiting(async (visit) => {
  const { console } = visit;
  const query = queryOf(visit.request);
  const words = wordsOf(query);
  const { min, max } = SHOWN_OF_EACH;
  const share = Math.floor(SHOWN_ITEMS / Math.max(1, console.slugs.length));
  const count = Math.min(max, Math.max(min, share));
  const asked = await Promise.all(console.slugs.map((slug) => console.server(slug, true)));
  const known = asked.filter((server) => server !== undefined);
  const servers = known
    .map((server) => ({ server, found: search(server, words) }))
    .filter(
      ({ server, found }) => words.length === 0 || found.length > 0 || server.state === "asked",
    )
    .map(({ server, found }) => {
      // Who looks around is shown the tools; who searches, whatever there is.
      const listed = words.length > 0 ? found : found.filter(({ kind }) => kind === "tools");
      return {
        ...headOf(visit, server),
        rows: listed.slice(0, count).map(rowOf),
        foundCount: found.length,
      };
    });
  const notSearched = known
    .filter(({ state }) => words.length > 0 && (state === "down" || state === "unconnected"))
    .map((server) => headOf(visit, server));
  const nav = navFor(visit.visitor, "catalog");
  return respondTo(visit, catalogView({ query, servers, notSearched, nav }));
});

export const showServer: CatalogHandler = visiting(async (visit) => {
  const { console, context, place, request } = visit;
  const server = await console.server(place.slug);
  if (server === undefined) return notFound(context);
  const query = queryOf(visit.request);
  const found = search(server, wordsOf(query));
  const { shown, page, pages } = pageOf(found, request);
  const view = serverView({
    ...{ query, page, pages, nav: navFor(visit.visitor, "catalog") },
    server: headOf(visit, server),
    instructions: server.instructions,
    rows: shown.map(rowOf),
  });
  return respondTo(visit, view);
});
