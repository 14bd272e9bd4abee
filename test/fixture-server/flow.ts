// Backpressure for tools. The SDK's event streams queue without limit, so a tool that sends a lot
// asks here, after each message, to be held back until its client has read what was sent.

import type { ServerResponse } from "node:http";
import { setImmediate } from "node:timers/promises";

const outgoingOf = new WeakMap<Request, ServerResponse>();

/** Remembers which socket answers a request. */
export function watchFlow(request: Request, outgoing: ServerResponse): void {
  outgoingOf.set(request, outgoing);
}

/** Resolves when the client of `request` can take more, or has gone and will take nothing. */
export async function readyForMore(request: Request | undefined): Promise<void> {
  // Messages travel from the SDK's queue to the socket in later turns of the event loop.
  await setImmediate();
  const outgoing = request && outgoingOf.get(request);
  if (outgoing === undefined || outgoing.closed || !outgoing.writableNeedDrain) return;
  await new Promise<void>((resolve) => {
    const go = () => {
      outgoing.off("drain", go);
      outgoing.off("close", go);
      resolve();
    };
    outgoing.on("drain", go);
    outgoing.on("close", go);
  });
}
