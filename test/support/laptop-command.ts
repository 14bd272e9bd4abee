/** A person's machine that publishes servers by the real command: its processes, and what they write down. */

import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { type RawHost, startCli } from "./cli.ts";
import { NODE, ROOT } from "./process.ts";
import { until } from "./until.ts";

/** The server of tests, which does as they say. */
export const LOCAL_SERVER = [NODE, `${ROOT}test/support/local-server.ts`] as const;

export class PublishingMachine {
  readonly folder: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #commands: RawHost[] = [];

  private constructor(folder: string, env: Readonly<Record<string, string>>) {
    this.folder = folder;
    this.#env = env;
  }

  /** @param url of the gateway. */
  static async turnOn(
    url: string,
    env: Readonly<Record<string, string>> = {},
  ): Promise<PublishingMachine> {
    const folder = await mkdtemp(join(tmpdir(), "edgeway-laptop-"));
    return new PublishingMachine(folder, {
      EDGEWAY_URL: url,
      EDGEWAY_STATE: join(folder, "state"),
      BROWSER: "none",
      JOURNAL: join(folder, "journal"),
      ...env,
    });
  }

  /** Starts the command with these arguments. */
  start(args: readonly string[], env: Readonly<Record<string, string>> = {}, node = NODE): RawHost {
    const command = startCli(["publish", ...args], { node, env: { ...this.#env, ...env } });
    this.#commands.push(command);
    return command;
  }

  /** Publishes the server of tests under this name. */
  publish(
    name: string,
    options: readonly string[] = [],
    env: Readonly<Record<string, string>> = {},
  ): RawHost {
    return this.start([name, "--env", "JOURNAL", ...options, "--", ...LOCAL_SERVER], env);
  }

  /** Publishes the servers of a client's map. */
  async publishMap(mcpServers: object): Promise<RawHost> {
    const file = join(this.folder, "mcp.json");
    await writeFile(file, JSON.stringify({ mcpServers }));
    return this.start(["--config", file]);
  }

  /** The processes of the server of tests that were started, and those of them that run. */
  async processes(): Promise<{
    readonly started: readonly number[];
    readonly running: readonly number[];
  }> {
    const started = (await this.#lines()).filter((line) => /^\d+$/.test(line)).map(Number);
    return { started, running: started.filter(isRunning) };
  }

  /** How often a call of `run` with this name was carried out. */
  async runs(name: string): Promise<number> {
    return (await this.#lines()).filter((line) => line === `ran ${name}`).length;
  }

  async turnOff(): Promise<void> {
    for (const command of this.#commands) command.kill("SIGKILL");
    for (const pid of (await this.processes()).running) killProcess(pid);
    await rm(this.folder, { recursive: true, force: true });
  }

  async #lines(): Promise<readonly string[]> {
    const journal = join(this.folder, "journal");
    return existsSync(journal) ? (await readFile(journal, "utf8")).split("\n") : [];
  }
}

/** Waits for a command to say that its servers are published. */
export async function published(command: RawHost, times = 1): Promise<void> {
  const count = (): number => command.stderr().split(" is published as ").length - 1;
  await until(
    () => count() >= times,
    () => `published ${times} times: ${command.stderr()}`,
  );
}

/** A process that has ended by itself meanwhile is left alone. */
export function killProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
