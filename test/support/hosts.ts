/** Real hosts that can start a command, as their people run them. `hosts/` has their versions. */

import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { installLocked } from "../../bench/machinery/install.ts";
import type { HostCommand } from "./cli.ts";
import { NODE, ROOT } from "./process.ts";

const run = promisify(execFile);
const FOLDER = join(ROOT, "hosts");
const PACKAGES = join(FOLDER, "node_modules");
const INSPECTOR = join(PACKAGES, "@modelcontextprotocol/inspector/clients/launcher/build/index.js");
const GEMINI = join(PACKAGES, "@google/gemini-cli/bundle/gemini.js");
/** The name that the agent knows the gateway by. */
export const GATEWAY = "edgeway";

/** What they have beside their tools, for terminals and keychains, has binaries that a test does not use. */
export function installHosts(): void {
  installLocked(FOLDER, "The hosts", "--omit=optional");
}

/** A person's folder, in which hosts keep what they like. */
export class HostFolder {
  readonly #path: string;

  private constructor(path: string) {
    this.#path = path;
  }

  static async make(): Promise<HostFolder> {
    return new HostFolder(await mkdtemp(join(tmpdir(), "edgeway-host-")));
  }

  /** Runs MCP Inspector's command line. @returns its answer, as JSON. */
  async inspect(
    { command, args }: HostCommand,
    era: "legacy" | "modern",
    ...options: readonly string[]
  ): Promise<unknown> {
    const own = ["--cli", command, ...args, "--protocol-era", era, "--quiet", ...options];
    const { stdout } = await this.#run(INSPECTOR, own, {});
    return JSON.parse(stdout);
  }

  /**
   * Has Gemini CLI work on a prompt, and end.
   *
   * @param model the address of the API of its model.
   * @returns what it says at last.
   */
  async prompt({ command, args, env }: HostCommand, model: string, text: string): Promise<string> {
    const settings = {
      mcpServers: { [GATEWAY]: { command, args, env, trust: true } },
      security: { auth: { selectedType: "gemini-api-key" } },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
    };
    await mkdir(join(this.#path, ".gemini"), { recursive: true });
    await writeFile(join(this.#path, ".gemini", "settings.json"), JSON.stringify(settings));
    const own = ["--skip-trust", "--approval-mode", "yolo", "--model", "gemini-2.5-flash"];
    const access = { GEMINI_API_KEY: "scripted", GOOGLE_GEMINI_BASE_URL: model };
    const { stdout } = await this.#run(
      GEMINI,
      [...own, "--output-format", "json", "--prompt", text],
      access,
    );
    return (JSON.parse(stdout) as { response: string }).response;
  }

  remove(): Promise<void> {
    return rm(this.#path, { recursive: true, force: true, maxRetries: 5 });
  }

  async #run(
    program: string,
    args: readonly string[],
    env: Readonly<Record<string, string>>,
  ): Promise<{ readonly stdout: string }> {
    // Nothing of this machine's own: a host reads what it finds at home and in the environment.
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const all = { PATH, NODE_COMPILE_CACHE, HOME: this.#path, TMPDIR: tmpdir(), ...env };
    const running = run(NODE, [program, ...args], { cwd: this.#path, env: all });
    // It takes what is piped to it for a part of its prompt.
    running.child.stdin?.end();
    return running;
  }
}
