/** A person at a machine where `edgeway` runs: their logins, and the browser that it opens. */

import { chmod, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { type Login, LoginFile } from "../../cli/tokens/login-file.ts";
import type { Json } from "./clients-face.ts";
import { Browser } from "./oauth-browser.ts";
import { approve } from "./oauth-client.ts";
import { overHttp } from "./oauth-over-http.ts";
import { OWNER_CODE } from "./oauth-owner.ts";
import { until } from "./until.ts";

const BROWSER = `#!/bin/sh
printf '%s\\n' "$1" >> "$OPENED"
`;

export class Person {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async arrive(): Promise<Person> {
    const folder = await mkdtemp(join(tmpdir(), "edgeway-person-"));
    await writeFile(join(folder, "browser"), BROWSER);
    await chmod(join(folder, "browser"), 0o755);
    await writeFile(join(folder, "opened"), "");
    return new Person(folder);
  }

  /** The environment of the command, with a browser. */
  get env(): Record<string, string> {
    return {
      EDGEWAY_STATE: this.#state,
      BROWSER: join(this.#folder, "browser"),
      OPENED: join(this.#folder, "opened"),
    };
  }

  /** The same where nobody would see a page. */
  get alone(): Record<string, string> {
    return { ...this.env, BROWSER: "none" };
  }

  /** The same where the folder of the logins cannot be made: what it is below is a file. */
  get homeless(): Record<string, string> {
    return { ...this.env, EDGEWAY_STATE: join(this.#folder, "browser", "state") };
  }

  get #state(): string {
    return join(this.#folder, "state");
  }

  /** The addresses that were opened, in order. */
  async opened(): Promise<readonly string[]> {
    const text = await readFile(join(this.#folder, "opened"), "utf8");
    return text.split("\n").filter((line) => line !== "");
  }

  /** Does in the browser what the page asks. @returns the address that it ends at. */
  approve(page: string): Promise<URL> {
    return approve(new Browser(new URL(page).origin, overHttp), page, { code: OWNER_CODE });
  }

  /** The one login. */
  async login(): Promise<Json> {
    return JSON.parse(await readFile(await this.#file(), "utf8")) as Json;
  }

  /** Changes the tokens of the one login. */
  async changeTokens(changes: Json): Promise<void> {
    const login = await this.login();
    const tokens = { ...(login["tokens"] as Json), ...changes };
    await writeFile(await this.#file(), JSON.stringify({ ...login, tokens }));
  }

  /** Does something while no process can change the login at this gateway. */
  whileLocked<T>(url: string, work: () => Promise<T>): Promise<T> {
    const { signal } = new AbortController();
    return new LoginFile(this.#state, new URL(url)).locked(signal, work);
  }

  /** Writes a login by hand, as another start of the command has left it. */
  async keep(url: string, { endpoints, clientId, tokens }: Login): Promise<void> {
    await new LoginFile(this.#state, new URL(url)).change({ endpoints, clientId, tokens });
  }

  /**
   * The machine has slept for ten minutes: the lock of the process that waits for a login is as old.
   *
   * @returns when that process has said again that it is there.
   */
  async sleepWhileSigningIn(): Promise<{ readonly awake: Promise<void> }> {
    const names = await readdir(this.#state);
    const lock = join(this.#state, names.find((name) => name.includes(".sign-in.")) ?? "");
    const timeOf = async (): Promise<number> => (await stat(lock)).mtimeMs;
    const moved = async (): Promise<void> => {
      const before = await timeOf();
      await until(async () => (await timeOf()) !== before, "a heartbeat");
    };
    // The next one is as far away as it can be.
    await moved();
    const asleep = new Date(Date.now() - 600_000);
    await utimes(lock, asleep, asleep);
    return { awake: moved() };
  }

  /** Who may read what is kept: files and their folder, as octal modes. */
  async modes(): Promise<readonly string[]> {
    const names = await readdir(this.#state);
    const paths = [this.#state, ...names.map((name) => join(this.#state, name))];
    const stats = await Promise.all(paths.map((path) => stat(path)));
    return stats.map(({ mode }) => (mode & 0o777).toString(8));
  }

  leave(): Promise<void> {
    return rm(this.#folder, { recursive: true, force: true });
  }

  async #file(): Promise<string> {
    let name: string | undefined;
    await until(async () => {
      const names = await readdir(this.#state).catch(() => []);
      name = names.find((path) => path.endsWith(".json"));
      return name !== undefined;
    }, "a login");
    return join(this.#state, name ?? "");
  }
}
