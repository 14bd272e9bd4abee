/** An account at a server, as every page shows it. */

import type { AccountState } from "../../accounts/vault.ts";
import type { Html } from "./html.ts";
import { badge, type BadgeLook, exactText, type Fact, foreign, lastUse } from "./parts.ts";
import { when } from "./time.ts";

export interface ShownAccount {
  readonly state: AccountState;
  /** The host of the authorization server; `undefined` for a key. */
  readonly issuerHost: string | undefined;
  /** The last characters of a key. */
  readonly keyEnd: string | undefined;
  readonly granted: readonly string[];
  readonly connectedAt: number;
  readonly usedAt: number | undefined;
  /** The sentence on what is wrong with it. */
  readonly trouble: string | undefined;
  /** The person who connected it for all. */
  readonly connectedBy: string | undefined;
}

const STATES: Readonly<Record<AccountState, readonly [label: string, look: BadgeLook]>> = {
  connected: ["Connected", "good"],
  uncertain: ["Connected for now", "warn"],
  "needs-connect": ["Connect it again", "bad"],
  "needs-scope": ["Has to allow more", "warn"],
  moved: ["Connect it again", "bad"],
  failing: ["Cannot be renewed at the moment", "warn"],
};

export function accountBadge(account: Pick<ShownAccount, "state"> | undefined): Html {
  return account === undefined ? badge("Not connected") : badge(...STATES[account.state]);
}

/** @returns whether calls go through with it now. */
export function isWorking({ state }: Pick<ShownAccount, "state">): boolean {
  return state === "connected" || state === "uncertain" || state === "failing";
}

export function accountFacts(account: ShownAccount, now: number): readonly Fact[] {
  const { issuerHost, keyEnd, granted, connectedBy, trouble } = account;
  return [
    ...fact("Signed in at", issuerHost && exactText(issuerHost)),
    ...fact("Key ends in", keyEnd && exactText(`…${keyEnd}`)),
    ...fact("Allows", granted.length > 0 && exactText(granted.join(" "))),
    ["Connected", when(account.connectedAt, now)],
    ...fact("Connected by", connectedBy && foreign(connectedBy, "somebody")),
    lastUse(lastUsedAt(account), now),
    ...fact("Problem", trouble),
  ];
}

/** The use is known to the hour, which may have begun before the account was connected. */
function lastUsedAt({ usedAt, connectedAt }: ShownAccount): number | undefined {
  return usedAt === undefined ? undefined : Math.max(usedAt, connectedAt);
}

function fact(label: string, value: Html | string | false | undefined): readonly Fact[] {
  return value === undefined || value === false || value === "" ? [] : [[label, value]];
}
