/**
 * A client that listens was promised to be told once a list is another one, also where it was given one for which
 * somebody could not be asked. Each answer sees to that itself, for as long as its own work may last: what it began may
 * be given up with it. Many answers in one isolate try no more often than one.
 */

import { BoundedCache } from "../../lib/bounded-cache.ts";
import { retry, type RetryOptions } from "../../lib/retry.ts";
import { logUnexpected } from "../../observability/unexpected.ts";
import type { Announcer } from "../cache/catalogs.ts";

/** For about 25 seconds: what outlives an answer may take half a minute on Workers. */
const RETRIES = {
  attempts: 8,
  backoff: { firstMs: 500, maxMs: 5000 },
} satisfies RetryOptions;
/** The shortest time between two attempts of an isolate. */
const PAUSE_MS = 400;

/** Of one announcer. */
interface Attempts {
  /** When the last one began, in milliseconds since 1970. */
  readonly lastAt: number;
  /** The place of the last one that has succeeded. */
  readonly announced: number;
}

const latest = new BoundedCache<Attempts>({ maxEntries: 1000 });
/** The order of answers and attempts in this isolate, which no clock tells that may be set back. */
let places = 0;

/** Has somebody announce all lists once it can be reached. Never rejects. */
export async function announceLater({ key, announce }: Announcer): Promise<void> {
  const answered = ++places;
  const attempt = async (): Promise<void> => {
    const { lastAt, announced } = latest.get(key) ?? { lastAt: 0, announced: 0 };
    if (announced > answered) return;
    const now = Date.now();
    if (now >= lastAt && now < lastAt + PAUSE_MS) throw new Error("Another answer has just tried");
    const place = ++places;
    latest.set(key, { lastAt: now, announced });
    await announce();
    latest.set(key, { lastAt: latest.get(key)?.lastAt ?? now, announced: place });
  };
  await retry(attempt, RETRIES).catch(logUnexpected);
}
