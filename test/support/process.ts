/** Starts a real program for a test, waits until it serves, and takes it down with its children. */

import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const NODE = `${ROOT}node_modules/.bin/node`;
const START_TIMEOUT_MS = 60_000;

export interface Program {
  readonly pid: number;
  /** Everything it has printed so far. */
  output(): string;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export interface ProgramOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Polled until it answers 2xx to 4xx. */
  readonly readyUrl: string;
}

/** Groups that are still there: whatever a test has started is dead when its process ends, however it ends. */
const running = new Set<number>();
process.on("exit", () => {
  for (const pid of running) killGroup(pid, "SIGKILL");
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => process.exit(128 + constants.signals[signal]));
}

/** @throws Error with all the output when the program ends or is not ready in time. */
export async function startProgram(options: ProgramOptions): Promise<Program> {
  const child = spawn(options.command, options.args, {
    cwd: ROOT,
    // A group of its own, so that a kill takes the grandchildren too.
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      ...options.env,
      PATH: `${ROOT}node_modules/.bin:${process.env["PATH"]}`,
    },
  });
  if (child.pid !== undefined) running.add(child.pid);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const program: Program = {
    pid: child.pid ?? 0,
    output: () => output,
    stop: (signal = "SIGTERM") => stop(child, signal),
  };
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < deadline && child.exitCode === null) {
    if (await answers(options.readyUrl)) return program;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await program.stop("SIGKILL");
  throw new Error(`${options.args.join(" ")} did not serve ${options.readyUrl}:\n${output}`);
}

/** @returns whether a process serves this address, even to refuse. */
export async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2000) });
    await response.body?.cancel();
    return response.status < 500;
  } catch {
    return false; // not listening yet
  }
}

async function stop(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  killGroup(child.pid, signal);
  const timer = setTimeout(() => killGroup(child.pid ?? 0, "SIGKILL"), 5000);
  await ended;
  clearTimeout(timer);
  killGroup(child.pid, "SIGKILL"); // what the parent has left behind
  running.delete(child.pid);
}

function killGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // the group is gone already
  }
}
