/**
 * The official conformance suite, through the gateway and directly, with no expected failures.
 * Each scenario is a test of its own; the totals of both ways must be the same.
 */

import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, inject, test } from "vitest";

import { NODE, ROOT } from "../support/process.ts";
import { type Server, startGateway } from "../support/servers.ts";

const SUITE = `${ROOT}node_modules/@modelcontextprotocol/conformance/dist/index.js`;
const RUN_TIMEOUT_MS = 240_000;

const RUNS = [
  { name: "requirements 2025-11-25", args: ["--requirements", "2025-11-25"] },
  { name: "requirements 2026-07-28", args: ["--requirements", "2026-07-28"] },
  { name: "spec version 2025-06-18", args: ["--suite", "all", "--spec-version", "2025-06-18"] },
  { name: "spec version 2025-03-26", args: ["--suite", "all", "--spec-version", "2025-03-26"] },
] as const;

/** Extensions that the gateway does not offer, so their scenarios have nothing to test. */
const OTHER_EXTENSIONS = /^(tasks-|sep-2640-skills-)/;

interface Verdict {
  readonly scenario: string;
  readonly passed: number;
  readonly failed: number;
}

function runSuite(url: string, args: readonly string[]): Promise<Verdict[]> {
  return new Promise((resolve, reject) => {
    mkdtemp(join(tmpdir(), "edgeway-conformance-")).then((cwd) => {
      const options = { cwd, timeout: RUN_TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024 };
      execFile(NODE, [SUITE, "server", "--url", url, ...args], options, (error, stdout, stderr) => {
        void rm(cwd, { recursive: true, force: true });
        const verdicts = parseSummary(stdout);
        // A failing scenario exits non-zero too; only a run without verdicts is broken.
        if (verdicts.length === 0) reject(error ?? new Error(`no verdicts:\n${stdout}${stderr}`));
        else resolve(verdicts);
      });
    }, reject);
  });
}

function parseSummary(output: string): Verdict[] {
  const summary = output.slice(output.indexOf("=== SUMMARY ==="));
  return [...summary.matchAll(/^[✓✗] (\S+): (\d+) passed, (\d+) failed/gm)].map(
    ([, scenario = "", passed, failed]) => ({
      scenario,
      passed: Number(passed),
      failed: Number(failed),
    }),
  );
}

describe.each(RUNS)("conformance, $name", ({ args }) => {
  let gateway: Server;
  let through: Verdict[];

  beforeAll(async () => {
    gateway = await startGateway({ servers: { fixture: { url: inject("fixture") } } });
    through = await runSuite(`${gateway.url}/mcp`, args);
  }, RUN_TIMEOUT_MS);
  afterAll(() => gateway.stop());

  test("every scenario passes", ({ expect }) => {
    const failing = through.filter(
      ({ scenario, failed }) => failed > 0 && !OTHER_EXTENSIONS.test(scenario),
    );
    expect(failing).toEqual([]);
  });

  test(
    "the fixture reached directly gives the same totals",
    async ({ expect }) => {
      expect(through).toEqual(await runSuite(inject("fixture"), args));
    },
    RUN_TIMEOUT_MS,
  );
});
