/** Numbers that look random and come again with the same seed (mulberry32), so that a failure does too. */

export interface Seeded {
  /** A whole number from `min` to `max`, both included. */
  readonly int: (min: number, max: number) => number;
  readonly pick: <T>(values: readonly T[]) => T;
}

export function seeded(seed: number): Seeded {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  const pick = <T>(values: readonly T[]): T => {
    const [value] = values.slice(int(0, values.length - 1)) as [T];
    return value;
  };
  return { int, pick };
}

declare module "vitest" {
  interface ProvidedContext {
    /** `SEED_FACTOR`, for tests that run where there is no environment. */
    seedFactor: number;
  }
}
