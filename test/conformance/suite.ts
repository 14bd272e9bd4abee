/** The official conformance suite: how it is run, and how its word is read. */

import { execFile, spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { NODE, ROOT } from "../support/process.ts";

export const SUITE = `${ROOT}node_modules/@modelcontextprotocol/conformance/dist/index.js`;
export const RUN_TIMEOUT_MS = 600_000;
/** Of one scenario, which the suite gives half a minute. */
const SCENARIO_TIMEOUT_MS = 300_000;

export const RUNS = [
  { name: "requirements 2025-11-25", args: ["--requirements", "2025-11-25"] },
  { name: "requirements 2026-07-28", args: ["--requirements", "2026-07-28"] },
  { name: "spec version 2025-06-18", args: ["--suite", "all", "--spec-version", "2025-06-18"] },
  { name: "spec version 2025-03-26", args: ["--suite", "all", "--spec-version", "2025-03-26"] },
] as const;

/** An extension that the gateway does not offer, so its scenarios have nothing to test. */
export const OTHER_EXTENSIONS = /^sep-2640-skills-/;

export interface Verdict {
  readonly scenario: string;
  readonly passed: number;
  readonly failed: number;
  /** Of what the specification recommends (SHOULD). */
  readonly warnings: number;
}

/** Runs the scenarios for a server. */
export async function runServerSuite(url: string, args: readonly string[]): Promise<Verdict[]> {
  const folder = await mkdtemp(join(tmpdir(), "edgeway-conformance-"));
  try {
    const said = await run(url, [...args, "-o", folder]);
    const verdicts = await Promise.all(
      parseSummary(said).map(async (verdict) => {
        return { ...verdict, warnings: await countWarnings(folder, verdict.scenario) };
      }),
    );
    if (verdicts.length === 0) throw new Error(`no verdicts:\n${said}`);
    return verdicts;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The summary leaves warnings out where it is about requirements. */
async function countWarnings(folder: string, scenario: string): Promise<number> {
  const names = await readdir(folder);
  const own = names.filter(
    (name) => name.replace(/-\d{4}-\d\d-\d\dT.*$/, "") === `server-${scenario}`,
  );
  if (own.length !== 1) throw new Error(`not one result of ${scenario}: ${names.join(", ")}`);
  const checks = await readChecks(join(folder, own.join("")));
  return checks.filter(({ status }) => status === "WARNING").length;
}

/**
 * Has a gateway that has just started do once what the suite waits half a second for: on a busy machine
 * the first answers take longer. Only the scenarios of the modern era are so short of time.
 */
export async function warmUp(url: string, args: readonly string[]): Promise<void> {
  if (args.includes("2026-07-28")) await run(url, ["--scenario", "server-stateless"]);
}

/** A scenario that fails makes it exit non-zero: what it says is what counts. */
async function run(url: string, args: readonly string[]): Promise<string> {
  const cwd = await mkdtemp(join(tmpdir(), "edgeway-conformance-"));
  const options = { cwd, timeout: RUN_TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024 };
  const command = [SUITE, "server", "--url", url, "--timeout", String(SCENARIO_TIMEOUT_MS)];
  try {
    return await new Promise((resolve) => {
      execFile(NODE, [...command, ...args], options, (_, stdout, stderr) => {
        resolve(stdout + stderr);
      });
    });
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

function parseSummary(output: string): Omit<Verdict, "warnings">[] {
  const summary = output.slice(output.indexOf("=== SUMMARY ==="));
  return [...summary.matchAll(/^[✓✗] (\S+): (\d+) passed, (\d+) failed/gm)].map(
    ([, scenario = "", passed, failed]) => ({
      scenario,
      passed: Number(passed),
      failed: Number(failed),
    }),
  );
}

/** @returns the scenarios with more warnings than the same server gets directly, and how many more. */
export function newWarnings(
  through: readonly Verdict[],
  direct: readonly Verdict[],
): readonly Pick<Verdict, "scenario" | "warnings">[] {
  const known = new Map(direct.map(({ scenario, warnings }) => [scenario, warnings]));
  return through
    .map(({ scenario, warnings }) => ({
      scenario,
      warnings: warnings - (known.get(scenario) ?? 0),
    }))
    .filter(({ warnings }) => warnings > 0);
}

export interface Check {
  readonly id: string;
  readonly name?: string;
  readonly status: string;
  readonly errorMessage?: string;
}

interface AuthorizationRun {
  readonly exitCode: number | null;
  readonly checks: readonly Check[];
  readonly output: string;
}

/**
 * Runs the scenarios for an authorization server.
 *
 * @param signIn does in a browser what the suite asks its user to do at an address.
 */
export async function runAuthorizationSuite(
  args: readonly string[],
  signIn: (url: string) => Promise<void>,
): Promise<AuthorizationRun> {
  const results = await mkdtemp(join(tmpdir(), "edgeway-authorization-"));
  const child = spawn(NODE, [SUITE, "authorization", ...args, "-o", results]);
  try {
    let output = "";
    let asked: Promise<void> | undefined;
    let failure: unknown;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
        const url = /^http\S+\/authorize\?\S+(?=\n)/m.exec(output)?.[0];
        if (url === undefined || asked !== undefined) return;
        asked = signIn(url).catch((error: unknown) => {
          failure = error;
          child.kill();
        });
      });
    }
    const exitCode = await new Promise<number | null>((resolve) => child.on("close", resolve));
    await asked;
    if (failure !== undefined) throw new Error(output, { cause: failure });
    return { exitCode, checks: await readChecks(results), output };
  } finally {
    child.kill();
    await rm(results, { recursive: true, force: true });
  }
}

/** @param of how the paths of the results begin, if not all are meant. */
export async function readChecks(folder: string, of = ""): Promise<Check[]> {
  const names = await readdir(folder, { recursive: true });
  const own = names.filter((name) => name.startsWith(of) && name.endsWith("checks.json"));
  const files = own.toSorted();
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), "utf8")));
  return texts.flatMap((text) => JSON.parse(text) as Check[]);
}
