/** The login at one URL, in a file that only its owner can read. A change replaces the file at once. */

import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { retry } from "../../src/lib/retry.ts";
import { tryJson } from "../../src/lib/try-json.ts";
import { isObject } from "../../src/protocol/json-rpc.ts";
import { withLock } from "./file-lock.ts";

/** The authorization server of the gateway, as far as it is used here (RFC 8414). */
export interface Endpoints {
  readonly issuer: string;
  readonly authorization: string;
  readonly token: string;
  readonly registration?: string | undefined;
  readonly revocation?: string | undefined;
  /** The resource that tokens are for (RFC 8707). */
  readonly resource: string;
  readonly namesIssuer: boolean;
}

export interface Tokens {
  readonly access: string;
  readonly refresh?: string | undefined;
  /** In milliseconds since 1970. */
  readonly obtainedAt: number;
  readonly expiresAt?: number | undefined;
}

export interface Login {
  readonly url: string;
  readonly endpoints?: Endpoints | undefined;
  readonly clientId?: string | undefined;
  readonly tokens?: Tokens | undefined;
  /** The page that some process waits for. */
  readonly page?: string | undefined;
}

/** Windows refuses to replace a file while another process reads it, which takes no time. */
const RETRIES = { attempts: 6, backoff: { firstMs: 10 } } as const;

export class LoginFile {
  readonly #url: string;
  readonly #path: Promise<string>;

  /** @param folder of all logins. */
  constructor(folder: string, { href }: URL) {
    this.#url = href;
    this.#path = pathOf(folder, href);
  }

  async read(): Promise<Login> {
    const text = await readFile(await this.#path, "utf8").catch(() => "");
    const value = tryJson(text);
    return isObject(value) && value["url"] === this.#url
      ? (value as unknown as Login)
      : { url: this.#url };
  }

  /** Changes what is there now. @returns the login as it is then. */
  async change(changes: Omit<Partial<Login>, "url">): Promise<Login> {
    const login = { ...(await this.read()), ...changes };
    const path = await this.#path;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const made = `${path}.${crypto.randomUUID()}`;
    try {
      await writeFile(made, `${JSON.stringify(login, null, 2)}\n`, { mode: 0o600 });
      await retry(() => rename(made, path), RETRIES);
    } finally {
      await rm(made, { force: true });
    }
    return login;
  }

  /** Runs work that changes the login: one process at a time. */
  async locked<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    return withLock(`${await this.#path}.lock`, signal, work);
  }
}

async function pathOf(folder: string, href: string): Promise<string> {
  // It takes longer to load than all else of the command, and a start with a key needs no login (`npm run measure`).
  const { createHash } = await import("node:crypto");
  const name = createHash("sha256").update(href).digest("hex").slice(0, 32);
  return join(folder, `${name}.json`);
}
