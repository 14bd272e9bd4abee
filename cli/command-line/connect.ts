/** `edgeway connect`. */

import { LoginNeeded } from "../http/failures.ts";
import { type Credentials, Gateway } from "../http/gateway.ts";
import { Connection } from "../relay/connection.ts";
import { Host } from "../stdio/host.ts";
import { credentialsOf } from "./credentials.ts";
import { notice } from "./notice.ts";
import type { Environment } from "./read-command.ts";
import { stopSignal } from "./stop-signal.ts";

export interface ConnectOptions {
  readonly url: URL;
  readonly deadlineMs: number;
}

/** @returns the exit code. */
export async function connect(
  { url, deadlineMs }: ConnectOptions,
  environment: Environment,
): Promise<number> {
  const hopeless = new AbortController();
  const stop = AbortSignal.any([stopSignal(), hopeless.signal]);
  const inner = credentialsOf(url, environment);
  let code = 0;
  const credentials: Credentials = {
    current: () => inner.current(),
    async renew(...args) {
      try {
        await inner.renew(...args);
      } catch (error) {
        // A command that was never let in and never will be is no server: its host shows why.
        if (error instanceof LoginNeeded && error.isHopeless && !gateway.hasServed && code === 0) {
          code = 1;
          notice(error.message);
          setImmediate(() => hopeless.abort());
        }
        throw error;
      }
    },
  };
  const gateway = new Gateway(url, credentials, notice);
  const host = new Host(process.stdin, process.stdout);
  await new Connection(host, gateway, { deadlineMs, notice }).run(stop);
  return code;
}
