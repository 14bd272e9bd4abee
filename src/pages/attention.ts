/**
 * What needs somebody, derived from what is known at the moment of asking: nothing of it is kept, so an item is gone
 * as soon as its cause is.
 */

import { connectPath } from "../accounts/addresses.ts";
import type { AccountSummary } from "../accounts/vault.ts";
import type { EntryNotice, ServerHealth } from "../observability/health.ts";
import type { AccountServer } from "./account-context.ts";
import { labelOf } from "../accounts/settings.ts";
import { type AskedKind, type AttentionItem, ranked } from "./operator/attention-item.ts";
import { troubleWords } from "./trouble-words.ts";
import { adminServerPath, loginPath, PATHS } from "./view/paths.ts";

/** All that is looked at. */
export interface Known {
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly notices: readonly EntryNotice[];
  readonly servers: readonly ServerHealth[];
  readonly accounts: readonly KnownAccount[];
  readonly logins: readonly FailedLogin[];
  /** When servers were last called, by slug; `undefined` where that is not known. */
  readonly lastCalled?: ReadonlyMap<string, number> | undefined;
  /** Of the servers that the reader publishes, those whose machines are not connected. */
  readonly offline?: readonly OfflineServer[];
  /** The kinds that something could not be asked for: that they have no item says nothing. */
  readonly notKnown: readonly AskedKind[];
}

/** The account of a server that all share, or the reader's own. */
export interface KnownAccount {
  readonly server: AccountServer;
  readonly account: AccountSummary | undefined;
}

/** The last attempt of an application, which has failed. */
export interface FailedLogin {
  readonly reference: string;
  readonly name: string;
  readonly sentence: string;
  readonly at: number;
}

export interface OfflineServer {
  readonly slug: string;
  /** The machine, as it calls itself. */
  readonly host: string;
  readonly since: number;
  /** Where its publisher reads what to do. */
  readonly link: string;
}

export function attentionIn(known: Known): readonly AttentionItem[] {
  return ranked([
    ...known.accounts.flatMap((each) => signIn(each) ?? []),
    ...known.notices.flatMap((each) => configuration(each) ?? []),
    ...known.servers.flatMap((each) => unreachable(each, known.now) ?? []),
    ...known.logins.map(login),
    ...known.servers.flatMap(conflicts),
    ...(known.offline ?? []).flatMap((each) => offline(each, known.now)),
    ...known.servers.flatMap((each) => unused(each, known) ?? []),
  ]);
}

/** Accounts in these states work again when a person connects them again. */
const ENDED: ReadonlySet<AccountSummary["state"]> = new Set([
  "needs-connect",
  "needs-scope",
  "moved",
]);

/** What is no account of a person's own. */
const WHOSE: Readonly<Partial<Record<AccountServer["auth"]["kind"], string>>> = {
  "oauth-shared": "The account that all share",
  "client-credentials": "The gateway's own account there",
};

function signIn({ server, account }: KnownAccount): AttentionItem | undefined {
  const { slug, auth } = server;
  const subject = labelOf(server);
  if (account === undefined) {
    if (auth.kind !== "oauth-shared") return undefined;
    const what = `Nobody has connected the account that all share.`;
    return {
      ...link("Connect it", connectPath(slug)),
      kind: "sign-in",
      subject,
      what,
      since: undefined,
    };
  }
  const trouble = account.trouble === undefined ? undefined : troubleWords(account.trouble);
  const needsOperator = account.state === "failing" && trouble?.help === "operator";
  if (!ENDED.has(account.state) && !needsOperator) return undefined;
  const why = account.state === "needs-scope" ? "It has to allow more." : trouble?.whatHappened;
  const what = `${WHOSE[auth.kind] ?? "Your account there"} does not work${why === undefined ? "." : `: ${lowerFirst(why)}`}`;
  // Nobody connects the gateway's own account: its page says what is wrong.
  const isOwn = auth.kind === "client-credentials";
  const remedy = isOwn
    ? link("See the server", adminServerPath(slug))
    : link("Connect it again", connectPath(slug));
  return { ...remedy, kind: "sign-in", subject, what, since: account.since };
}

function configuration(notice: EntryNotice): AttentionItem | undefined {
  const { name, slug, state, sentences, missingSecrets = [] } = notice;
  if (state === "off") return undefined;
  const path = slug === undefined ? `${PATHS.admin}#entries` : adminServerPath(slug);
  const common = { ...link("See how", path), subject: name, since: undefined };
  if (missingSecrets.length > 0) {
    const one = missingSecrets.length === 1;
    const names = missingSecrets.join(", ");
    const what = `The ${one ? "secret" : "secrets"} ${names} ${one ? "is" : "are"} not set, so it is not served.`;
    return { ...common, kind: "secret", what };
  }
  return { ...common, kind: "configuration", what: sentences.join(" ") };
}

/** Shorter outages are over before anybody has read of them. */
const OUTAGE_MS = 60_000;
/** The gateway itself failed for a moment; the account is an item of its own. */
const ELSEWHERE: ReadonlySet<string> = new Set(["gateway", "account"]);

function unreachable(server: ServerHealth, now: number): AttentionItem | undefined {
  const { slug, label = slug, trouble } = server;
  if (trouble === undefined || ELSEWHERE.has(trouble.reason)) return undefined;
  if (now - trouble.since < OUTAGE_MS) return undefined;
  const cause = trouble.cause === undefined ? "" : ` (${trouble.cause})`;
  return {
    ...link("See the server", adminServerPath(slug)),
    ...{
      kind: "unreachable",
      subject: label,
      what: `${trouble.message}${cause}.`,
      since: trouble.since,
    },
  };
}

function login({ reference, name, sentence, at }: FailedLogin): AttentionItem {
  return {
    ...link("See the attempt", loginPath(reference)),
    ...{ kind: "login", subject: name, what: sentence, since: at },
  };
}

function conflicts({ slug, label = slug, conflicts: all = [] }: ServerHealth): AttentionItem[] {
  return all.map(({ message, since }) => ({
    ...link("See the resources", adminServerPath(slug)),
    ...{ kind: "conflict", subject: label, what: `${message}.`, since },
  }));
}

/** Shorter breaks are those of a network. */
function offline({ slug, host, since, link: path }: OfflineServer, now: number): AttentionItem[] {
  if (now - since < OUTAGE_MS) return [];
  const machine = host === "" ? "its machine" : host;
  const what = `You publish it from ${machine}, which is not connected. Start edgeway publish there again, or end it.`;
  return [{ ...link("See how", path), kind: "offline", subject: slug, what, since }];
}

const UNUSED_DAYS = 14;
const UNUSED_MS = UNUSED_DAYS * 86_400_000;

/** True of a server that is known for long enough to be called unused. */
export function isOld({ knownSince }: ServerHealth, now: number): boolean {
  return knownSince !== undefined && now - knownSince >= UNUSED_MS;
}

function unused(server: ServerHealth, { now, lastCalled }: Known): AttentionItem | undefined {
  const { slug, label = slug, knownSince } = server;
  if (lastCalled === undefined || !isOld(server, now)) return undefined;
  const since = lastCalled.get(slug) ?? knownSince;
  if (since !== undefined && now - since < UNUSED_MS) return undefined;
  const what = `Nobody has called it for ${UNUSED_DAYS} days or more, as far as calls are recorded.`;
  return {
    ...link("See the server", adminServerPath(slug)),
    kind: "unused",
    subject: label,
    what,
    since,
  };
}

function link(remedy: string, path: string): Pick<AttentionItem, "remedy" | "link"> {
  return { remedy, link: path };
}

function lowerFirst(sentence: string): string {
  return sentence.slice(0, 1).toLowerCase() + sentence.slice(1);
}
