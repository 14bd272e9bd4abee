/**
 * Programs of the benchmark. Whatever it has started is dead when it ends, however it ends: by
 * itself, by an error, by Ctrl-C.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";

import { answers } from "../../test/support/process.ts";
import { scratch } from "./project.ts";

export interface Program {
  readonly pid: number;
  stop(): Promise<void>;
}

const PATIENCE_MS = 30_000;
const POLL_MS = 2;
/** Of what a program says, enough to tell why it does not start. */
const KEPT_CHARACTERS = 4000;

const running = new Set<ChildProcess>();

process.on("exit", killAll);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => process.exit(128 + constants.signals[signal]));
}

/** Starts a program that is dead when the benchmark is, in a process group of its own. */
export function launch(command: string, args: readonly string[]): ChildProcess {
  const child = spawn(command, args, {
    detached: true,
    stdio: ["pipe", "ignore", "pipe"], // a server over stdio ends with its input; what it logs goes nowhere
    env: { ...process.env, NODE_COMPILE_CACHE: scratch("compiled") }, // a proxy starts a program for each session
  });
  running.add(child);
  return child;
}

/**
 * Starts a server.
 *
 * @param readyUrl polled until it answers 2xx to 4xx.
 * @throws Error with what it said, when it ends or does not answer.
 */
export async function startProgram(
  command: string,
  args: readonly string[],
  readyUrl: string,
): Promise<Program> {
  const child = launch(command, args);
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-KEPT_CHARACTERS);
  });
  const ended = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", (error) => {
      said += error.message;
      resolve();
    });
  });
  const program: Program = {
    pid: child.pid ?? 0,
    async stop() {
      running.delete(child);
      killGroup(child);
      await ended;
    },
  };
  const startedAt = performance.now();
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  while (!(await answers(readyUrl))) {
    if (hasEnded || performance.now() - startedAt > PATIENCE_MS) {
      await program.stop();
      throw new Error(`${[command, ...args].join(" ")} did not serve ${readyUrl}\n${said}`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return program;
}

function killAll(): void {
  for (const child of running) killGroup(child);
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // the group is gone already
  }
}
