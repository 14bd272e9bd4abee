/** The people and applications of `/admin`, as its view has them. */

import { isDocumentUrl, verifiedHost } from "../auth/clients/client-id-url.ts";
import type { AuthContext } from "../auth/context/context.ts";
import type { ClientUse } from "../auth/oauth/grants/grants.ts";
import { currentUser, type User } from "../auth/store/users.ts";
import { tryJson } from "../lib/try-json.ts";
import { isObject } from "../protocol/json-rpc.ts";
import { wordsOf } from "./catalog-items.ts";
import { formOf, type Offer } from "./credential-choice.ts";
import { listServices } from "./list-services.ts";
import { pageOf, queryOf } from "./paging.ts";
import type { AdminClient, AdminUser, AdminView } from "./view/admin-view.ts";
import type { CredentialForm } from "./view/credentials-view.ts";
import { redirectTarget } from "./view/parts.ts";
import { personLabel, providerTitle } from "./words.ts";

interface PeopleQuestion {
  /** The id of the reader. */
  readonly own: string;
  /** Its query says which people and which applications are shown. */
  readonly request: Request;
  /** The form for a service client, when it is shown again with an error. */
  readonly serviceForm: CredentialForm | undefined;
}

/**
 * What is known of people and applications, where there is sign-in.
 *
 * @param users all of them.
 */
export async function peopleOf(
  context: AuthContext,
  users: readonly User[],
  { own, request, serviceForm }: PeopleQuestion,
): Promise<NonNullable<AdminView["people"]>> {
  const query = queryOf(request);
  const words = wordsOf(query);
  const found = users.filter((user) => words.every((word) => namesIn(user).includes(word)));
  const { shown, ...place } = pageOf(found, request);
  const after = new URL(request.url).searchParams.get("after") ?? "";
  const [rows, clients, services] = await Promise.all([
    Promise.all(shown.map((each) => userRow(context, each, own))),
    listClients(context.store, after),
    listServices(context),
  ]);
  return {
    users: { ...place, query, rows, found: found.length, count: users.length },
    clients: clients.list,
    moreClients: clients.next,
    services: { list: services, form: serviceForm ?? formOf(serviceOffer(context)) },
  };
}

function namesIn({ id, name = "", email = "" }: User): string {
  return `${name}\n${email}\n${id}`.toLowerCase();
}

/**
 * A service client may be for any resource, the operator's pages too, because an administrator
 * creates it.
 */
export function serviceOffer({ authority }: AuthContext): Offer {
  return { resources: authority.resources, days: [] };
}

interface KnownUsers {
  /** Those who signed in last come first. */
  readonly all: readonly User[];
  /** How many of all publish servers: what and how many is known to the object of each alone. */
  readonly publishing: number;
}

export async function usersIn(store: AuthContext["store"]): Promise<KnownUsers> {
  const lists = await Promise.all(store.allOfUsers().map((shard) => shard.users.all()));
  const all = lists.flat().toSorted((a, b) => b.seenAt - a.seenAt);
  const publishing = all.filter(({ publishes }) => publishes === true).length;
  return { all, publishing };
}

async function userRow(context: AuthContext, user: User, own: string): Promise<AdminUser> {
  const { id, isDisabled, createdAt, seenAt } = user;
  const current = await currentUser(context, user, user.codeMac);
  const provider = context.providers.get(user.provider);
  return {
    id,
    label: personLabel(user),
    provider: provider === undefined ? user.provider : providerTitle(provider),
    isAdmin: current?.isAdmin ?? false,
    isDisabled,
    isLetIn: isDisabled || current !== undefined,
    isYou: id === own,
    createdAt,
    signedInAt: seenAt,
  };
}

interface ClientPage {
  readonly list: readonly AdminClient[];
  /** The client id after which the next page begins. */
  readonly next: string | undefined;
}

const PREFIX = "client:";
const PAGE = 50;

/**
 * Lists the applications of all users: the registered ones, page by page, and on the first page
 * those whose id is a URL and which have a connection.
 *
 * @param after the last client id of the previous page.
 */
async function listClients(store: AuthContext["store"], after: string): Promise<ClientPage> {
  const [useLists, rowLists] = await Promise.all([
    Promise.all(store.allOfUsers().map(({ grants }) => grants.clientsInUse())),
    // Each object returns its own next ones; the first of them all form the page.
    Promise.all(
      store.allOfClients().map(({ rows }) => rows.entries(PREFIX, PAGE + 1, PREFIX + after)),
    ),
  ]);
  const byAge = useLists.flat().toSorted((a, b) => a.usedAt - b.usedAt);
  const uses = new Map(byAge.map((use) => [use.client, use]));
  const rows = rowLists.flat().toSorted((a, b) => (a.key < b.key ? -1 : 1));
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
    redirectHosts: placesOf([redirectUri]),
    registeredAt: undefined,
    lastUsedAt: usedAt,
  };
}

function placesOf(redirectUris: readonly string[]): readonly string[] {
  return [...new Set(redirectUris.map((uri) => redirectTarget(uri).place))];
}
