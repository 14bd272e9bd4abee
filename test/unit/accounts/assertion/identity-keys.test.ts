/** When the keys of identity assertions are made, when they sign, and how long they are published. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import {
  IdentityKeys,
  type IdentityKeyStore,
  isKeyDue,
  signingKeyOf,
  type StoredIdentityKey,
  usefulKeys,
  withIdentityKey,
} from "../../../../src/accounts/assertion/identity-keys.ts";
import { identityKeyStore, ringOf } from "./identity-fixture.ts";

const DAY = 86_400_000;
const key = (kid: string, createdAt: number): StoredIdentityKey => ({
  kid,
  createdAt,
  sealed: "",
  public: {},
});

describe("the schedule", () => {
  test("a key is due when there is none, and a day before the newest is thirty days old", ({
    expect,
  }) => {
    expect(isKeyDue([], 0)).toBe(true);
    expect(isKeyDue([key("a", 0)], 29 * DAY)).toBe(false);
    expect(isKeyDue([key("a", 0)], 29 * DAY + 1)).toBe(true);
  });

  test("the first key signs at once, and a later one a day after it was published", ({
    expect,
  }) => {
    const keys = [key("b", 30 * DAY), key("a", 0)];
    expect(signingKeyOf([key("a", 0)], 0)?.kid).toBe("a");
    expect(signingKeyOf(keys, 31 * DAY - 1)?.kid).toBe("a");
    expect(signingKeyOf(keys, 31 * DAY)?.kid).toBe("b");
  });

  test("two Workers that offer a key at once add one", ({ expect }) => {
    const once = withIdentityKey([], key("a", 0), [], 5);
    expect(withIdentityKey(once, key("b", 0), [], 6)).toEqual([key("a", 5)]);
  });

  test("a key that cannot be opened is replaced", ({ expect }) => {
    const keys = withIdentityKey([key("a", 0)], key("b", 1), ["a"], 1);
    expect(keys.map(({ kid }) => kid)).toEqual(["b"]);
  });

  test("whatever signs was published for a day, and stays for two days after it last signed", ({
    expect,
  }) => {
    // Readings at random times, as Workers make them.
    const waits = fc.array(fc.integer({ min: 1, max: 40 * 24 }), { minLength: 2, maxLength: 60 });
    fc.assert(
      fc.property(waits, (hours) => {
        let keys: readonly StoredIdentityKey[] = [];
        let now = 0;
        const publishedAt = new Map<string, number>();
        const signedAt = new Map<string, number>();
        for (const [n, wait] of hours.entries()) {
          now += (wait * DAY) / 24;
          if (isKeyDue(keys, now)) keys = withIdentityKey(keys, key(`k${n}`, now), [], now);
          const published = usefulKeys(keys, now);
          for (const { kid } of published) publishedAt.set(kid, publishedAt.get(kid) ?? now);
          const signer = signingKeyOf(keys, now);
          const since = publishedAt.get(signer?.kid ?? "") ?? Infinity;
          expect(published).toContain(signer);
          if (publishedAt.size > 1) expect(now - since).toBeGreaterThanOrEqual(DAY);
          signedAt.set(signer?.kid ?? "", now);
          const gone = [...signedAt].filter(([kid]) => published.every((one) => one.kid !== kid));
          for (const [, last] of gone) expect(now - last).toBeGreaterThan(2 * DAY);
        }
      }),
    );
  });
});

describe("the keys of an isolate", () => {
  test("are made when there are none, and are the same for the next isolate", async ({
    expect,
  }) => {
    const store = identityKeyStore(() => 0);
    const ring = await ringOf("one");
    const first = new IdentityKeys(
      () => store,
      ring,
      () => 0,
    );
    const second = new IdentityKeys(
      () => store,
      ring,
      () => 0,
    );
    expect((await first.signer()).kid).toBe((await second.signer()).kid);
    expect(await first.published()).toEqual(await second.published());
  });

  test("are read again after ten minutes, and not before", async ({ expect }) => {
    let now = 0;
    let readings = 0;
    const store = identityKeyStore(() => now);
    const counting: IdentityKeyStore = {
      ...store,
      identityKeys: () => ((readings += 1), store.identityKeys()),
    };
    const keys = new IdentityKeys(
      () => counting,
      await ringOf("one"),
      () => now,
    );
    await keys.signer();
    now = 599_999;
    await keys.signer();
    expect(readings).toBe(1);
    now = 600_000;
    await keys.signer();
    expect(readings).toBe(2);
  });

  test("publish nothing of the private part, and store it sealed", async ({ expect }) => {
    const store = identityKeyStore(() => 0);
    const keys = new IdentityKeys(
      () => store,
      await ringOf("one"),
      () => 0,
    );
    const [published] = await keys.published();
    expect(Object.keys(published ?? {}).toSorted()).toEqual(
      ["alg", "crv", "kid", "kty", "use", "x", "y"].toSorted(),
    );
    expect(JSON.stringify(await store.identityKeys())).not.toContain('"d"');
  });

  test("begin anew when the secret has changed", async ({ expect }) => {
    const store = identityKeyStore(() => 0);
    const before = await new IdentityKeys(
      () => store,
      await ringOf("one"),
      () => 0,
    ).signer();
    const after = new IdentityKeys(
      () => store,
      await ringOf("other"),
      () => 0,
    );
    expect((await after.signer()).kid).not.toBe(before.kid);
    expect(await after.published()).toHaveLength(1);
  });
});
