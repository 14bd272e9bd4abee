/** A process that plays schedules, as `search.ts` says. */

import { bundleGateway } from "../platform/bundle.ts";
import { type Program, programOf } from "../platform/isolate.ts";
import { Coverage, OBSERVED } from "./coverage.ts";
import { DELIBERATE } from "./deliberate.ts";
import { foundPlans, nearTo } from "./near.ts";
import { type Plan, planOf } from "./plan.ts";
import { play } from "./play.ts";
import { RARE } from "./rare.ts";
import type { Found, Job, Report } from "./search.ts";

const REPORT_MS = 1000;

const programs = new Map<string | undefined, Promise<Program>>();

function programWith(fault: string | undefined): Promise<Program> {
  let program = programs.get(fault);
  if (program === undefined) {
    const edits = DELIBERATE.find(({ name }) => name === fault)?.edits ?? [];
    program = bundleGateway([...OBSERVED, ...edits]).then(programOf);
    programs.set(fault, program);
  }
  return program;
}

/** What is found without the fault, too, is not the fault. */
async function isFoundAnyway(plan: Plan): Promise<boolean> {
  const program = await programWith(undefined);
  return (await play(plan, program)).findings.length > 0;
}

async function run(job: Job): Promise<void> {
  const { fault, from, stride, count, cpuSeconds, goesOn, only, isNear = false } = job;
  const program = await programWith(fault);
  const planned = isNear ? nearTo([...foundPlans().values()]) : planOf;
  const began = process.cpuUsage();
  let coverage = new Coverage();
  let saidAt = performance.now();
  const used = (): number => {
    const { user, system } = process.cpuUsage(began);
    return (user + system) / 1e6;
  };
  const say = (isOver: boolean, found?: Found): void => {
    const report: Report = { coverage: coverage.counts, cpuSeconds: used(), found, isOver };
    process.send?.(report);
    coverage = new Coverage();
    saidAt = performance.now();
  };
  for (let index = 0; index < count && used() < cpuSeconds; index += 1) {
    const seed = from + index * stride;
    const plan = planned(seed);
    if (only !== undefined && !RARE[only](plan)) continue;
    const observe = (way: string): void => coverage.observe(way);
    const played = await play(plan, program, { observe }).catch((error: unknown) => {
      throw new Error(`Seed ${seed} cannot be played`, { cause: error });
    });
    coverage.add(plan, played);
    if (played.findings.length > 0 && (fault === undefined || !(await isFoundAnyway(plan)))) {
      say(goesOn !== true, { seed, findings: played.findings });
      if (goesOn !== true) return;
    } else if (performance.now() - saidAt > REPORT_MS) say(false);
  }
  say(true);
}

process.on("message", (job: Job) => void run(job));
process.on("disconnect", () => process.exit());
