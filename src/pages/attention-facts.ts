/** Gathers what there may be to look after, for `/admin` and the other pages of whoever runs the gateway. */

import { diagnose } from "../auth/doctor/diagnose.ts";
import { recentLogins } from "../auth/doctor/read-traces.ts";
import type { AuthContext } from "../auth/context/context.ts";
import type { LoginTrace } from "../auth/trace/trace.ts";
import { clientOf } from "../auth/trace/trace-key.ts";
import { isShared, type OperatorContext } from "./account-context.ts";
import {
  attentionIn,
  type FailedLogin,
  isOld,
  type Known,
  type KnownAccount,
  type OfflineServer,
} from "./attention.ts";
import { accountsIn } from "./connected-accounts.ts";
import { clientNameOf } from "./login-names.ts";
import type { AttentionItem } from "./operator/attention-item.ts";
import { ownPublished } from "./published.ts";
import { connectPath, PATHS } from "./view/paths.ts";

/** Whose own accounts are looked at, beside those that all share. */
export interface Reader {
  /** The owner of a vault. */
  readonly person: string;
  readonly hasAccounts: boolean;
  readonly publishes: boolean;
}

export async function attentionOf(
  context: OperatorContext,
  reader: Reader,
): Promise<readonly AttentionItem[]> {
  return attentionIn(await gather(context, reader));
}

export async function gather(context: OperatorContext, reader: Reader): Promise<Known> {
  const { servers, auth } = context;
  const now = Date.now();
  const [health, accounts, logins, offline] = await Promise.all([
    servers.health(),
    accountsOf(context, reader),
    auth === undefined ? [] : failedLogins(auth, now),
    offlineOf(context, reader),
  ]);
  // Many objects are asked for it, so only where there is a server that it matters for.
  const isAnyOld = health.some((each) => isOld(each, now));
  const lastCalled = isAnyOld ? await servers.lastCalled().catch(() => undefined) : undefined;
  return {
    ...{ now, notices: servers.notices, servers: health, logins, lastCalled },
    accounts: accounts.known,
    offline: offline ?? [],
    notKnown: [
      ...(accounts.areAllKnown ? [] : ["sign-in" as const]),
      ...(offline === undefined ? ["offline" as const] : []),
    ],
  };
}

/** The reader's own: whether anybody else publishes something is nobody's business. */
async function offlineOf(
  { publishers, auth }: OperatorContext,
  { person: id, publishes }: Reader,
): Promise<readonly OfflineServer[] | undefined> {
  const own = await ownPublished({ publishers }, { id, publishes });
  // Without sign-in there is no page of an account: the first page has the command.
  const link = auth === undefined ? connectPath("stdio") : `${PATHS.account}#published`;
  return own?.flatMap(({ slug, host, offlineSince: since }) =>
    since === undefined ? [] : { slug, host, since, link },
  );
}

async function accountsOf(
  context: OperatorContext,
  { person, hasAccounts }: Reader,
): Promise<{ readonly known: readonly KnownAccount[]; readonly areAllKnown: boolean }> {
  const all = [...context.accounts.servers.values()];
  const isAnyShared = all.some(isShared);
  const isAnyOwn = hasAccounts && !all.every(isShared);
  const [shared, own] = await Promise.all([
    isAnyShared ? accountsIn(context, { kind: "shared" }) : [],
    isAnyOwn ? accountsIn(context, { kind: "person", person }) : [],
  ]);
  const known = all.flatMap((server) => {
    const summaries = isShared(server) ? shared : own;
    // Nothing is claimed of a vault that does not answer.
    if (summaries === undefined) return [];
    return { server, account: summaries.find(({ slug }) => slug === server.slug) };
  });
  return { known, areAllKnown: shared !== undefined && own !== undefined };
}

/** An application that has failed for longer than this has been given up. */
const LOGIN_MS = 86_400_000;
const READ_LOGINS = 100;
/** The others are on the page of all sign-ins. */
const MAX_LOGINS = 5;

/** @returns the applications whose last attempt has failed: one that succeeded since is well. */
async function failedLogins(
  { store, limits }: AuthContext,
  now: number,
): Promise<readonly FailedLogin[]> {
  const newest = new Map<string, LoginTrace>();
  for (const trace of await recentLogins(store, READ_LOGINS)) {
    const client = clientOf(trace.key);
    // They come newest first. Without an application it is a scanner more often than a person.
    if (client !== undefined && !newest.has(client)) newest.set(client, trace);
  }
  return [...newest.values()]
    .filter(({ updatedAt, steps }) => now - updatedAt < LOGIN_MS && !isTurnedAway(steps))
    .map((trace) => ({ trace, ...diagnose(trace.steps, now, limits) }))
    .filter(({ outcome }) => outcome === "failed")
    .slice(0, MAX_LOGINS)
    .map(({ trace, sentence }) => ({
      reference: trace.reference,
      ...{ name: clientNameOf(trace), sentence, at: trace.updatedAt },
    }));
}

/** A person who says no has no trouble. */
function isTurnedAway(steps: LoginTrace["steps"]): boolean {
  return steps.some(({ step }) => step.kind === "answered" && step.decision === "denied");
}
