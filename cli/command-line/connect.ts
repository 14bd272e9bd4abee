/** `edgeway connect`. */

import { Gateway } from "../http/gateway.ts";
import { Connection } from "../relay/connection.ts";
import { Host } from "../stdio/host.ts";
import { credentialsOf } from "./credentials.ts";
import type { Environment } from "./read-command.ts";

export interface ConnectOptions {
  readonly url: URL;
  readonly deadlineMs: number;
}

/** @returns the exit code. */
export async function connect(
  { url, deadlineMs }: ConnectOptions,
  environment: Environment,
): Promise<number> {
  const host = new Host(process.stdin, process.stdout);
  const gateway = new Gateway(url, credentialsOf(url, environment), notice);
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => stop.abort());
  }
  await new Connection(host, gateway, { deadlineMs, notice }).run(stop.signal);
  return 0;
}

function notice(text: string): void {
  process.stderr.write(`edgeway: ${text}\n`);
}
