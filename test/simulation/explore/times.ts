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
  const jobs = times.flatMap((row) =>
    Array.from({ length: starts }, (_, start) => ({ row, from: (start + 1) * APART })),
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

/** The part of the gateway that has the fault. */
function partOf({ edits: [edit] }: Fault): string {
  const file = edit?.file ?? "";
  const folders = { "src/relay": "bridge", "src/notifications": "notifications" };
  const found = Object.entries(folders).find(([folder]) => file.startsWith(folder));
  return found?.[1] ?? (/account|vault/.test(file) ? "vault" : "sessions");
}

/** As Markdown. */
export function timesTable(times: readonly Times[]): string {
  const rows = times.map(({ fault, starts, found }) => {
    const cells = [partOf(fault), fault.name, `${found.length} of ${starts}`];
    return [
      ...cells,
      range(found.map(({ schedules }) => schedules)),
      range(found.map(({ seconds }) => seconds)),
    ];
  });
  const head = ["Part", "Fault", "Found", "Schedules: half (all)", "Seconds: half (all)"];
  const lines = [head, ["---", "---", "--:", "--:", "--:"], ...rows];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** The most that half of the searches took, and the most that any did. */
function range(values: readonly number[]): string {
  const sorted = values.toSorted((one, other) => one - other);
  const [half, most] = [sorted[(sorted.length - 1) >> 1], sorted.at(-1)];
  if (half === undefined || most === undefined) return "–";
  return `${half.toFixed(0)} (${most.toFixed(0)})`;
}
