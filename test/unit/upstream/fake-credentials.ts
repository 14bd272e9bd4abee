/** The credentials of one account, as a vault would give them: refreshed where the server refuses one. */

import type { BearerChallenge } from "../../../src/protocol/bearer-challenge.ts";
import type {
  AccountNeed,
  Credential,
  Credentials,
  UsableCredential,
} from "../../../src/upstream/credentials.ts";

export const CONNECT: AccountNeed = { kind: "need", need: "connect", reason: "refused" };

export interface FakeCredentials extends Credentials {
  accountId: string;
  generation: number;
  /** What the vault says instead of giving a credential. */
  need: AccountNeed | undefined;
  /** Refreshes work. */
  refreshes: boolean;
  /** Called when a credential is asked for; a credential is given once it has resolved. */
  onCurrent: () => Promise<void>;
  readonly asked: ("current" | "refused" | "lacking")[];
  readonly challenges: (BearerChallenge | undefined)[];
}

/** What a request carries with this generation of the account. */
export function tokenOf(accountId: string, generation: number): string {
  return `Bearer ${accountId}-${generation}`;
}

export function fakeCredentials(accountId = "a1"): FakeCredentials {
  const use = (): UsableCredential => ({
    kind: "use",
    accountId: fake.accountId,
    generation: fake.generation,
    header: "Authorization",
    value: tokenOf(fake.accountId, fake.generation),
  });
  const fake: FakeCredentials = {
    owner: "person p1",
    accountId,
    generation: 1,
    need: undefined,
    refreshes: true,
    onCurrent: () => Promise.resolve(),
    asked: [],
    challenges: [],
    changed: () => undefined,
    announce: () => Promise.resolve(),
    connected: () => Promise.resolve(),
    account: () => Promise.resolve(fake.accountId),
    async current(): Promise<Credential> {
      fake.asked.push("current");
      await fake.onCurrent();
      return fake.need ?? use();
    },
    async refused(credential, challenge): Promise<Credential> {
      fake.asked.push("refused");
      fake.challenges.push(challenge);
      // The caller has an older one than the vault.
      if (credential.generation < fake.generation) return use();
      if (!fake.refreshes) fake.need = CONNECT;
      if (fake.need !== undefined) return fake.need;
      await Promise.resolve();
      if (credential.generation === fake.generation) fake.generation += 1;
      return use();
    },
    lacking(credential, challenge): Promise<Credential> {
      fake.asked.push("lacking");
      fake.challenges.push(challenge);
      if (credential.generation < fake.generation) return Promise.resolve(use());
      return Promise.resolve({ kind: "need", need: "scope", reason: "insufficient-scope" });
    },
  };
  return fake;
}
