/**
 * The front door of the console: what a page wants of the servers goes the way of every modern client's
 * request. A page has no rights of its own; it is one more application of the person who looks at it.
 */

import { labelOf } from "../accounts/settings.ts";
import { type Catalog, type Item, LIST_KINDS, type ListKind } from "../catalog/catalog.ts";
import { currentCatalog, type Known } from "../catalog/cache/catalogs.ts";
import { policyOf, publicIndex } from "../catalog/cache/lookups.ts";
import { namingOf } from "../catalog/names/naming.ts";
import type { RequestScope } from "../catalog/request-scope.ts";
import { clientKind } from "../endpoint/client-kind.ts";
import { type Configured, pickEndpoint } from "../endpoint/endpoint.ts";
import { endpointFor, type PersonalScope } from "../endpoint/personal-endpoint.ts";
import type { Server } from "../endpoint/server.ts";
import type { Console, ConsoleServer } from "../pages/console/console.ts";
import { isAllowed, isOpen } from "../policy/item-policy.ts";
import { LATEST_MODERN } from "../protocol/revisions.ts";

export interface ConsoleScope extends Configured, Pick<RequestScope, "feeds" | "limits"> {
  readonly personal: PersonalScope;
  /** Of the gateway. */
  readonly origin: string;
  readonly person: string;
}

/** The application's name, where servers, sessions and the log have the id of another client. */
const APPLICATION = "console";
const CAPABILITIES = { elicitation: { form: {}, url: {} } };
const CLIENT = clientKind(LATEST_MODERN, CAPABILITIES);

export function consoleOf(scope: ConsoleScope): Console {
  return {
    slugs: [...scope.servers.keys()],
    async server(slug) {
      const server = serverAt(scope, slug);
      if (server === undefined) return undefined;
      return consoleServer(scope, await currentCatalog(scope, server, CLIENT));
    },
  };
}

/** @returns the server as this person has it at `/mcp/<slug>`. */
function serverAt(scope: ConsoleScope, slug: string): Server | undefined {
  const { personal, person, origin } = scope;
  const picked = pickEndpoint(scope, slug);
  if (picked.kind !== "endpoint") return undefined;
  const caller = { person, application: APPLICATION, origin };
  return endpointFor(picked.endpoint, caller, personal).servers[0];
}

function consoleServer(scope: ConsoleScope, known: Known): ConsoleServer {
  const { server, catalog, trouble } = known;
  const lists = LIST_KINDS.map((list) => [list, visible(known, list)] as const);
  const faults = catalog?.faults ?? [];
  const isFailing = trouble !== undefined || faults.length > 0;
  const up = isFailing ? "failing" : "well";
  return {
    slug: server.slug,
    label: labelOf(server),
    info: catalog?.about.serverInfo,
    instructions: known.isUnconnected === true ? undefined : catalog?.about.instructions,
    lists: Object.fromEntries(lists) as Record<ListKind, readonly Item[]>,
    notes: [
      ...(trouble === undefined ? [] : [trouble.message]),
      ...faults.map(({ message }) => message),
      ...(catalog?.flaws ?? []),
    ],
    state: known.isUnconnected === true ? "unconnected" : catalog === undefined ? "down" : up,
    publicName: (tool) => catalog && publicNameOf(scope, server, catalog, tool),
  };
}

function visible({ server, catalog, isUnconnected }: Known, list: ListKind): readonly Item[] {
  // The tool by which clients connect an account is no tool of the server's.
  if (catalog === undefined || isUnconnected === true) return [];
  const policy = policyOf(server, list);
  const items = catalog.lists[list];
  return isOpen(policy) ? items : items.filter(({ name }) => isAllowed(policy, name));
}

function publicNameOf(
  scope: ConsoleScope,
  server: Server,
  catalog: Catalog,
  tool: string,
): string | undefined {
  const whole = pickEndpoint(scope, undefined);
  if (whole.kind !== "endpoint") return undefined;
  const naming = namingOf(whole.endpoint, scope.limits.nameChars);
  return publicIndex(naming, server, "tools", catalog).toPublic.get(tool);
}
