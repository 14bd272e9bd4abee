/** When keys are replaced and deleted, at given times. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { rotate, type StoredKey } from "../../../src/endpoint/key-rotation.ts";

const DAY = 86_400_000;
const LIFE = 365 * DAY;
const ages = (keys: readonly StoredKey[], now: number): number[] =>
  keys.map(({ createdAt }) => (now - createdAt) / DAY);

function keysOfAges(now: number, ...days: readonly number[]): StoredKey[] {
  return days.map((day) => ({ material: `key of day ${day}`, createdAt: now - day * DAY }));
}

describe("rotate()", () => {
  test("makes the first key, of 32 random bytes", ({ expect }) => {
    const made = Array.from({ length: 20 }, () => rotate([], 7, LIFE));
    for (const keys of made) {
      expect(keys).toEqual([{ material: expect.stringMatching(/^[\w-]{43}$/), createdAt: 7 }]);
    }
    expect(new Set(made.map(([key]) => key?.material)).size).toBe(20);
  });

  test.for([0, 1, 29.99, 30])(
    "changes nothing while the newest is %d days old",
    (age, { expect }) => {
      const keys = keysOfAges(0, age, age + 31);
      expect(rotate(keys, 0, LIFE)).toBe(keys);
    },
  );

  test.for([30.01, 31, 400])(
    "puts a new key first when the newest is %d days old",
    (age, { expect }) => {
      const keys = keysOfAges(0, age);
      const [made, ...others] = rotate(keys, 0, LIFE);
      expect(made?.createdAt).toBe(0);
      expect(others).toEqual(keys);
    },
  );

  test("keeps a key for the life of what it sealed, and a month; then forgets it", ({ expect }) => {
    const keys = keysOfAges(0, 1, 31, 425, 425.01, 460);
    expect(ages(rotate(keys, 0, LIFE), 0)).toEqual([1, 31, 425]);
    expect(ages(rotate(keys, 0, 10 * DAY), 0)).toEqual([1, 31]);
  });

  test("makes a new key when all are deleted", ({ expect }) => {
    expect(ages(rotate(keysOfAges(0, 4000, 5000), 0, LIFE), 0)).toEqual([0]);
  });

  test("leaves no isolate without the key of an unexpired id, whenever keys are requested", ({
    expect,
  }) => {
    const steps = fc.array(fc.double({ min: 0, max: 100, noNaN: true }), { maxLength: 60 });
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 400 }), (days, lifeDays) => {
        const sealed: { material: string; expiresAt: number }[] = [];
        let keys: readonly StoredKey[] = [];
        let now = 0;
        for (const day of days) {
          now += day * DAY;
          keys = rotate(keys, now, lifeDays * DAY);
          const [current] = keys;
          expect(now - (current?.createdAt ?? 0)).toBeLessThanOrEqual(30 * DAY);
          const known = new Set(keys.map(({ material }) => material));
          const missing = sealed.filter((id) => id.expiresAt > now && !known.has(id.material));
          expect(missing).toEqual([]);
          expect(keys.length).toBeLessThanOrEqual((60 + lifeDays) / 30 + 1);
          // An isolate that received this key seals with it for a month at the most.
          const expiresAt = now + (30 + lifeDays) * DAY;
          sealed.push({ material: current?.material ?? "", expiresAt });
        }
      }),
    );
  });
});
