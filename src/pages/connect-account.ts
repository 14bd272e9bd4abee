/**
 * `/connect/<slug>`: a person connects an account at a server. The page shows what is going to be
 * connected; its form sends the browser to the authorization server, which sends it back to
 * `/oauth/upstream/<slug>/callback`. The vault decides; here its outcome becomes the browser's response.
 */

import { connectPath } from "../accounts/addresses.ts";
import type { AccountSummary, ConnectOffer, Vault } from "../accounts/vault.ts";
import { cookie } from "../auth/cookies.ts";
import { finishEnds, hostOf, isShared } from "./account-context.ts";
import { accountPageModel } from "./account-models.ts";
import {
  auditFailure,
  CONNECTED,
  connectedResponse,
  factsOf,
  problemResponse,
} from "./account-outcomes.ts";
import {
  type AccountHandler,
  type AccountSubmission,
  type AccountVisit,
  submittedBy,
  submittedFor,
  type VisitorForm,
  visited,
} from "./account-visit.ts";
import { done, noticeOf } from "./page-guard.ts";
import { auditedAs, respondTo } from "./page-visitor.ts";
import { formActionsFor, notFound, seeOther } from "./respond.ts";
import { troubleWords } from "./trouble-words.ts";
import { isWorking } from "./view/account-parts.ts";
import { connectedView } from "./view/connected-view.ts";
import { type ConnectAccountView, connectAccountView } from "./view/connect-account-view.ts";
import { PATHS } from "./view/paths.ts";

/**
 * Authorization servers redirect on to pages of other hosts (an identity provider of a company), and
 * browsers check `form-action` for each of these redirects too, and block silently.
 */
const ONWARD = "https:";

export const showConnectAccount = visited(async (visit) => {
  const { server, ask, request } = visit;
  const offer = await visit.vault().offer(server.slug, ask);
  const { account } = offer;
  const isConnected = new URL(request.url).searchParams.get("done") === CONNECTED;
  if (isConnected && account !== undefined && isWorking(account)) {
    return connectedPage(visit, account);
  }
  if (offer.kind === "problem") return problemResponse(visit, offer.problem, account);
  // The link was for somebody else: the page names nobody.
  if (ask !== undefined && !offer.isAsked) return problemResponse(visit, { code: "unknown-link" });
  return offerPage(visit, offer, {
    notice: noticeOf(request),
  });
});

type Offer = Exclude<ConnectOffer, { readonly kind: "problem" }>;

interface Extras {
  readonly notice?: string | undefined;
  /** The error of the key that was entered. */
  readonly keyError?: string;
  readonly status?: number;
}

function offerPage(visit: AccountVisit, offer: Offer, extras: Extras = {}): Response {
  const { notice, keyError, status = 200 } = extras;
  const view = connectAccountView({
    ...accountPageModel(visit, offer.account),
    way: wayOf(visit, offer, keyError),
    ask: visit.ask,
    notice,
  });
  const formActions =
    offer.kind === "oauth" ? [...formActionsFor(offer.authorizationEndpoint), ONWARD] : [];
  return respondTo(visit, view, { status, formActions });
}

function wayOf(
  { visitor }: AccountVisit,
  offer: Offer,
  error: string | undefined,
): ConnectAccountView["way"] {
  if (offer.kind === "key") return { kind: "key", error };
  const { issuer, authorizationEndpoint, scopes } = offer;
  const host = hostOf(authorizationEndpoint);
  const issuerHost = hostOf(issuer);
  return {
    kind: "oauth",
    host,
    issuerHost: issuerHost === host ? undefined : issuerHost,
    scopes,
    canRegisterAnew: mayRegisterAnew(offer, visitor.isAdmin),
  };
}

/** Attempts that ended at a page of the authorization server: it may not know the gateway any more. */
const UNANSWERED = 2;

function mayRegisterAnew(offer: ConnectOffer, isAdmin: boolean): boolean {
  if (offer.kind !== "oauth" || offer.registration !== "dcr") return false;
  return isAdmin || offer.unanswered >= UNANSWERED;
}

function connectedPage(visit: AccountVisit, account: AccountSummary): Response {
  const model = accountPageModel(visit, account);
  if (model.account === undefined) throw new Error("There is an account");
  return respondTo(
    visit,
    connectedView({ ...model, account: model.account, missing: account.missing }),
  );
}

/** The form of the page: the browser leaves, or a key is kept. */
export const beginConnect = submittedFor(async (submission) => {
  const { context, visitor, server } = submission;
  const seconds = await waitOf(submission);
  if (seconds !== undefined) {
    const response = problemResponse(submission, { code: "too-many" });
    response.headers.set("Retry-After", String(seconds));
    return response;
  }
  // Written down first, so that whoever disables the person knows that there may be something to end.
  if (context.auth !== undefined && !isShared(server) && visitor.user?.hasAccounts !== true) {
    await context.auth.store.ofUser(visitor.person).users.change(visitor.person, {
      hasAccounts: true,
    });
  }
  await finishEnds(context, server, visitor.person);
  return server.auth.kind === "key" ? keepKey(submission) : leave(submission);
});

/** @returns how many seconds to wait; `undefined` when the attempt may begin. */
async function waitOf({ context, visitor }: AccountVisit): Promise<number | undefined> {
  if (context.auth === undefined) return undefined;
  const { store, limits } = context.auth;
  const key = `connect:${visitor.person}`;
  const seconds = await store.ephemeral(key).limits.take(key, limits.connectsPerMinute);
  return seconds === 0 ? undefined : seconds;
}

async function leave(submission: AccountSubmission): Promise<Response> {
  const { context, visitor, server, ask, form, vault } = submission;
  const { slug } = server;
  // A new registration ends what came of the one before, so a form alone is no reason for it.
  const isAnew =
    form.get("anew") === "1" && mayRegisterAnew(await vault().offer(slug, ask), visitor.isAdmin);
  const outcome = await vault().begin({
    slug,
    ...(ask !== undefined && { ask }),
    origin: context.origin,
    person: visitor.person,
    ...(isAnew && { isAnew }),
  });
  if (outcome.kind === "problem") {
    await auditFailure(submission, outcome.problem);
    return problemResponse(submission, outcome.problem);
  }
  const { name, value, seconds } = outcome.cookie;
  const headers = new Headers({ "Set-Cookie": cookie(name, value, seconds) });
  return seeOther(outcome.url, { origin: context.origin, headers });
}

async function keepKey(submission: AccountSubmission): Promise<Response> {
  const { server, form, ask, vault } = submission;
  // A key is often copied with the line's end.
  const key = (form.get("key") ?? "").trim();
  const outcome = await vault().enterKey(server.slug, key);
  if (outcome.kind === "connected") return connectedResponse(submission, outcome.account);
  const problem = outcome.kind === "problem" ? outcome.problem : { code: "unknown-link" };
  await auditFailure(submission, problem);
  const { status, title, whatHappened } = troubleWords(problem.code);
  const offer = await vault().offer(server.slug, ask);
  if (offer.kind === "problem") return problemResponse(submission, problem, offer.account);
  return offerPage(submission, offer, { status, keyError: `${title}. ${whatHappened}` });
}

/** Pages from which an account can be disconnected, beside its own. */
const BACK: ReadonlyMap<string | null, string> = new Map([
  ["account", PATHS.account],
  ["admin", PATHS.admin],
]);

const disconnectServed = submittedFor(async ({ vault, server, ...submission }) => {
  const { context, form } = submission;
  const { slug } = server;
  await disconnect(vault(), { ...submission, slug });
  const back = BACK.get(form.get("back")) ?? connectPath(slug);
  return done(context, back, "account-disconnected");
});

const disconnectUnserved = submittedBy(async (submission) => {
  const { context, visitor } = submission;
  const vault = context.accounts.vaults.of({ kind: "person", person: visitor.person });
  if (!(await disconnect(vault, submission))) return notFound(context);
  return done(context, PATHS.account, "account-disconnected");
});

/** An account at a server that is not configured any more is still its person's to end. */
export const disconnectAccount: AccountHandler = (context, request, slug) => {
  const isServed = context.accounts.servers.has(slug);
  return (isServed ? disconnectServed : disconnectUnserved)(context, request, slug);
};

async function disconnect(
  vault: Vault,
  { context, request, visitor, slug }: Omit<VisitorForm, "form">,
): Promise<boolean> {
  const account = (await vault.accounts()).find((one) => one.slug === slug);
  if (account === undefined || (await vault.disconnect(slug)) === "none") return false;
  await auditedAs(context, request, visitor, "account_disconnected", factsOf(account));
  return true;
}
