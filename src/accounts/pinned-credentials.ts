/**
 * The credentials of one account and no other: what a feed has read is of the account that it is named
 * after, and must not become that of another one which the person has connected since.
 */

import type { AccountNeed, Credential, Credentials } from "../upstream/credentials.ts";

const REPLACED: AccountNeed = { kind: "need", need: "connect", reason: "account-replaced" };

export function pinnedTo(accountId: string, credentials: Credentials): Credentials {
  const own = (credential: Credential): Credential =>
    credential.kind === "use" && credential.accountId !== accountId ? REPLACED : credential;
  return {
    owner: credentials.owner,
    account: () => Promise.resolve(accountId),
    changed: () => credentials.changed(),
    announce: () => credentials.announce(),
    connected: (waitMs) => credentials.connected(waitMs),
    current: async () => own(await credentials.current()),
    refused: async (...refusal) => own(await credentials.refused(...refusal)),
    lacking: async (...refusal) => own(await credentials.lacking(...refusal)),
  };
}
