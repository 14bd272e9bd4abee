/** The browser that `edgeway connect` opens, as a real Chromium: the command itself starts it. */

import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";

import { findBrowser } from "./browser.ts";
import { until } from "./until.ts";

/** What `BROWSER` names: it is given an address, notes it, and becomes Chromium. */
const SCRIPT = `#!/bin/sh
printf '%s\\n' "$1" >> "$OPENED"
echo $$ >> "$OPENED.pids"
exec "$CHROMIUM" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \\
  --remote-debugging-port=0 --user-data-dir="$PROFILE" "$1"
`;
/** Where Chromium writes the port that it can be driven by. */
const PORT_FILE = "DevToolsActivePort";

export class OpenedChromium {
  /** The environment of the command. */
  readonly env: Readonly<Record<string, string>>;
  readonly #folder: string;

  private constructor(folder: string, env: Readonly<Record<string, string>>) {
    this.#folder = folder;
    this.env = env;
  }

  static async prepare(): Promise<OpenedChromium> {
    const folder = await mkdtemp(join(tmpdir(), "edgeway-opened-"));
    const script = join(folder, "browser");
    await writeFile(script, SCRIPT);
    await chmod(script, 0o755);
    await writeFile(join(folder, "opened"), "");
    const { executablePath, env } = await findBrowser();
    if (executablePath === undefined) throw new Error("CHROMIUM_PATH names a Chromium to start");
    return new OpenedChromium(folder, {
      ...(env as Record<string, string> | undefined),
      BROWSER: script,
      CHROMIUM: executablePath,
      OPENED: join(folder, "opened"),
      PROFILE: join(folder, "profile"),
    });
  }

  /** The addresses that were opened, in order. */
  async opened(): Promise<readonly string[]> {
    const text = await readFile(join(this.#folder, "opened"), "utf8");
    return text.split("\n").filter((line) => line !== "");
  }

  /** The page that the command has opened, once it is there. */
  async page(): Promise<Page> {
    let port = "";
    await until(async () => {
      const text = await readFile(join(this.#folder, "profile", PORT_FILE), "utf8").catch(() => "");
      [port = ""] = text.split("\n");
      return port !== "";
    }, "Chromium");
    const browser = await chromium.connectOverCDP(`http://127.0.0.1:${port}`);
    const [context] = browser.contexts();
    const page = context?.pages()[0] ?? (await context?.waitForEvent("page"));
    if (page === undefined) throw new Error("Chromium has no page");
    return page;
  }

  async remove(): Promise<void> {
    const text = await readFile(join(this.#folder, "opened.pids"), "utf8").catch(() => "");
    const pids = text
      .split("\n")
      .filter((line) => line !== "")
      .map(Number);
    // With all that each has started: the command gives a browser a group of its own.
    for (const pid of pids) killGroup(pid);
    await until(() => !pids.some(isAlive), "the end of Chromium");
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has gone by itself.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
