/**
 * `/admin`: the health of every server, all users, all applications and the service clients, and
 * the forms that change them, for an administrator who signed in a moment ago.
 */

import { isDocumentUrl, verifiedHost } from "../auth/clients/client-id-url.ts";
import type { AuthContext } from "../auth/context/context.ts";
import type { ClientUse } from "../auth/oauth/grants/grants.ts";
import type { SignedIn } from "../auth/sign-in/browser.ts";
import type { Maker } from "../auth/store/api-keys.ts";
import { newServiceClientId } from "../auth/store/service-clients.ts";
import { currentUser, type User } from "../auth/store/users.ts";
import { tryJson } from "../lib/try-json.ts";
import { isObject } from "../protocol/json-rpc.ts";
import type { SiteContext } from "./account-context.ts";
import { accountServers } from "./connected-accounts.ts";
import { formOf, type Offer, readChoice } from "./credential-choice.ts";
import { listServices } from "./list-services.ts";
import {
  ADMIN_FORM,
  audited,
  done,
  noticeOf,
  refusal,
  shown,
  submitted,
  type Submission,
} from "./page-guard.ts";
import { notFound, page } from "./respond.ts";
import { sealAccountsAnew } from "./seal-accounts.ts";
import { type AdminClient, type AdminUser, adminView } from "./view/admin-view.ts";
import { type CredentialForm, serviceCreatedView } from "./view/credentials-view.ts";
import { redirectTarget } from "./view/parts.ts";
import { PATHS } from "./view/paths.ts";
import { personLabel, providerTitle } from "./words.ts";

export const showAdmin = shown({ forAdmins: true }, (context, who, request) =>
  adminPage(context, who, {
    notice: noticeOf(request),
    after: new URL(request.url).searchParams.get("after") ?? "",
  }),
);

interface Extras {
  readonly notice?: string | undefined;
  /** The client id after which the list continues. */
  readonly after?: string;
  /** The form for a service client, when it is shown again with an error. */
  readonly serviceForm?: CredentialForm;
  readonly status?: number;
}

const SHOWN_USERS = 500;

async function adminPage(
  context: SiteContext,
  { user, formToken }: SignedIn,
  { notice, after = "", serviceForm, status = 200 }: Extras,
): Promise<Response> {
  const people = await newestUsers(context.store);
  const [servers, accounts, users, clients, services] = await Promise.all([
    context.serverHealth(),
    accountServers(context, people),
    Promise.all(people.map((each) => userRow(context, each, user.id))),
    listClients(context.store, after),
    listServices(context),
  ]);
  const view = adminView({
    now: Date.now(),
    csrf: formToken,
    servers,
    notices: context.notices,
    accounts,
    users,
    clients: clients.list,
    moreClients: clients.next,
    services: { list: services, form: serviceForm ?? formOf(serviceOffer(context)) },
    notice,
  });
  return page(view, { origin: context.origin, status });
}

/**
 * A service client may be for any resource, the operator's pages too, because an administrator
 * creates it.
 */
function serviceOffer({ authority }: AuthContext): Offer {
  return { resources: authority.resources, days: [] };
}

async function newestUsers(store: AuthContext["store"]): Promise<readonly User[]> {
  const lists = await Promise.all(store.allOfUsers().map((shard) => shard.users.all()));
  const all = lists.flat().toSorted((a, b) => b.seenAt - a.seenAt);
  return all.slice(0, SHOWN_USERS);
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
    seenAt,
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

export const disableUser = submitted(ADMIN_FORM, async (context, submission, request) => {
  if (submission.form.get("id") !== submission.who.user.id) {
    return setDisabled(context, submission, request, true);
  }
  return refusal(context, 400, {
    title: "That is you",
    whatHappened: "You cannot disable yourself: nobody might be left who can undo it.",
    whatToDo: ["Another administrator can."],
  });
});

export const enableUser = submitted(ADMIN_FORM, (context, submission, request) =>
  setDisabled(context, submission, request, false),
);

async function setDisabled(
  context: AuthContext,
  { who, form }: Submission,
  request: Request,
  isDisabled: boolean,
): Promise<Response> {
  const id = form.get("id") ?? "";
  const { store } = context;
  if (!(await store.ofUser(id).setDisabled(id, isDisabled))) return notFound(context);
  if (isDisabled) await endServicesOf(store, id);
  const event = isDisabled ? "user_disabled" : "user_enabled";
  await audited(context, request, id, event, { by: who.user.id });
  return done(context, PATHS.admin, isDisabled ? "user-disabled" : "user-enabled");
}

/**
 * The service clients of a disabled administrator are no longer served; their tokens and streams
 * end at once.
 */
async function endServicesOf(store: AuthContext["store"], maker: string): Promise<void> {
  const lists = await Promise.all(store.allOfClients().map((shard) => shard.services.list()));
  const made = lists.flat().filter((client) => client.maker?.user === maker);
  await Promise.all(made.map(({ id }) => store.ofUser(id).revokeEverything(id)));
}

/** Deletes an application: its registration, and all its grants and approvals. */
export const deleteClient = submitted(ADMIN_FORM, async (context, { who, form }, request) => {
  const { store } = context;
  const client = form.get("id") ?? "";
  const endAll = (): Promise<readonly number[]> =>
    Promise.all(store.allOfUsers().map((shard) => shard.endClient(client)));
  // The registration is deleted last: until then the application stays on the page, and the
  // deletion can be repeated if not everything has ended. Grants that began meanwhile end after
  // it.
  const ended = await endAll();
  const wasRegistered = await store.ofClient(client).rows.delete(`client:${client}`);
  if (wasRegistered) await endAll();
  else if (ended.every((grants) => grants === 0)) return notFound(context);
  await audited(context, request, who.user.id, "client_deleted", { client });
  return done(context, PATHS.admin, "client-deleted");
});

export const createService = submitted(ADMIN_FORM, async (context, { who, form }, request) => {
  const { store, origin } = context;
  const offer = serviceOffer(context);
  const reading = readChoice(form, offer);
  if (reading.kind === "error") {
    return adminPage(context, who, { serviceForm: formOf(offer, reading), status: 400 });
  }
  const { label, scopes, resources } = reading.choice;
  const { user, session } = who;
  const maker: Maker = {
    user: user.id,
    ...(session.codeMac !== undefined && { codeMac: session.codeMac }),
  };
  const id = newServiceClientId();
  const made = await store.ofClient(id).services.create({ id, label, scopes, resources, maker });
  await audited(context, request, user.id, "service_client_created", { client: id, label });
  const secret = made.secret ?? "";
  const view = serviceCreatedView({
    label,
    clientId: id,
    secret,
    tokenEndpoint: `${origin}/token`,
  });
  return page(view, { origin });
});

export const revokeService = submitted(ADMIN_FORM, async (context, { who, form }, request) => {
  const { store } = context;
  const id = form.get("id") ?? "";
  if (!(await store.ofClient(id).services.remove(id))) return notFound(context);
  // Its issued tokens are keys that it owns.
  await store.ofUser(id).revokeEverything(id);
  await audited(context, request, who.user.id, "service_client_revoked", { client: id });
  return done(context, PATHS.admin, "service-revoked");
});

export const sealAccounts = submitted(ADMIN_FORM, async (context, { who }, request) => {
  const count = await sealAccountsAnew(context);
  await audited(context, request, who.user.id, "accounts_sealed");
  const notice = `All accounts are sealed with the first VAULT_SECRET. It was not so of ${count}.`;
  return adminPage(context, who, { notice });
});
