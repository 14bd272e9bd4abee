/**
 * Load before anything is measured. A server is warm after so many requests, be the machine fast or
 * slow, since an engine compiles what has run often; or when that takes too long.
 */

import { type Asking, openLoad } from "./load.ts";

const CONNECTIONS = 16;
const ENOUGH_REQUESTS = 2000;
const SLICE_SECONDS = 0.2;
const MOST_SLICES = 30;

/** @param askings one for each connection that there may be. */
export async function warmUp(url: string, askings: readonly Asking[]): Promise<void> {
  const load = openLoad(url, askings.slice(0, CONNECTIONS));
  let answered = 0;
  try {
    for (let slice = 0; slice < MOST_SLICES && answered < ENOUGH_REQUESTS; slice++) {
      answered += (await load.run(SLICE_SECONDS))["answered"] ?? 0;
    }
  } finally {
    load.close();
  }
}
