/** The command `edgeway` as a host starts it. */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

import type { Json } from "./clients-face.ts";
import { NODE, ROOT } from "./process.ts";
import { until } from "./until.ts";

const LAUNCHER = `${ROOT}cli/edgeway.mjs`;

/** As the transports of the SDKs take it. */
export interface HostCommand {
  readonly command: string;
  readonly args: string[];
  readonly env: Record<string, string>;
}

export function connectCommand(url: string, env: Readonly<Record<string, string>>): HostCommand {
  return { command: NODE, args: [LAUNCHER, "connect", url], env: { ...env } };
}

/** The Node of the machine, which may be older than that of the project; that of the project, where there is no other. */
export function machineNode(): string {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const found = folders
    .filter((folder) => !folder.includes("node_modules"))
    .map((folder) => join(folder, "node"))
    .find((path) => existsSync(path));
  return found ?? NODE;
}

export interface CliOptions {
  readonly node?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A host that writes what a test wants, and remembers each line of stdout. */
export interface RawHost {
  readonly pid: number;
  /** The lines of stdout. */
  readonly lines: readonly string[];
  /** The same, parsed. */
  readonly messages: readonly Json[];
  /** All of stderr. */
  stderr(): string;
  write(text: string): void;
  send(message: unknown): void;
  /** The first message that fits, when it has come. */
  next(fits: (message: Json) => boolean, what?: string): Promise<Json>;
  /** The answer to a request of this id, when it has come. */
  answer(id: unknown): Promise<Json>;
  /** Reads stderr no more. */
  closeStderr(): void;
  /** Reads stdout no more, until the command has ended. */
  stopReading(): void;
  /** The characters of stdout that have come since then. */
  unread(): number;
  /** Closes stdin. */
  end(): void;
  kill(signal: NodeJS.Signals): void;
  /** The code that it ended with, when it has. */
  readonly exitCode: Promise<number | null>;
}

/** Starts the command with these arguments. */
export function startCli(args: readonly string[], { node = NODE, env }: CliOptions = {}): RawHost {
  const child = spawn(node, [LAUNCHER, ...args], { env: { ...process.env, ...env } });
  const lines: string[] = [];
  const messages: Json[] = [];
  let begun = "";
  let errors = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const whole = (begun + text).split("\n");
    begun = whole.pop() ?? "";
    for (const line of whole) {
      lines.push(line);
      messages.push(parsed(line));
    }
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  // A command that has ended takes no more.
  child.stdin.on("error", () => undefined);
  child.once("exit", () => child.stdout.resume());
  const exitCode = new Promise<number | null>((resolve) => child.once("close", resolve));
  const host: RawHost = {
    pid: child.pid ?? 0,
    lines,
    messages,
    stderr: () => errors,
    write: (text) => void child.stdin.write(text),
    send: (message) => void child.stdin.write(`${JSON.stringify(message)}\n`),
    async next(fits, what = "a message") {
      await until(
        () => messages.some(fits),
        () => `${what}; stderr: ${errors}`,
      );
      return messages.find(fits) ?? {};
    },
    answer: (id) =>
      host.next((one) => one["id"] === id && !("method" in one), `answer ${JSON.stringify(id)}`),
    stopReading: () => void child.stdout.pause(),
    unread: () => child.stdout.readableLength,
    closeStderr: () => void child.stderr.destroy(),
    end: () => void child.stdin.end(),
    kill: (signal) => void child.kill(signal),
    exitCode,
  };
  return host;
}

export type Start = typeof startCli;

/** @returns what starts commands that end with their test at the latest. */
export function startUntil(onCleanup: (end: () => Promise<void>) => void): Start {
  const hosts: RawHost[] = [];
  onCleanup(async () => {
    for (const host of hosts) host.kill("SIGKILL");
    await Promise.all(hosts.map(({ exitCode }) => exitCode));
  });
  return (args, options) => {
    const host = startCli(args, options);
    hosts.push(host);
    return host;
  };
}

/** Anything but a message of the protocol is shown by what a test expects of messages. */
function parsed(line: string): Json {
  try {
    return JSON.parse(line) as Json;
  } catch {
    return { notJson: line };
  }
}

/** The message of an answer that is an error. */
export function errorOf({ error }: Json): string {
  return String((error as Json | undefined)?.["message"]);
}
