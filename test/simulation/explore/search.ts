/** Processes that play schedules, each on a core of its own, until one of them finds something. */

import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";

import type { CoverageCounts } from "./coverage.ts";
import type { Rare } from "./rare.ts";

/** What a process is to play. */
export interface Job {
  /** Put into the gateway first. */
  readonly fault?: string | undefined;
  readonly from: number;
  /** From one seed to the next. */
  readonly stride: number;
  readonly count: number;
  /** The most processor time, in seconds. */
  readonly cpuSeconds: number;
  /** After a finding, too. */
  readonly goesOn?: boolean;
  /** Plays plans of this kind alone, and passes over the other seeds. */
  readonly only?: Rare | undefined;
  /** Plays plans near to those in which something was found once. */
  readonly isNear?: boolean | undefined;
}

export interface Found {
  readonly seed: number;
  readonly findings: readonly string[];
}

/** What a process says every second, and at its end. */
export interface Report {
  /** Since its last report. */
  readonly coverage: CoverageCounts;
  /** Processor time since the job began, in seconds. */
  readonly cpuSeconds: number;
  readonly found?: Found | undefined;
  readonly isOver: boolean;
}

/**
 * A schedule leaves little behind, but lives longer than the host's smallest generation has room for; and its
 * code is young in each isolate, so that it is quick only if what is learnt of it is kept from the first call.
 * Nobody reads the stack of an error here: a seed that finds something is played again to be told.
 */
const FLAGS = [
  "--min-semi-space-size=64",
  "--max-semi-space-size=256",
  "--no-lazy-feedback-allocation",
  "--stack-trace-limit=0",
];

export class Player {
  readonly #process: ChildProcess = fork(join(import.meta.dirname, "player.ts"), {
    execArgv: FLAGS,
  });

  /** Resolves with the last report. */
  play(job: Job, onReport: (report: Report) => void = () => undefined): Promise<Report> {
    return new Promise((resolve, reject) => {
      const take = (report: Report): void => {
        onReport(report);
        if (!report.isOver) return;
        this.#process.off("message", take).off("exit", ended);
        resolve(report);
      };
      const ended = (code: number | null): void =>
        reject(new Error(`A process that plays ended with ${code}`));
      this.#process.on("message", take).on("exit", ended).send(job);
    });
  }

  end(): void {
    this.#process.removeAllListeners("exit");
    this.#process.kill();
  }
}
