/**
 * `/catalog`: the servers behind the gateway, and what this person may use of each. Anything else does
 * not exist for them (404).
 */

import { isShared } from "./account-context.ts";
import { parsed, rowOf, search, titleOf, wordsOf } from "./catalog-items.ts";
import {
  type CatalogHandler,
  type CatalogVisit,
  navOf,
  respond,
  visiting,
} from "./catalog-visit.ts";
import type { ConsoleServer } from "./console/console.ts";
import { notFound } from "./respond.ts";
import { schemaRows } from "./schema/schema-rows.ts";
import type { ServerHead } from "./view/catalog-parts.ts";
import { catalogView } from "./view/catalog-view.ts";
import { serverView } from "./view/server-view.ts";
import { toolView } from "./view/tool-view.ts";

/** Items of all servers on the first page, shared out among them. */
const SHOWN_ITEMS = 60;
const SHOWN_OF_EACH = { min: 3, max: 12 };

export const showCatalog: CatalogHandler = visiting(async (visit) => {
  const { console } = visit;
  const query = queryOf(visit);
  const words = wordsOf(query);
  const { min, max } = SHOWN_OF_EACH;
  const share = Math.floor(SHOWN_ITEMS / Math.max(1, console.slugs.length));
  const count = Math.min(max, Math.max(min, share));
  const known = await Promise.all(console.slugs.map((slug) => console.server(slug)));
  const servers = known
    .filter((server) => server !== undefined)
    .map((server) => ({ server, found: search(server, words) }))
    .filter(({ found }) => words.length === 0 || found.length > 0)
    .map(({ server, found }) => {
      // Who looks around is shown the tools; who searches, whatever there is.
      const listed = words.length > 0 ? found : found.filter(({ kind }) => kind === "tools");
      return {
        ...headOf(visit, server),
        rows: listed.slice(0, count).map(rowOf),
        foundCount: found.length,
      };
    });
  return respond(visit, catalogView({ query, servers, nav: navOf(visit) }));
});

const PAGE_ITEMS = 100;

export const showServer: CatalogHandler = visiting(async (visit) => {
  const { console, context, place, request } = visit;
  const server = await console.server(place.slug);
  if (server === undefined) return notFound(context);
  const query = queryOf(visit);
  const found = search(server, wordsOf(query));
  const pages = Math.max(1, Math.ceil(found.length / PAGE_ITEMS));
  const asked = Number(new URL(request.url).searchParams.get("page") ?? 1);
  const page = Number.isInteger(asked) ? Math.min(pages, Math.max(1, asked)) : 1;
  const view = serverView({
    ...{ query, page, pages, nav: navOf(visit) },
    server: headOf(visit, server),
    instructions: server.instructions,
    rows: found.slice((page - 1) * PAGE_ITEMS, page * PAGE_ITEMS).map(rowOf),
  });
  return respond(visit, view);
});

export const showTool: CatalogHandler = visiting(async (visit) => {
  const { console, context, place } = visit;
  const server = await console.server(place.slug);
  const item = server?.lists.tools.find(({ name }) => name === place.tool);
  if (server === undefined || item === undefined) return notFound(context);
  const tool = parsed(item);
  const { inputSchema, outputSchema } = tool;
  const view = toolView({
    nav: navOf(visit),
    server: headOf(visit, server),
    tool: rowOf({ kind: "tools", item }),
    publicName: server.publicName(item.name),
    input: schemaRows(inputSchema),
    output: outputSchema === undefined ? undefined : schemaRows(outputSchema),
  });
  return respond(visit, view);
});

function queryOf({ request }: CatalogVisit): string {
  return new URL(request.url).searchParams.get("q")?.trim() ?? "";
}

function headOf({ context, visitor }: CatalogVisit, server: ConsoleServer): ServerHead {
  const { slug, label, info, lists, notes, state } = server;
  const account = context.accounts.servers.get(slug);
  return {
    slug,
    // The operator's own words first: any server can take the name of another.
    title: label === slug ? (titleOf(info ?? {}) ?? label) : label,
    version: typeof info?.["version"] === "string" ? info["version"] : undefined,
    counts: {
      tools: lists.tools.length,
      prompts: lists.prompts.length,
      resources: lists.resources.length,
      templates: lists.templates.length,
    },
    notes,
    state,
    // An account that all share is connected by an administrator.
    mayConnect: account !== undefined && (!isShared(account) || visitor.isAdmin),
  };
}
