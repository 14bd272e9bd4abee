/** `npm run simulate`: plays schedules, prints what they reached, and the trace of one that fails. */

import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";

import { Coverage, OBSERVED } from "./explore/coverage.ts";
import { DELIBERATE } from "./explore/deliberate.ts";
import { type Plan, planOf } from "./explore/plan.ts";
import { play } from "./explore/play.ts";
import { shrink } from "./explore/shrink.ts";
import { bundleGateway } from "./platform/bundle.ts";
import { programOf } from "./platform/isolate.ts";

const HELP = `npm run simulate -- [options]

  --minutes M      plays schedules for so long (1 by default)
  --count N        plays so many
  --from SEED      begins at this seed; a random one by default
  --seed SEED      plays one schedule, and prints its trace
  --replay FILE    plays the plan in a file, and prints its trace
  --fault NAME     puts a deliberate fault into the gateway first: a part of its name
  --table          prints what was reached, and what was not
`;
const PROGRESS_MS = 10_000;

const { values } = parseArgs({
  options: {
    minutes: { type: "string" },
    count: { type: "string" },
    from: { type: "string" },
    seed: { type: "string" },
    replay: { type: "string" },
    fault: { type: "string" },
    table: { type: "boolean" },
    help: { type: "boolean" },
  },
});

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

const { fault, seed, replay } = values;
const deliberate =
  fault === undefined ? undefined : DELIBERATE.find(({ name }) => name.includes(fault));
if (values.help === true || (fault !== undefined && deliberate === undefined)) {
  say(HELP + DELIBERATE.map(({ name }) => `    ${name}`).join("\n"));
  process.exit(values.help === true ? 0 : 2);
}

const edits = [...OBSERVED, ...(deliberate?.edits ?? [])];
const program = programOf(await bundleGateway(edits));

async function printTrace(plan: Plan): Promise<boolean> {
  const trace = (text: string, at: number): void => say(`${String(at).padStart(8)}  ${text}`);
  const { findings } = await play(plan, program, { trace });
  say(
    findings.length === 0
      ? "Nothing was found."
      : findings.map((text) => `FOUND: ${text}`).join("\n"),
  );
  return findings.length === 0;
}

async function explore(): Promise<boolean> {
  const coverage = new Coverage();
  const startedAt = performance.now();
  const endsAt = startedAt + Number(values.minutes ?? 1) * 60_000;
  const count = values.count === undefined ? Infinity : Number(values.count);
  const from = Number(values.from ?? Math.floor(Math.random() * 2 ** 31));
  let saidAt = startedAt;
  for (let next = from; next < from + count; next += 1) {
    const now = performance.now();
    if (values.count === undefined && now > endsAt) break;
    const plan = planOf(next);
    const played = await play(plan, program, { observe: coverage.observe });
    coverage.add(played);
    if (played.findings.length > 0) {
      say(
        `Seed ${next}, after ${Math.round((now - startedAt) / 1000)} s: ${played.findings.join("; ")}`,
      );
      const smallest = await shrink(
        plan,
        async (smaller) => (await play(smaller, program)).findings.length > 0,
      );
      await printTrace(smallest);
      const file = `simulation-${next}.json`;
      writeFileSync(file, `${JSON.stringify(smallest, null, 2)}\n`);
      say(`npm run simulate -- --replay ${file}`);
      return false;
    }
    if (now - saidAt > PROGRESS_MS) {
      saidAt = now;
      const speed = Math.round(coverage.schedules / ((now - startedAt) / 1000));
      say(`seed ${next}: ${coverage.progress}; ${speed} a second`);
    }
  }
  say(`Seeds from ${from}: ${coverage.progress}. Nothing was found.`);
  if (values.table === true) say(coverage.table);
  return true;
}

let isGood: boolean;
if (replay !== undefined)
  isGood = await printTrace(JSON.parse(readFileSync(replay, "utf8")) as Plan);
else if (seed !== undefined) isGood = await printTrace(planOf(Number(seed)));
else isGood = await explore();
process.exitCode = isGood ? 0 : 1;
