/**
 * `npm run soak -- --minutes 10 --seed 1`: a mixed load of legacy and modern clients on the bundle as it
 * is deployed, on bare workerd and on loopback. Connections are cut and taken up throughout. In the
 * first half the gateway is killed and started again on its storage; the second half is one life, in
 * rounds, after each of which its heap is measured. In the end no request is unanswered, and the heap
 * is as it was after the first round; else it says what is not so, and exits with 1.
 */

import { parseArgs } from "node:util";

import { memoryOf } from "../../test/support/process-memory.ts";
import { seeded } from "../../test/support/seeded.ts";
import { pause } from "../../test/support/until.ts";
import { KINDS } from "./clients.ts";
import { World } from "./world.ts";

const MINUTE_MS = 60_000;
const MAX_MINUTES = 24 * 60;
const CLIENTS_OF_EACH_KIND = 2;
const ROUNDS = 4;
/** The platform lets go of an object that has had nothing to do for 10 s. */
const SETTLED_MS = 13_000;
/** From one kill to the next. */
const KILL_AFTER_MS = [4000, 12_000] as const;
/** What caches and the runtime itself may take beside what is live. */
const MAX_GROWTH = 1.15;
const MAX_GROWTH_BYTES = 2 * 1024 * 1024;

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "10" }, seed: { type: "string", default: "1" } },
});
const minutes = Number(values.minutes);
const seed = Number(values.seed);
if (!(minutes >= 1 && minutes <= MAX_MINUTES) || !Number.isInteger(seed)) {
  process.stderr.write(
    `--minutes is a number from 1 to ${MAX_MINUTES}, and --seed a whole number\n`,
  );
  process.exit(2);
}

const world = await World.start();
let isGreen: boolean;
try {
  isGreen = await soak();
} finally {
  await world.close();
}
process.exit(isGreen ? 0 : 1);

async function soak(): Promise<boolean> {
  const halfMs = (minutes * MINUTE_MS) / 2;
  print(`seed ${seed}: ${minutes} minutes, the first half with kills`);
  await Promise.all([load("kills", halfMs, 0), kills(halfMs)]);
  printCounts();
  const heaps: number[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    await load(`round ${round}`, Math.max(5000, halfMs / ROUNDS - SETTLED_MS), round);
    await pause(SETTLED_MS);
    heaps.push(await world.heap());
    const resident = [...(await memoryOf("workerd", world.pid)).values()].map(mib).join(", ");
    print(`round ${round}: heap ${mib(heaps.at(-1) ?? 0)} after collection, resident ${resident}`);
  }
  printCounts();
  const [first = 0] = heaps;
  const last = heaps.at(-1) ?? 0;
  const isFlat = last <= Math.max(first * MAX_GROWTH, first + MAX_GROWTH_BYTES);
  if (!isFlat) world.fail(`the heap grew from ${mib(first)} to ${mib(last)}`);
  const isWhole = world.failures.length === 0;
  print(isWhole ? "ok: every request was answered, and the heap is flat" : "not ok");
  return isWhole;
}

/** @returns when every client has finished what it had begun. */
async function load(phase: string, ms: number, salt: number): Promise<void> {
  const endsAt = Date.now() + ms;
  const kinds = Array.from({ length: CLIENTS_OF_EACH_KIND }, () => KINDS).flat();
  await Promise.all(
    kinds.map(async (make, index) => {
      const name = `${phase}, client ${index}`;
      const client = make(world, seeded(seed * 1000 + salt * 100 + index), name);
      while (Date.now() < endsAt) {
        await world.isUp();
        // A gateway that is killed may refuse the beginning of anything.
        await world.answered(name, client.act()).catch((error: unknown) => refused(error));
      }
      client.close();
    }),
  );
}

function refused(error: unknown): void {
  const { cause, code } = error as { cause?: { code?: string }; code?: string };
  const isAway = /^(?:ECONN|EPIPE|UND_ERR)/.test(code ?? cause?.code ?? "");
  if (isAway) world.count("requests that met no gateway");
  else world.fail(String(error));
}

async function kills(ms: number): Promise<void> {
  const dice = seeded(seed);
  const endsAt = Date.now() + ms;
  for (;;) {
    const afterMs = dice.int(...KILL_AFTER_MS);
    if (Date.now() + afterMs > endsAt) return;
    await pause(afterMs);
    await world.restart();
  }
}

function printCounts(): void {
  for (const [what, count] of [...world.counts].toSorted(([a], [b]) => a.localeCompare(b)))
    print(`${String(count).padStart(8)} ${what}`);
}

function mib(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
