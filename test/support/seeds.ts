/** The seeds of a test that draws its moments: as many as it says, times `SEED_FACTOR` of the environment. */

const FACTOR = Number(process.env["SEED_FACTOR"] ?? 1);

export function seedsUpTo(most: number): readonly number[] {
  if (!Number.isInteger(FACTOR) || FACTOR < 1) {
    throw new Error("SEED_FACTOR is no whole number from 1 on. Give one, or leave it out");
  }
  return Array.from({ length: most * FACTOR }, (_, index) => index + 1);
}
