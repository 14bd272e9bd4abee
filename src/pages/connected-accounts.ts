/**
 * Who has which account at which server: a person's own, for `/account`; everybody's, for `/admin`. Only the
 * vaults of people who have begun to connect one are asked, since asking a vault calls it to life. A page has more
 * than accounts, so it is shown without those of a vault that does not answer.
 */

import { callbackUrl } from "../accounts/addresses.ts";
import { isSignInWay, labelOf } from "../accounts/settings.ts";
import type { AccountSummary, VaultOwner } from "../accounts/vault.ts";
import type { User } from "../auth/store/users.ts";
import { mapLimited } from "../lib/map-limited.ts";
import { logUnexpected } from "../observability/unexpected.ts";
import {
  type AccountServer,
  type ConnectContext,
  hostOf,
  isShared,
  type SiteContext,
} from "./account-context.ts";
import { shownAccount } from "./account-models.ts";
import type { AccountServerRow, OwnAccountRow } from "./view/accounts-view.ts";
import { personLabel } from "./words.ts";

type Owner = Pick<User, "id" | "hasAccounts">;

/** @returns `undefined` where the vault does not answer. */
export async function accountsIn(
  { accounts }: Pick<ConnectContext, "accounts">,
  owner: VaultOwner,
): Promise<readonly AccountSummary[] | undefined> {
  try {
    return await accounts.vaults.of(owner).accounts();
  } catch (error) {
    logUnexpected(error); // the object restarts
    return undefined;
  }
}

async function accountsOf(
  context: Pick<ConnectContext, "accounts">,
  { id, hasAccounts }: Owner,
): Promise<readonly AccountSummary[] | undefined> {
  return hasAccounts === true ? accountsIn(context, { kind: "person", person: id }) : [];
}

/**
 * Each server that asks for an account of this person, and what they have at others.
 *
 * @returns `undefined` where their vault does not answer.
 */
export async function ownAccounts(
  context: SiteContext,
  user: Owner,
): Promise<readonly OwnAccountRow[] | undefined> {
  const { servers } = context.accounts;
  const known = await accountsOf(context, user);
  if (known === undefined) return undefined;
  const rest = new Map(known.map((each) => [each.slug, each]));
  const rows = [...servers.values()]
    .filter((server) => !isShared(server))
    .map((server): OwnAccountRow => {
      const { slug, url } = server;
      const account = rest.get(slug);
      rest.delete(slug);
      return {
        ...{ slug, label: labelOf(server), host: hostOf(url) },
        account: account && shownAccount(account),
      };
    });
  const unserved = Array.from(rest.values(), (account): OwnAccountRow => {
    const { slug } = account;
    return { slug, label: slug, host: undefined, account: shownAccount(account) };
  });
  return [...rows, ...unserved];
}

/** Vaults that are asked at a time. */
const AT_A_TIME = 20;
/** Vaults that are asked for one page: Cloudflare lets one request make 1,000 calls, those to objects included. */
const ASKED = 500;

/** Whose accounts are listed, with their names. */
export interface AccountHolder extends Owner {
  readonly label: string;
}

/** @param holders those whose accounts matter most come first. */
export async function accountServers(
  context: ConnectContext,
  holders: readonly AccountHolder[],
): Promise<readonly AccountServerRow[]> {
  const { servers } = context.accounts;
  if (servers.size === 0) return [];
  const owners = holders.filter(({ hasAccounts }) => hasAccounts === true);
  const isAnyShared = [...servers.values()].some(isShared);
  const [shared, ...own] = await Promise.all([
    isAnyShared ? accountsIn(context, { kind: "shared" }) : [],
    mapLimited(owners.slice(0, ASKED), AT_A_TIME, async (owner) => ({
      label: owner.label,
      accounts: await accountsOf(context, owner),
    })),
  ]);
  const people = own
    .flat()
    .flatMap(({ label, accounts }) => (accounts === undefined ? [] : [{ label, accounts }]));
  return Promise.all(
    Array.from(servers.values(), async (server): Promise<AccountServerRow> => {
      const { slug, url, auth } = server;
      const ofAll = isShared(server) ? shared?.find((each) => each.slug === slug) : undefined;
      return {
        ...{ slug, label: labelOf(server), host: hostOf(url), kind: auth.kind },
        redirectUri: redirectUriOf(server, context.origin),
        shared: ofAll && shownAccount(ofAll, await nameOf(context, ofAll.connectedBy)),
        people: people.flatMap(({ label, accounts }) => {
          const account = accounts.find((each) => each.slug === slug);
          return account === undefined ? [] : [{ label, account: shownAccount(account) }];
        }),
        isSharedKnown: shared !== undefined,
        notKnown: owners.length - people.length,
      };
    }),
  );
}

function redirectUriOf({ slug, auth }: AccountServer, origin: string): string | undefined {
  return isSignInWay(auth) ? callbackUrl(origin, slug) : undefined;
}

async function nameOf(
  { auth }: ConnectContext,
  id: string | undefined,
): Promise<string | undefined> {
  if (id === undefined || auth === undefined) return undefined;
  const user = await auth.store.ofUser(id).users.find(id);
  return user && personLabel(user);
}
