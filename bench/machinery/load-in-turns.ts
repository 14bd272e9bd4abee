/** Several servers under the same load, one after the other, again and again. */

import { type Measured, type Participant, takeTurns } from "../turns.ts";
import { naming, type Running } from "./field.ts";
import { type Asking, type Load, openLoad } from "./load.ts";
import { metered } from "./metered-load.ts";

/** A server, and what each connection asks it for. */
export interface Field {
  readonly running: Running;
  readonly askings: readonly Asking[];
}

const CONNECTING_SECONDS = 0.1;

/** @throws Error that names who could not be measured. */
export async function loadInTurns(
  fields: readonly Field[],
  { seconds, rounds }: { readonly seconds: number; readonly rounds: number },
): Promise<readonly Measured[]> {
  const loads: Load[] = [];
  try {
    const participants: Participant[] = [];
    for (const { running, askings } of fields) {
      const { name, server } = running;
      const load = openLoad(server.url, askings);
      loads.push(load);
      await naming(name, () => load.run(CONNECTING_SECONDS));
      const meteredLoad = metered(load, server);
      participants.push({ name, sample: () => meteredLoad.run(seconds) });
    }
    return await takeTurns(participants, { rounds, patienceSeconds: Infinity });
  } finally {
    for (const load of loads) load.close();
  }
}

/** How much one server answers, once. */
export async function loadOnce(field: Field, seconds: number): Promise<Measured> {
  const [measured] = await loadInTurns([field], { seconds, rounds: 1 });
  if (measured === undefined) throw new Error(`${field.running.name} was not measured`);
  return measured;
}
