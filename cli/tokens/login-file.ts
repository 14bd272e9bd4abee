/** The login at one URL, in a file that only its owner can read. A change replaces the file at once. */

import { createHash } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { retry } from "../../src/lib/retry.ts";
import { tryJson } from "../../src/lib/try-json.ts";
import { isObject } from "../stdio/message.ts";
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
  readonly #path: string;

  /** @param folder of all logins. */
  constructor(folder: string, { href }: URL) {
    this.#url = href;
    const name = createHash("sha256").update(href).digest("hex").slice(0, 32);
    this.#path = join(folder, `${name}.json`);
  }

  async read(): Promise<Login> {
    const text = await readFile(this.#path, "utf8").catch(() => "");
    const value = tryJson(text);
    return isObject(value) && value["url"] === this.#url
      ? (value as unknown as Login)
      : { url: this.#url };
  }

  /** Changes what is there now. @returns the login as it is then. */
  async change(changes: Omit<Partial<Login>, "url">): Promise<Login> {
    const login = { ...(await this.read()), ...changes };
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    const made = `${this.#path}.${crypto.randomUUID()}`;
    try {
      await writeFile(made, `${JSON.stringify(login, null, 2)}\n`, { mode: 0o600 });
      await retry(() => rename(made, this.#path), RETRIES);
    } finally {
      await rm(made, { force: true });
    }
    return login;
  }

  /** Runs work that changes the login: one process at a time. */
  locked<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    return withLock(`${this.#path}.lock`, signal, work);
  }
}
