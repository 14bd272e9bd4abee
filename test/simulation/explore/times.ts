/** How long it takes to find each deliberate fault, from several starting seeds. */

import type { Fault } from "./deliberate.ts";
import type { Player } from "./search.ts";

/** From one starting seed to the next: further than any search goes. */
const APART = 10_000_000;

interface Way {
  readonly schedules: number;
  /** Of processor time. */
  readonly seconds: number;
}

export interface Times {
  readonly fault: Fault;
  readonly starts: number;
  readonly found: readonly Way[];
}

export async function timesOf(
  faults: readonly Fault[],
  players: readonly Player[],
  { starts, cpuSeconds }: { readonly starts: number; readonly cpuSeconds: number },
  say: (text: string) => void,
): Promise<Times[]> {
  const times = faults.map((fault) => ({ fault, starts, found: [] as Way[] }));
  // Every fault from one seed, and then from the next: what is not found shows early.
  const jobs = Array.from({ length: starts }, (_, start) => (start + 1) * APART).flatMap((from) =>
    times.map((row) => ({ row, from })),
  );
  const work = async (player: Player): Promise<void> => {
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
      const { row, from } = job;
      let schedules = 0;
      const bounds = { from, stride: 1, count: APART, cpuSeconds };
      const end = await player.play({ fault: row.fault.name, ...bounds }, ({ coverage }) => {
        schedules += coverage.schedules;
      });
      const took = `${schedules} schedules, ${end.cpuSeconds.toFixed(1)} s`;
      if (end.found === undefined) say(`${row.fault.name}: not found from ${from}, ${took}`);
      else {
        row.found.push({ schedules, seconds: end.cpuSeconds });
        say(`${row.fault.name}: seed ${end.found.seed}, ${took}: ${end.found.findings[0] ?? ""}`);
      }
    }
  };
  await Promise.all(players.map(work));
  return times;
}

/** As Markdown. */
export function timesTable(times: readonly Times[]): string {
  const rows = times.map(({ fault, starts, found }) => {
    const cells = [fault.area, fault.name, `${found.length} of ${starts}`];
    return [
      ...cells,
      range(found.map(({ schedules }) => schedules)),
      range(found.map(({ seconds }) => seconds)),
    ];
  });
  const head = ["Area", "Fault", "Found", "Schedules: median (worst)", "Seconds: median (worst)"];
  const lines = [head, ["---", "---", "--:", "--:", "--:"], ...rows];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** The median, of whole searches, and the worst. */
function range(values: readonly number[]): string {
  const sorted = values.toSorted((one, other) => one - other);
  const [median, worst] = [sorted[(sorted.length - 1) >> 1], sorted.at(-1)];
  if (median === undefined || worst === undefined) return "–";
  return `${median.toFixed(0)} (${worst.toFixed(0)})`;
}
