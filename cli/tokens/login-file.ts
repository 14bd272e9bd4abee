/** The login at one URL, in a file that only its owner can read. A change replaces the file at once. */

import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { retry } from "../../src/lib/retry.ts";
import { tryJson } from "../../src/lib/try-json.ts";
import { isObject } from "../../src/protocol/json-rpc.ts";
import { withLock } from "./file-lock.ts";
import { replaceFile, WHILE_READ } from "./replace-file.ts";
import { inFolder } from "./state-folder.ts";

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
  /** When a person signed in, in milliseconds since 1970; the tokens may have been renewed since. */
  readonly signedInAt?: number | undefined;
  /** The page that some process waits for. */
  readonly page?: string | undefined;
  /** When a person last refused a page, or left it alone, in milliseconds since 1970. */
  readonly refusedAt?: number | undefined;
}

export class LoginFile {
  readonly #url: string;
  readonly #path: Promise<string>;

  /** @param folder of all logins. */
  constructor(folder: string, { href }: URL) {
    this.#url = href;
    this.#path = pathOf(folder, href);
  }

  /** @throws FolderError. */
  async read(): Promise<Login> {
    const path = await this.#path;
    const text = await inFolder(dirname(path), () =>
      retry(() => readFile(path, "utf8").catch(ifMissing), WHILE_READ),
    );
    const value = tryJson(text);
    return isObject(value) && value["url"] === this.#url
      ? (value as unknown as Login)
      : { url: this.#url };
  }

  /** Changes what is there now. @returns the login as it is then. @throws FolderError. */
  async change(changes: Omit<Partial<Login>, "url">): Promise<Login> {
    const login = { ...(await this.read()), ...changes };
    const path = await this.#path;
    const folder = dirname(path);
    await inFolder(folder, async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await replaceFile(path, `${JSON.stringify(login, null, 2)}\n`);
    });
    return login;
  }

  /** Runs a login in a browser: one process at a time, for as long as its person takes. Others may change the file. */
  async signingIn<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    return withLock(`${await this.#path}.sign-in`, signal, work);
  }

  /** Runs work that changes the login: one process at a time. None waits for a person meanwhile. */
  async locked<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    return withLock(`${await this.#path}.lock`, signal, work);
  }
}

function ifMissing(error: unknown): string {
  if (isObject(error) && error["code"] === "ENOENT") return "";
  throw error;
}

async function pathOf(folder: string, href: string): Promise<string> {
  // It takes longer to load than all else of the command, and a start with a key needs no login (`npm run measure`).
  const { createHash } = await import("node:crypto");
  const name = createHash("sha256").update(href).digest("hex").slice(0, 32);
  return join(folder, `${name}.json`);
}
