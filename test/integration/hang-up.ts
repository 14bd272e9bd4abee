/**
 * What a test leaves open is hung up at the end of its file, above all where it has failed. The Worker would go on to
 * serve it, with the configuration of the next file in the same isolate: it would listen to all servers of that.
 */

import { within } from "./bounded.ts";

const hangUps: (() => Promise<unknown>)[] = [];

/** @param hangUp may be called though nothing is open any more. */
export function atEndOfFile(hangUp: () => Promise<unknown>): void {
  hangUps.push(hangUp);
}

export async function hangUpAll(): Promise<void> {
  const all = hangUps.splice(0).map((hangUp) => hangUp());
  await within(Promise.allSettled(all), "what is open to be hung up");
}
