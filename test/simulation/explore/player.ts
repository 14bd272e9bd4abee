/** A process that plays schedules, as `search.ts` says. */

import { bundleGateway } from "../platform/bundle.ts";
import { type Program, programOf } from "../platform/isolate.ts";
import { Coverage, OBSERVED } from "./coverage.ts";
import { DELIBERATE } from "./deliberate.ts";
import { planOf } from "./plan.ts";
import { play } from "./play.ts";
import type { Found, Job, Report } from "./search.ts";

const REPORT_MS = 1000;

let built: { readonly fault: string | undefined; readonly program: Program } | undefined;

async function programWith(fault: string | undefined): Promise<Program> {
  if (built === undefined || built.fault !== fault) {
    const edits = DELIBERATE.find(({ name }) => name === fault)?.edits ?? [];
    built = { fault, program: programOf(await bundleGateway([...OBSERVED, ...edits])) };
  }
  return built.program;
}

async function run({ fault, from, stride, count, cpuSeconds }: Job): Promise<void> {
  const program = await programWith(fault);
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
    const played = await play(planOf(seed), program, { observe: (way) => coverage.observe(way) });
    coverage.add(played);
    if (played.findings.length > 0) {
      say(true, { seed, findings: played.findings });
      return;
    }
    if (performance.now() - saidAt > REPORT_MS) say(false);
  }
  say(true);
}

process.on("message", (job: Job) => void run(job));
process.on("disconnect", () => process.exit());
