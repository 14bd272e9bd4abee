/** `/admin`: the health of every server, all users, all applications, and the service clients. */

import type { SignedIn } from "../auth/sign-in/browser.ts";
import type { AuthContext } from "../auth/context/context.ts";
import { isServed } from "../auth/oauth/endpoints/client-credentials.ts";
import { type CurrentUser, currentUser, type User } from "../auth/store/users.ts";
import type { Offer } from "./credential-choice.ts";
import { formOf } from "./credential-choice.ts";
import { listClients } from "./admin-clients.ts";
import { shown } from "./page-guard.ts";
import { noticeOf } from "./page-notices.ts";
import { personLabel, providerTitle } from "./person-title.ts";
import { page } from "./respond.ts";
import { type AdminUser, adminView } from "./view/admin-view.ts";
import type { ServiceRow } from "./view/admin-services-view.ts";
import type { CredentialForm } from "./view/credential-form.ts";

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

export async function adminPage(
  context: AuthContext,
  { user, formToken }: SignedIn,
  { notice, after = "", serviceForm, status = 200 }: Extras,
): Promise<Response> {
  const [servers, users, clients, services] = await Promise.all([
    context.serverHealth(),
    listUsers(context, user.id),
    listClients(context.store, after),
    listServices(context),
  ]);
  const view = adminView({
    now: Date.now(),
    csrf: formToken,
    servers,
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
export function serviceOffer({ authority }: Pick<AuthContext, "authority">): Offer {
  return { resources: authority.resources, days: [] };
}

async function listUsers(context: AuthContext, own: string): Promise<readonly AdminUser[]> {
  const { store, providers } = context;
  const lists = await Promise.all(store.allOfUsers().map((shard) => shard.users.all()));
  const all = lists.flat().toSorted((a, b) => b.seenAt - a.seenAt);
  return Promise.all(
    all.slice(0, SHOWN_USERS).map(async (user) => {
      const current = await currentUser(context, user, user.codeMac);
      return asAdminSees(user, current, own, providers);
    }),
  );
}

function asAdminSees(
  { id, provider, isDisabled, createdAt, seenAt, ...person }: User,
  current: CurrentUser | undefined,
  own: string,
  providers: AuthContext["providers"],
): AdminUser {
  const known = providers.get(provider);
  return {
    ...{ id, label: personLabel({ id, ...person }), isDisabled, isYou: id === own },
    isAdmin: current?.isAdmin ?? false,
    isLetIn: isDisabled || current !== undefined,
    provider: known === undefined ? provider : providerTitle(known),
    createdAt,
    seenAt,
  };
}

async function listServices({ store }: AuthContext): Promise<readonly ServiceRow[]> {
  const lists = await Promise.all(store.allOfClients().map((shard) => shard.services.list()));
  const services = lists.flat().toSorted((a, b) => b.createdAt - a.createdAt);
  return Promise.all(
    services.map(async (client) => {
      const { id, label, scopes, resources, createdAt, maker } = client;
      // Its tokens show when it was last active; they are few, and live for an hour.
      const tokens = await store.ofUser(id).keys.list(id);
      const used = tokens.map((token) => token.usedAt ?? token.createdAt);
      const lastUsedAt = used.length === 0 ? undefined : Math.max(...used);
      const [isOn, by] = await Promise.all([
        isServed(store, client),
        maker && store.ofUser(maker.user).users.find(maker.user),
      ]);
      return {
        id,
        label,
        scopes,
        resources,
        createdAt,
        lastUsedAt,
        isServed: isOn,
        maker: by && personLabel(by),
      };
    }),
  );
}
