/** The servers that a row compares, each started by its name and stopped with all others. */

import { basename } from "node:path";

import { OURS } from "../row.ts";
import { inCheckout, type Server } from "./servers.ts";

export interface Contender<S extends Server = Server> {
  readonly name: string;
  readonly start: () => Promise<S>;
}

export interface Running<S extends Server = Server> {
  readonly name: string;
  readonly server: S;
}

let other: string | undefined;
/** From now on, another version of the gateway takes part in each row, beside this one. */
export function compareWith(checkout: string): void {
  other = checkout;
}

function withOther<S extends Server>(contenders: readonly Contender<S>[]): readonly Contender<S>[] {
  const checkout = other;
  if (checkout === undefined) return contenders;
  const ours = contenders.filter(({ name }) => name === OURS);
  const compared = ours.map(({ start }) => ({
    name: `${OURS} of ${basename(checkout)}`,
    start: () => inCheckout(checkout, start),
  }));
  return [...contenders, ...compared];
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
  const starting = withOther(contenders).map(async ({ name, start }): Promise<Running<S>> => {
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
