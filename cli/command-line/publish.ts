/** `edgeway publish`. */

import { readFileSync, statSync } from "node:fs";
import { hostname } from "node:os";

import { version } from "../../package.json";
import { LoginNeeded } from "../http/failures.ts";
import { Fatal } from "../publish/dial-gateway.ts";
import { type LocalServer, localServer, type ServerDescription } from "../publish/local-server.ts";
import { Publisher } from "../publish/publisher.ts";
import { readServerMap } from "../publish/server-map.ts";
import { FolderError } from "../tokens/state-folder.ts";
import { credentialsOf } from "./credentials.ts";
import { notice } from "./notice.ts";
import type { Environment } from "./read-command.ts";
import type { PublishCommand } from "./read-publish.ts";
import { stopSignal } from "./stop-signal.ts";

/** @returns the exit code. */
export async function publish(command: PublishCommand, environment: Environment): Promise<number> {
  const stop = stopSignal();
  const servers = localServers(command, environment);
  if (servers.length === 0) {
    notice("there is nothing to publish");
    return 1;
  }
  const { url, isShared, idleMs } = command;
  const credentials = credentialsOf(url, environment);
  const info = { host: hostname(), version };
  const options = { url, credentials, servers, isShared, idleMs, info, notice };
  try {
    await new Publisher(options).run(stop);
    return 0;
  } catch (error) {
    const isSentence = [Fatal, LoginNeeded, FolderError].some((kind) => error instanceof kind);
    if (!isSentence) throw error;
    notice((error as Error).message);
    return 1;
  }
}

function localServers(
  { url, what, named }: PublishCommand,
  environment: Environment,
): readonly LocalServer[] {
  const descriptions =
    "file" in what ? fromFile(what.file, environment, url) : [{ ...what, env: {}, cwd: undefined }];
  const missing = named.find((name) => environment[name] === undefined);
  if (missing !== undefined) notice(`the variable ${missing} of --env is not set`);
  const surroundings = { platform: process.platform, environment, cwd: process.cwd(), isFile };
  return descriptions.flatMap((description) => {
    const server = localServer(description, named, surroundings);
    if (typeof server !== "string") return [server];
    notice(server);
    return [];
  });
}

function fromFile(
  file: string,
  environment: Environment,
  gateway: URL,
): readonly ServerDescription[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    notice(code === "ENOENT" ? `there is no file ${file}` : `${file} cannot be read (${code})`);
    return [];
  }
  const map = readServerMap(text, environment, gateway);
  if (map === undefined) notice(`${file} is no JSON, or has no map of servers, as "mcpServers"`);
  for (const sentence of map?.skipped ?? []) notice(`not published: ${sentence}`);
  return map?.servers ?? [];
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
