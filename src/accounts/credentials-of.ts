/**
 * The credentials of one server, out of the vault of one owner. A value that the vault gave is kept in the
 * isolate for some seconds, so that a busy client costs a call of the vault every few seconds; it takes
 * as long until a disconnected account is not used any more. Only values are kept: on Workers, a promise
 * belongs to the request that made it.
 */

import type {
  AccountNeed,
  Credential,
  Credentials,
  UsableCredential,
} from "../upstream/credentials.ts";
import { ownerName } from "./owner-name.ts";
import type { CredentialRequest, VaultOwner, Vaults } from "./vault.ts";

interface Held {
  readonly accountId: string;
  readonly credential: UsableCredential | undefined;
  /** Milliseconds since 1970. */
  readonly until: number;
}

export interface CredentialsOptions {
  readonly owner: VaultOwner;
  readonly slug: string;
  /** Where the server is, as this isolate knows it. */
  readonly endpoint: string;
  /** How long a value of the vault is used; 0 asks for each request. */
  readonly cacheSeconds: number;
}

/** An operator has just changed the server's address, of which either the vault or this isolate does not know yet. */
const SERVER_CHANGED: AccountNeed = { kind: "need", need: "later", reason: "server-changed" };

export function credentialsOf(
  vaults: Vaults,
  { owner, slug, endpoint, cacheSeconds }: CredentialsOptions,
): Credentials {
  let held: Held | undefined;

  /** That there is no account is not kept: the person may connect one at any moment. */
  function hold(accountId: string | undefined, credential?: UsableCredential): void {
    const until = Date.now() + cacheSeconds * 1000;
    held = accountId === undefined ? undefined : { accountId, credential, until };
  }

  function known(): Held | undefined {
    return held !== undefined && Date.now() < held.until ? held : undefined;
  }

  async function ask(request: Omit<CredentialRequest, "slug">): Promise<Credential> {
    return keep(await vaults.of(owner).credential({ slug, ...request }));
  }

  function keep(given: Credential): Credential {
    const credential = isElsewhere(given) ? SERVER_CHANGED : given;
    if (credential.kind === "use") hold(credential.accountId, credential);
    else held = undefined;
    return credential;
  }

  function isElsewhere(given: Credential): boolean {
    return given.kind === "use" && given.endpoint !== undefined && given.endpoint !== endpoint;
  }

  return {
    owner: ownerName(owner),
    async account() {
      const cached = known()?.accountId;
      if (cached !== undefined) return cached;
      const accountId = await vaults.of(owner).account(slug);
      if (known()?.accountId !== accountId) hold(accountId);
      return accountId;
    },
    async current() {
      return known()?.credential ?? (await ask({}));
    },
    changed() {
      held = undefined;
    },
    async announce() {
      await vaults.of(owner).announce();
    },
    async connected(waitMs) {
      await vaults.of(owner).connected(slug, waitMs);
    },
    async refused({ accountId, generation }, challenge) {
      const cached = known()?.credential;
      // Another request was refused before, and the vault has given a newer value since.
      if (cached !== undefined && isNewer(cached, { accountId, generation })) return cached;
      const refused = { accountId, generation };
      return ask({ refused, ...(challenge !== undefined && { challenge }) });
    },
    async lacking({ accountId, generation }, challenge) {
      return keep(await vaults.of(owner).lacking({ slug, accountId, generation, challenge }));
    },
  };
}

type Version = Pick<UsableCredential, "accountId" | "generation">;

function isNewer(known: Version, refused: Version): boolean {
  return known.accountId !== refused.accountId || known.generation > refused.generation;
}
