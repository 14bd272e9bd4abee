/**
 * The rounds of one row: each participant in turn, and another one first each time, so that the
 * machine's drift hits all alike. Many short rounds are better than a few long ones: what comes and
 * goes then meets everybody. Whatever cannot be measured ends the row with an error.
 */

/** What one participant did in one round, by the name of what was measured. */
export type Sample = Readonly<Record<string, number>>;

export interface Participant {
  readonly name: string;
  /** @throws Error when anything was not as it should be: there is no number then. */
  readonly sample: () => Promise<Sample>;
}

export interface Measured {
  readonly name: string;
  readonly samples: readonly Sample[];
}

export interface Pace {
  /** So many at the most. */
  readonly rounds: number;
  /** After so many seconds no further round begins, if there were enough. */
  readonly patienceSeconds: number;
}

/** What is repeated less often than this says little. */
const ENOUGH_ROUNDS = 5;

/**
 * @param participants ours first.
 * @param now the time in ms.
 * @returns in their order; each with one sample for each round.
 * @throws Error that names the participant that could not be measured.
 */
export async function takeTurns(
  participants: readonly Participant[],
  { rounds, patienceSeconds }: Pace,
  now: () => number = () => performance.now(),
): Promise<readonly Measured[]> {
  const samples = participants.map((): Sample[] => []);
  const until = now() + patienceSeconds * 1000;
  for (let round = 0; round < rounds && (round < ENOUGH_ROUNDS || now() < until); round++) {
    for (let turn = 0; turn < participants.length; turn++) {
      const index = (round + turn) % participants.length;
      const participant = participants[index];
      if (participant !== undefined) samples[index]?.push(await sampleOf(participant));
    }
  }
  return participants.map(({ name }, index) => ({ name, samples: samples[index] ?? [] }));
}

async function sampleOf({ name, sample }: Participant): Promise<Sample> {
  try {
    const taken = await sample();
    for (const [metric, value] of Object.entries(taken)) {
      if (!Number.isFinite(value)) throw new Error(`${metric} is ${value}`);
    }
    return taken;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${name} could not be measured: ${reason}`, { cause });
  }
}
