/** Introduces several servers as one. */

import { canSubscribe, toModern, toOtherEra } from "../../protocol/capabilities.ts";
import { isObject, type JsonObject } from "../../protocol/json-rpc.ts";
import type { ClientKind } from "../../endpoint/client-kind.ts";
import type { Catalog, ListKind } from "../../catalog/catalog.ts";
import { type Known, knownCatalog } from "../../catalog/cache/catalogs.ts";
import { advertises } from "../../catalog/read/list-source.ts";
import { freshMsOf } from "../../catalog/lists/notes.ts";
import { SERVER_INFO } from "../../protocol/gateway-info.ts";
import { conflictsAmong } from "../../catalog/routing/conflicts.ts";
import type { RequestScope } from "../../catalog/request-scope.ts";
import type { Endpoint } from "../../endpoint/endpoint.ts";

/** Of a server's own instructions. */
const MAX_EACH_CHARS = 2048;
/** Of all instructions together. */
const MAX_CHARS = 16 * 1024;
const LINE_ENDS = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/;
const CUT = "… (cut by the gateway)";

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
    instructions: jointInstructions(requestScope.endpoint, all),
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
  const anySubscribes = catalogs.includes(undefined) || said.some(canSubscribe);
  const extensions = said.map(({ extensions: declared }) => declared).filter(isObject);
  return {
    // The feeds announce changes even if the server does not.
    ...(anyLists("tools") ? { tools: { listChanged: true } } : {}),
    ...(anyLists("prompts") ? { prompts: { listChanged: true } } : {}),
    ...(anyLists("resources", "templates")
      ? { resources: { listChanged: true, ...(anySubscribes ? { subscribe: true } : {}) } }
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

/**
 * The instructions of several servers in one text: it explains the prefixes of names, and quotes each
 * server's own instructions. Each quotation is under its server's slug, so that no server can speak for
 * another.
 */
function jointInstructions(endpoint: Endpoint, all: readonly Known[]): string | undefined {
  const [only, ...others] = all;
  // One server speaks for itself: its names have no prefix here.
  if (others.length === 0) return only?.catalog?.about.instructions;
  const parts = [howNamesAreBuilt(endpoint)];
  const left: string[] = [];
  let { length } = parts[0] ?? "";
  for (const { server, catalog } of all) {
    const said = catalog?.about.instructions?.trim() ?? "";
    if (said === "") continue;
    const part = `# ${server.slug}\n${quoted(said)}`;
    if (length + part.length > MAX_CHARS) {
      left.push(server.slug);
      continue;
    }
    parts.push(part);
    length += part.length;
  }
  if (left.length > 0) parts.push(`(Left out by the gateway: what ${left.join(", ")} said.)`);
  return parts.join("\n\n");
}

function howNamesAreBuilt({ servers, plain }: Endpoint): string {
  const prefixes = servers.map(({ slug, prefix }) =>
    prefix === "" || slug === plain ? `none for ${slug}` : `${prefix} for ${slug}`,
  );
  const sentence =
    "Several servers meet here. The name of a tool or prompt begins with its server's";
  return `${sentence} prefix: ${cut(prefixes.join(", "))}.`;
}

function quoted(text: string): string {
  return cut(text)
    .split(LINE_ENDS)
    .map((line) => `> ${line}`)
    .join("\n");
}

function cut(text: string): string {
  if (text.length <= MAX_EACH_CHARS) return text;
  return (
    text
      .slice(0, MAX_EACH_CHARS)
      .toWellFormed()
      .replace(/\ufffd$/, "") + CUT
  );
}
