/** Introduces several servers as one. */

import { toModern, toOtherEra } from "../../protocol/capabilities.ts";
import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";
import type { ClientKind } from "../../endpoint/client-kind.ts";
import type { Catalog, ListKind } from "../../catalog/catalog.ts";
import { knownCatalog } from "../../catalog/cache/catalogs.ts";
import { advertises } from "../../catalog/read/list-source.ts";
import { freshMsOf } from "../../catalog/lists/notes.ts";
import { SERVER_INFO } from "../../protocol/gateway-info.ts";
import { jointInstructions } from "./joint-instructions.ts";
import { conflictsAmong } from "../../catalog/routing/conflicts.ts";
import type { RequestScope } from "../../catalog/request-scope.ts";

export interface Introduction {
  /** In the form of 2026-07-28. */
  readonly capabilities: JsonObject;
  readonly serverInfo: JsonObject;
  readonly instructions: string | undefined;
  readonly freshMs: number;
}

/**
 * Waits for each server at most `catalogWaitMilliseconds`, plus two seconds if its feed does not answer
 * in time.
 */
export async function introduceEndpoint(
  requestScope: RequestScope,
  client: ClientKind,
): Promise<Introduction> {
  const all = await Promise.all(
    requestScope.endpoint.servers.map((server) => knownCatalog(requestScope, server, client)),
  );
  // Conflicts are in the log as soon as the first client comes.
  conflictsAmong(all);
  return {
    capabilities: jointCapabilities(all.map(({ catalog }) => catalog)),
    serverInfo: SERVER_INFO,
    instructions: jointInstructions(all),
    freshMs: freshMsOf(all),
  };
}

/**
 * The capabilities that any server has. A server that is not known yet counts as having every list:
 * clients read the capabilities once, and would never request a list that is added later.
 */
function jointCapabilities(catalogs: readonly (Catalog | undefined)[]): JsonObject {
  const said = catalogs.map(saidBy);
  const anyLists = (...lists: readonly ListKind[]): boolean =>
    catalogs.some(
      (catalog) => catalog === undefined || lists.some((list) => hasList(catalog, list)),
    );
  const anySays = (name: string): boolean => said.some((one) => isObject(one[name]));
  const canSubscribe =
    catalogs.includes(undefined) ||
    said.some(({ resources }) => isObject(resources) && resources["subscribe"] === true);
  const extensions = said.map((one) => one["extensions"]).filter(isObject);
  return {
    // The feeds announce changes even if the server does not.
    ...(anyLists("tools") ? { tools: { listChanged: true } } : {}),
    ...(anyLists("prompts") ? { prompts: { listChanged: true } } : {}),
    ...(anyLists("resources", "templates")
      ? { resources: { listChanged: true, ...(canSubscribe ? { subscribe: true } : {}) } }
      : {}),
    ...(anySays("completions") ? { completions: {} } : {}),
    ...(anySays("logging") ? { logging: {} } : {}),
    // If two servers declare one extension, the first server's declaration counts.
    ...(extensions.length === 0
      ? {}
      : { extensions: Object.assign({}, ...extensions.toReversed()) as JsonObject }),
  };
}

function saidBy(catalog: Catalog | undefined): JsonObject {
  if (catalog === undefined) return {};
  const { era, about } = catalog;
  // A legacy server cannot mean a capability that only the modern era has.
  return era === "modern" ? toModern(about.capabilities) : toOtherEra(about.capabilities);
}

/** Some servers have lists that they do not advertise. */
function hasList({ about, lists }: Catalog, list: ListKind): boolean {
  return advertises(about.capabilities, list) || lists[list].length > 0;
}
