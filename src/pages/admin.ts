/**
 * `/admin`: what needs somebody, the health of every server, whether people publish servers, all users, all
 * applications and the service clients, and the forms that change them, for an administrator who signed in a moment
 * ago. Without sign-in there is no part about people.
 */

import type { AuthContext } from "../auth/context/context.ts";
import type { Maker } from "../auth/store/api-keys.ts";
import { newServiceClientId } from "../auth/store/service-clients.ts";
import type { ServerHealth } from "../observability/health.ts";
import { attentionIn } from "./attention.ts";
import { gather } from "./attention-facts.ts";
import { type AccountHolder, accountServers } from "./connected-accounts.ts";
import { peopleOf, serviceOffer, usersIn } from "./admin-people.ts";
import { formOf, readChoice } from "./credential-choice.ts";
import {
  ADMIN_FORM,
  audited,
  done,
  noticeOf,
  refusal,
  submitted,
  type Submission,
} from "./page-guard.ts";
import {
  operatedFreshly,
  operating,
  operatorOf,
  type OperatorVisit,
  readerOf,
} from "./operator-visit.ts";
import { auditedAs, LOCAL_PERSON, navFor, respondTo, visitorFrom } from "./page-visitor.ts";
import { notFound, page } from "./respond.ts";
import { sealAllAnew } from "./seal-accounts.ts";
import type { AccountServerRow } from "./view/accounts-view.ts";
import { adminView } from "./view/admin-view.ts";
import { type CredentialForm, serviceCreatedView } from "./view/credentials-view.ts";
import { noticesOfEntries } from "./view/entry-notices.ts";
import { PATHS } from "./view/paths.ts";
import { personLabel } from "./words.ts";

export const showAdmin = operating((visit) =>
  adminPage(visit, { notice: noticeOf(visit.request) }),
);

interface Extras {
  readonly notice?: string | undefined;
  /** The form for a service client, when it is shown again with an error. */
  readonly serviceForm?: CredentialForm | undefined;
  readonly status?: number;
}

async function adminPage(
  { context, visitor, request }: Omit<OperatorVisit, "slug">,
  { notice, serviceForm, status = 200 }: Extras,
): Promise<Response> {
  const { auth } = context;
  const users = auth && (await usersIn(auth.store));
  const holders =
    users === undefined
      ? [LOCAL_HOLDER]
      : users.all.map((each) => ({ ...each, label: personLabel(each) }));
  const [known, accounts, people, { servers: added }] = await Promise.all([
    gather(context, readerOf(visitor)),
    accountServers(context, holders),
    auth && peopleOf(auth, users?.all ?? [], { own: visitor.person, request, serviceForm }),
    context.servers.added.all(),
  ]);
  const items = attentionIn(known);
  const view = adminView({
    now: known.now,
    csrf: visitor.formToken,
    nav: navFor(visitor, "admin", items.length),
    items,
    notKnown: known.notKnown,
    servers: known.servers.map((server) => withHolders(server, accounts)),
    notices: noticesOfEntries(known.notices, new Set(known.servers.map(({ slug }) => slug))),
    accounts,
    isAnythingSealed: accounts.length > 0 || added.some(({ sealed }) => sealed !== undefined),
    publishing: { isOn: context.publishers !== undefined, people: users?.publishing },
    people,
    notice,
  });
  return respondTo({ context, visitor }, view, { status });
}

const LOCAL_HOLDER: AccountHolder = { id: LOCAL_PERSON, label: "You", hasAccounts: true };

/** A server with an account for each person says whether anybody has one. */
function withHolders(server: ServerHealth, accounts: readonly AccountServerRow[]): ServerHealth {
  if (server.state !== "personal") return server;
  const row = accounts.find(({ slug }) => slug === server.slug);
  const { people = [], notKnown = 0 } = row ?? {};
  const count = people.length;
  const who =
    count + notKnown === 0
      ? "nobody has connected one yet"
      : `${notKnown > 0 ? "at least " : ""}${count} of them ${count === 1 ? "has" : "have"} connected one`;
  return { ...server, note: `Each person has an account of their own there; ${who}` };
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
    const extras = { serviceForm: formOf(offer, reading), status: 400 };
    const visitor = visitorFrom(context, who);
    return adminPage({ context: operatorOf(context), visitor, request }, extras);
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

export const sealAccounts = operatedFreshly(
  () => PATHS.admin,
  async (submission) => {
    const { context, request, visitor } = submission;
    const count = await sealAllAnew(context);
    await auditedAs(context, request, visitor, "accounts_sealed");
    const notice = `All accounts, and the secrets of added servers, are sealed with the first VAULT_SECRET. It was not so of ${count}.`;
    return adminPage(submission, { notice });
  },
);
