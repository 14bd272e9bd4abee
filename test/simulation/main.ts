/** `npm run simulate`: plays schedules, prints what they reached, and the trace of one that fails. */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";

import { Coverage, OBSERVED } from "./explore/coverage.ts";
import { DELIBERATE, type Fault } from "./explore/deliberate.ts";
import { digestOf } from "./explore/digest.ts";
import { newRun, playAll, type RunRecord } from "./explore/long-run.ts";
import { foundPlans, nearTo } from "./explore/near.ts";
import { type Plan, planOf } from "./explore/plan.ts";
import { play } from "./explore/play.ts";
import { isRare, RARE } from "./explore/rare.ts";
import { type Found, Player } from "./explore/search.ts";
import { cast, sentenceOf } from "./explore/story.ts";
import { shrink } from "./explore/shrink.ts";
import { timesOf, timesTable } from "./explore/times.ts";
import { bundleGateway } from "./platform/bundle.ts";
import { type Program, programOf } from "./platform/isolate.ts";

const HELP = `npm run simulate -- [options]

  --minutes M      plays schedules for so long (1 by default)
  --count N        plays so many
  --schedules N    plays so many, goes on after a finding, and can itself be continued (--from)
  --record FILE    keeps in the file how far such a run has come, and goes on where the file says
  --from SEED      begins at this seed; a random one by default
  --processes N    plays in so many processes (1 by default; "all" for one for each core)
  --only KIND      plays one kind of plan alone: ${Object.keys(RARE).join(", ")}
  --near           plays plans near to those in which something was found once
  --seed SEED      plays one schedule, and prints its trace
  --replay FILE    plays the plan in a file, and prints its trace
  --steps          prints every step of a trace, and not only what a stranger can follow
  --fault NAME     puts a deliberate fault into the gateway first: a part of its name
  --deliberate     prints how long it takes to find each deliberate fault, from several seeds
  --starts N       from so many seeds (10 by default)
  --table          prints what was reached, and what was not
  --digest         prints one hash of every step of --count schedules (1000 by default), to compare two versions
`;
const PROGRESS_MS = 10_000;

const { values } = parseArgs({
  options: {
    minutes: { type: "string" },
    count: { type: "string" },
    schedules: { type: "string" },
    record: { type: "string" },
    from: { type: "string" },
    processes: { type: "string" },
    only: { type: "string" },
    near: { type: "boolean" },
    seed: { type: "string" },
    steps: { type: "boolean" },
    replay: { type: "string" },
    fault: { type: "string" },
    deliberate: { type: "boolean" },
    starts: { type: "string" },
    table: { type: "boolean" },
    digest: { type: "boolean" },
    help: { type: "boolean" },
  },
});

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

const faults = DELIBERATE.filter(({ name }) => name.includes(values.fault ?? ""));
const only = values.only !== undefined && isRare(values.only) ? values.only : undefined;
if (values.help === true || faults.length === 0 || only !== values.only) {
  say(HELP + DELIBERATE.map(({ name }) => `    ${name}`).join("\n"));
  process.exit(values.help === true ? 0 : 2);
}
const fault = values.fault === undefined ? undefined : faults[0];

const planned = values.near === true ? nearTo([...foundPlans().values()]) : planOf;

async function programWith(put: Fault | undefined): Promise<Program> {
  return programOf(await bundleGateway([...OBSERVED, ...(put?.edits ?? [])]));
}

async function printTrace(plan: Plan, program: Program): Promise<boolean> {
  say(`${cast(plan)}\n\nMilliseconds, and what happens:`);
  let last = "";
  const trace = (text: string, at: number): void => {
    const sentence = values.steps === true ? text : sentenceOf(text);
    if (sentence === undefined || (sentence === last && values.steps !== true)) return;
    last = sentence;
    say(`${at.toFixed(0).padStart(8)}  ${sentence}`);
  };
  const { findings } = await play(plan, program, { trace });
  say(
    findings.length === 0
      ? "Nothing was found."
      : findings.map((text) => `FOUND: ${text}`).join("\n"),
  );
  return findings.length === 0;
}

function makePlayers(): Player[] {
  const { processes = "1" } = values;
  const count = processes === "all" ? availableParallelism() : Number(processes);
  return Array.from({ length: count }, () => new Player());
}

async function explore(): Promise<boolean> {
  const coverage = new Coverage();
  const startedAt = performance.now();
  const minutes = Number(values.minutes ?? 1);
  const from = seedToBegin();
  const players = makePlayers();
  const seconds = players.map(() => 0);
  const { promise: first, resolve: found } = Promise.withResolvers<Found | undefined>();
  const progress = (): string => {
    const cpu = seconds.reduce((sum, each) => sum + each, 0);
    const perSecond = coverage.schedules / ((performance.now() - startedAt) / 1000);
    const speed = `${perSecond.toFixed(1)} a second, ${(coverage.schedules / cpu).toFixed(1)} a second of processor time`;
    return `Seeds from ${from}: ${coverage.progress}; ${speed}`;
  };
  const plays = players.map((player, index) => {
    const count =
      values.count === undefined ? Infinity : Math.ceil(Number(values.count) / players.length);
    const job = {
      fault: fault?.name,
      only,
      isNear: values.near,
      from: from + index,
      stride: players.length,
    };
    const bounds = { count: Math.min(count, 2 ** 31), cpuSeconds: 2 ** 31 };
    return player.play({ ...job, ...bounds }, (report) => {
      coverage.merge(report.coverage);
      seconds[index] = report.cpuSeconds;
      if (report.found !== undefined) found(report.found);
    });
  });
  void Promise.all(plays).then(() => found(undefined));
  const telling = setInterval(() => say(progress()), PROGRESS_MS);
  const ending =
    values.count === undefined ? setTimeout(() => found(undefined), minutes * 60_000) : undefined;
  const finding = await first;
  clearInterval(telling);
  clearTimeout(ending);
  for (const player of players) player.end();
  say(progress());
  if (values.table === true) say(coverage.table);
  if (finding === undefined) {
    say("Nothing was found.");
    return true;
  }
  await tell(finding, (performance.now() - startedAt) / 1000);
  return false;
}

/** The long run. @returns true when nothing was found. */
async function exploreAll(schedules: number): Promise<boolean> {
  const players = makePlayers();
  const interrupted = new AbortController();
  process.once("SIGINT", () => interrupted.abort());
  const { signal } = interrupted;
  const before = (await recordIn(values.record)) ?? newRun(seedToBegin());
  const run = { fault: fault?.name, schedules, before, signal };
  const keep = (record: RunRecord): void => {
    if (values.record !== undefined)
      writeFileSync(values.record, `${JSON.stringify(record, null, 2)}\n`);
  };
  const { found, coverage } = await playAll(run, players, { say, keep });
  for (const player of players) player.end();
  if (values.table === true) say(coverage.table);
  say(
    found.length === 0
      ? "Nothing was found."
      : `${found.length} findings, with the seeds ${found.map((each) => each.seed).join(", ")}.`,
  );
  return found.length === 0;
}

/** @returns how far the run has come, with those of its findings that are findings still; `undefined` for a new one. */
async function recordIn(file: string | undefined): Promise<RunRecord | undefined> {
  if (file === undefined || !existsSync(file)) return undefined;
  const record = JSON.parse(readFileSync(file, "utf8")) as RunRecord;
  const program = await programWith(fault);
  const found: Found[] = [];
  for (const each of record.found) {
    const { findings } = await play(planOf(each.seed), program);
    if (findings.length > 0) found.push({ seed: each.seed, findings });
  }
  return { ...record, found };
}

function seedToBegin(): number {
  return Number(values.from ?? Math.floor(Math.random() * 2 ** 31));
}

/** Makes the plan smaller, and prints its trace. */
async function tell({ seed, findings }: Found, seconds: number): Promise<void> {
  say(`Seed ${seed}, after ${Math.round(seconds)} s: ${findings.join("; ")}`);
  const program = await programWith(fault);
  const fails = async (plan: Plan): Promise<boolean> =>
    (await play(plan, program)).findings.length > 0;
  const smallest = await shrink(planned(seed), fails);
  await printTrace(smallest, program);
  const file = `simulation-${seed}.json`;
  writeFileSync(file, `${JSON.stringify(smallest, null, 2)}\n`);
  say(`npm run simulate -- --replay ${file}`);
}

/** Prints what so many schedules come to. */
async function printDigest(): Promise<boolean> {
  const [from, count] = [seedToBegin(), Number(values.count ?? 1000)];
  const digest = await digestOf(await programWith(fault), from, count);
  say(`${count} schedules from seed ${from}: ${digest}`);
  return true;
}

/** Looks for each fault from several seeds. */
async function findDeliberate(): Promise<boolean> {
  const players = makePlayers();
  const starts = Number(values.starts ?? 10);
  const options = { starts, cpuSeconds: Number(values.minutes ?? 10) * 60 };
  const times = await timesOf(faults, players, options, say);
  for (const player of players) player.end();
  say(timesTable(times));
  return times.every(({ found }) => found.length === starts);
}

let isGood: boolean;
const { seed, replay } = values;
if (values.deliberate === true) isGood = await findDeliberate();
else if (values.digest === true) isGood = await printDigest();
else if (values.schedules !== undefined) isGood = await exploreAll(Number(values.schedules));
else if (replay !== undefined) {
  const plan = JSON.parse(readFileSync(replay, "utf8")) as Plan;
  isGood = await printTrace(plan, await programWith(fault));
} else if (seed !== undefined)
  isGood = await printTrace(planned(Number(seed)), await programWith(fault));
else isGood = await explore();
process.exitCode = isGood ? 0 : 1;
