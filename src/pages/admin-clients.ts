/**
 * The applications of all users, for the operator: the registered ones, page by page, and on the
 * first page those whose id is a URL and which have a connection.
 */

import { isDocumentUrl, verifiedHost } from "../auth/clients/client-id-url.ts";
import type { AuthStore } from "../auth/context/auth-store.ts";
import type { ClientUse } from "../auth/oauth/grants/grants.ts";
import { tryJson } from "../lib/try-json.ts";
import { isObject } from "../protocol/json-rpc.ts";
import type { AdminClient } from "./view/admin-view.ts";
import { redirectTarget } from "./view/redirect-target.ts";

export interface ClientPage {
  readonly list: readonly AdminClient[];
  /** The client id after which the next page begins. */
  readonly next: string | undefined;
}

const PREFIX = "client:";
const PAGE = 50;

/** @param after the last client id of the previous page. */
export async function listClients(
  store: Pick<AuthStore, "allOfUsers" | "allOfClients">,
  after: string,
): Promise<ClientPage> {
  const [uses, lists] = await Promise.all([
    clientsInUse(store),
    // Each object returns its own next ones; the first of them all form the page.
    Promise.all(
      store.allOfClients().map(({ rows }) => rows.entries(PREFIX, PAGE + 1, PREFIX + after)),
    ),
  ]);
  const rows = lists.flat().toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const registered = rows
    .slice(0, PAGE)
    .flatMap(({ value }) => registeredClient(value, uses) ?? []);
  const documents = [...uses.values()].filter(({ client }) => isDocumentUrl(client));
  const list = after === "" ? [...documents.map(documentClient), ...registered] : registered;
  return {
    list: list.toSorted((a, b) => (b.lastUsedAt ?? 0) - (a.lastUsedAt ?? 0)),
    next: rows.length > PAGE ? rows[PAGE - 1]?.key.slice(PREFIX.length) : undefined,
  };
}

async function clientsInUse(
  store: Pick<AuthStore, "allOfUsers">,
): Promise<ReadonlyMap<string, ClientUse>> {
  const lists = await Promise.all(store.allOfUsers().map(({ grants }) => grants.clientsInUse()));
  const byAge = lists.flat().toSorted((a, b) => a.usedAt - b.usedAt);
  return new Map(byAge.map((use) => [use.client, use]));
}

/** @param value the library's record of a client. */
function registeredClient(
  value: string,
  uses: ReadonlyMap<string, ClientUse>,
): AdminClient | undefined {
  const record = tryJson(value);
  if (!isObject(record)) return undefined;
  const { clientId, clientName, redirectUris, registrationDate } = record;
  const id = String(clientId);
  return {
    id,
    name: typeof clientName === "string" ? clientName : "",
    verifiedHost: undefined,
    redirectHosts: placesOf(Array.isArray(redirectUris) ? redirectUris.map(String) : []),
    registeredAt: typeof registrationDate === "number" ? registrationDate * 1000 : undefined,
    lastUsedAt: uses.get(id)?.usedAt,
  };
}

function documentClient({ client, name, redirectUri, usedAt }: ClientUse): AdminClient {
  return {
    id: client,
    name,
    verifiedHost: verifiedHost(client),
    ...{ redirectHosts: placesOf([redirectUri]), registeredAt: undefined, lastUsedAt: usedAt },
  };
}

function placesOf(redirectUris: readonly string[]): readonly string[] {
  return [...new Set(redirectUris.map((uri) => redirectTarget(uri).place))];
}
