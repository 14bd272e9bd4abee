/**
 * The real `mcp-remote`, as a host on this machine runs it: MCP over stdio on one side, the gateway
 * on the other. What it would open in a browser is written to a file instead.
 */

import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

import type { Json } from "./clients-face.ts";
import { NODE, ROOT } from "./process.ts";
import { until } from "./until.ts";

const MCP_REMOTE = `${ROOT}node_modules/mcp-remote/dist/proxy.js`;
const BROWSER = `#!/bin/sh
printf '%s\\n' "$1" >> "$OPENED"
`;

/** Somebody's home folder, where every `mcp-remote` of theirs keeps what it knows. */
export class Home {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** @param folder empty, and removed by the caller. */
  static async in(folder: string): Promise<Home> {
    await mkdir(join(folder, "bin"));
    // By BROWSER on Linux, and by their own commands elsewhere.
    for (const name of ["browser", "open", "xdg-open"]) {
      await writeFile(join(folder, "bin", name), BROWSER);
      await chmod(join(folder, "bin", name), 0o755);
    }
    await writeFile(join(folder, "opened"), "");
    return new Home(folder);
  }

  get environment(): Record<string, string> {
    return {
      HOME: this.folder,
      MCP_REMOTE_CONFIG_DIR: join(this.folder, "state"),
      BROWSER: join(this.folder, "bin", "browser"),
      OPENED: join(this.folder, "opened"),
      PATH: `${join(this.folder, "bin")}:${process.env["PATH"]}`,
    };
  }

  /** The addresses that were opened in a browser, in order. */
  async opened(): Promise<readonly string[]> {
    const text = await readFile(join(this.folder, "opened"), "utf8");
    return text.split("\n").filter((line) => line !== "");
  }

  /** The tokens that are kept, of the one server there is. */
  async tokens(): Promise<Json> {
    return JSON.parse(await readFile(await this.#tokenFile(), "utf8")) as Json;
  }

  /** Makes the access token one that is not good, and that is known to have expired or not. */
  async spoilAccessToken(isKnown: boolean): Promise<void> {
    const spoilt = { ...(await this.tokens()), access_token: "spoilt" };
    const past = { expires_in: 1, expires_at: Date.now() - 60_000 };
    const text = JSON.stringify(isKnown ? { ...spoilt, ...past } : spoilt);
    await writeFile(await this.#tokenFile(), text);
  }

  async #tokenFile(): Promise<string> {
    const folder = join(this.folder, "state");
    const names = await readdir(folder, { recursive: true });
    const name = names.find((path) => path.endsWith("_tokens.json"));
    if (name === undefined) throw new Error(`No tokens among ${names.join(", ")}`);
    return join(folder, name);
  }
}

export interface McpRemote {
  readonly client: Client;
  /** What it has said on its standard error. */
  said(): string;
  /** Resolves once the host is connected through it, or fails with what it said. */
  readonly connected: Promise<void>;
  close(): Promise<void>;
}

export function startMcpRemote(
  home: Home,
  url: string,
  options: readonly string[] = [],
): McpRemote {
  const transport = new StdioClientTransport({
    command: NODE,
    args: [MCP_REMOTE, url, ...options],
    env: home.environment,
    cwd: home.folder,
    stderr: "pipe",
  });
  let said = "";
  transport.stderr?.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  const client = new Client({ name: "host", version: "1.0.0" });
  const connected = client.connect(transport).catch((error: unknown) => {
    throw new Error(`mcp-remote did not connect: ${said}`, { cause: error });
  });
  // Whoever closes it early does not wait for it.
  connected.catch(() => undefined);
  return { client, said: () => said, connected, close: () => client.close() };
}

/** Waits for the browser to be opened for the nth time. @returns the address. */
export async function openedAddress(home: Home, remote: McpRemote, nth = 1): Promise<string> {
  await until(
    async () => (await home.opened()).length >= nth,
    () => `mcp-remote to open a browser: ${remote.said()}`,
  );
  return (await home.opened())[nth - 1] ?? "";
}
