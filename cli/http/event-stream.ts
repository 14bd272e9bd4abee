/** Reads server-sent events (HTML Living Standard, 9.2), and knows where a stream can be taken up again. */

import { settleWithin } from "../../src/lib/time-out.ts";
import { eventParser } from "./event-parser.ts";
import { Broken, failureOf } from "./failures.ts";

/**
 * A stream that is silent for so long is given up, because a connection may die unseen while a laptop sleeps. The
 * gateway sends a comment every 15 seconds, unless it is configured otherwise.
 */
const STALL_MS = 90_000;

/** Where to take up a stream that broke; kept up to date while it is read. */
export interface Place {
  lastEventId?: string;
  /** How long to wait first, in milliseconds, as the server asks. */
  retryMs?: number;
}

/**
 * Yields the data of each event. The place is behind an event as soon as the next one is asked for: what was
 * not passed on is fetched again.
 *
 * @throws Broken when the connection ends by itself or is silent.
 */
export async function* readEvents(
  response: Response,
  place: Place,
): AsyncGenerator<string, void, void> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  const eventsIn = eventParser((retryMs) => {
    place.retryMs = retryMs;
  });
  try {
    for (;;) {
      const chunk = await orStalled(reader.read());
      // An event that the end of the stream cuts short is discarded.
      if (chunk.value === undefined) return;
      for (const { id, data } of eventsIn(decoder.decode(chunk.value, { stream: true }))) {
        // Empty data primes a client that may have to come back (2025-11-25, Streamable HTTP).
        if (data !== "") yield data;
        if (id !== undefined) place.lastEventId = id;
      }
    }
  } finally {
    // The body may have ended or broken by itself.
    await reader.cancel().catch(() => undefined);
  }
}

async function orStalled<T extends object>(reading: Promise<T>): Promise<T> {
  const chunk = await settleWithin(reading, STALL_MS).catch((error: unknown) => {
    throw failureOf(error, "sent");
  });
  if (chunk === undefined) throw new Broken(`silent for ${STALL_MS} ms`);
  return chunk;
}
