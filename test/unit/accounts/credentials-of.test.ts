import { describe, test, vi } from "vitest";

import { credentialsOf } from "../../../src/accounts/credentials-of.ts";
import type { CredentialRequest, Vault, Vaults } from "../../../src/accounts/vault.ts";
import type { Credential, UsableCredential } from "../../../src/upstream/credentials.ts";

const HERE = "https://server.example/mcp";

const use = (generation: number, accountId = "a"): UsableCredential => ({
  kind: "use",
  accountId,
  generation,
  header: "Authorization",
  value: `Bearer ${accountId}${generation}`,
});

/** A vault that gives these answers, one after the other, and notes what it was asked. */
function vaultsWith(...answers: readonly Credential[]) {
  const asked: CredentialRequest[] = [];
  let accounts = 0;
  const vault = {
    credential: async (request: CredentialRequest) => {
      asked.push(request);
      return answers[Math.min(asked.length, answers.length) - 1];
    },
    lacking: async () => answers[0],
    account: async () => {
      accounts += 1;
      return accounts === 1 ? undefined : "a";
    },
  } as unknown as Vault;
  const vaults: Vaults = { of: () => vault, sealRegistrations: async () => 0 };
  const credentials = credentialsOf(vaults, {
    owner: { kind: "person", person: "u" },
    slug: "s",
    endpoint: HERE,
    cacheSeconds: 5,
  });
  return { asked, credentials, accountsAsked: () => accounts };
}

describe("the credentials of a server", () => {
  test("ask the vault once in five seconds", async ({ expect }) => {
    vi.useFakeTimers();
    try {
      const { asked, credentials } = vaultsWith(use(1), use(2));
      expect(await credentials.current()).toEqual(use(1));
      vi.advanceTimersByTime(4999);
      expect(await credentials.current()).toEqual(use(1));
      expect(asked).toHaveLength(1);
      vi.advanceTimersByTime(1);
      expect(await credentials.current()).toEqual(use(2));
    } finally {
      vi.useRealTimers();
    }
  });

  test("are asked for each time while there is no account", async ({ expect }) => {
    const need: Credential = { kind: "need", need: "connect", reason: "not-connected" };
    const { credentials } = vaultsWith(need, use(1));
    expect(await credentials.current()).toEqual(need);
    expect(await credentials.current()).toEqual(use(1));
  });

  test("name the generation that was refused, with the server's challenge", async ({ expect }) => {
    const { asked, credentials } = vaultsWith(use(1), use(2));
    await credentials.current();
    expect(await credentials.refused(use(1), { error: "invalid_token" })).toEqual(use(2));
    expect(asked[1]).toEqual({
      slug: "s",
      refused: { accountId: "a", generation: 1 },
      challenge: { error: "invalid_token" },
    });
    expect(await credentials.current()).toEqual(use(2));
    expect(asked).toHaveLength(2);
  });

  test.for([use(2), use(1, "b")])(
    "give what another request has got already: generation $generation of $accountId",
    async (newer, { expect }) => {
      const { asked, credentials } = vaultsWith(newer);
      await credentials.current();
      expect(await credentials.refused(use(1), undefined)).toEqual(newer);
      expect(asked).toHaveLength(1);
    },
  );

  test("know the account of the value that they have, and ask for it until there is one", async ({
    expect,
  }) => {
    const { credentials, accountsAsked } = vaultsWith(use(1));
    expect(await credentials.account()).toBeUndefined();
    expect(await credentials.account()).toBe("a");
    expect(await credentials.account()).toBe("a");
    expect(accountsAsked()).toBe(2);
    expect(await credentials.current()).toEqual(use(1));
    expect(await credentials.account()).toBe("a");
    expect(accountsAsked()).toBe(2);
  });

  test("forget a value that was refused when there is none to replace it", async ({ expect }) => {
    const need: Credential = { kind: "need", need: "connect", reason: "refused" };
    const { credentials } = vaultsWith(use(1), need);
    await credentials.current();
    expect(await credentials.refused(use(1), undefined)).toEqual(need);
    expect(await credentials.current()).toEqual(need);
  });

  test("are sent to no other address than that of their account", async ({ expect }) => {
    const elsewhere = { ...use(2), endpoint: "https://server.example/moved" };
    const here = { ...use(3), endpoint: HERE };
    const { credentials } = vaultsWith(elsewhere, elsewhere, here);
    const later = { kind: "need", need: "later", reason: "server-changed" };
    expect(await credentials.current()).toEqual(later);
    expect(await credentials.refused(use(1), undefined)).toEqual(later);
    expect(await credentials.lacking(use(1), { error: "insufficient_scope" })).toEqual(later);
    // It is not kept: the vault, or the isolate, knows of the change in a moment.
    expect(await credentials.current()).toEqual(here);
  });

  test("take those of a vault of an earlier version, which says no address", async ({ expect }) => {
    const { credentials } = vaultsWith(use(1));
    expect(await credentials.current()).toEqual(use(1));
  });
});
