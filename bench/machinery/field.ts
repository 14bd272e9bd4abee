/** The servers that a row compares, each started by its name and stopped with all others. */

import type { Server } from "./servers.ts";

export interface Contender<S extends Server = Server> {
  readonly name: string;
  readonly start: () => Promise<S>;
}

export interface Running<S extends Server = Server> {
  readonly name: string;
  readonly server: S;
}

/**
 * They start side by side, since most of that is waiting.
 *
 * @throws Error that names who did not start, or what `use` threw.
 */
export async function withServers<S extends Server, Outcome>(
  contenders: readonly Contender<S>[],
  use: (running: readonly Running<S>[]) => Promise<Outcome>,
): Promise<Outcome> {
  const starting = contenders.map(async ({ name, start }): Promise<Running<S>> => {
    return { name, server: await naming(name, start) };
  });
  try {
    return await use(await Promise.all(starting));
  } finally {
    const started = await Promise.allSettled(starting);
    const running = started.filter((each) => each.status === "fulfilled");
    await Promise.all(running.map(({ value }) => value.server.stop()));
  }
}

/** Does something for a participant. @throws Error that names it. */
export async function naming<Outcome>(name: string, act: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await act();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${name} could not be measured: ${reason}`, { cause });
  }
}
