/**
 * The list prices of the platform's paid plan, beyond what it includes, each with where and when it
 * was read: in what the pages are made from (github.com/cloudflare/cloudflare-docs),
 * whose own age is not known. Look at the page before a decision hangs on one. Pure.
 */

export interface Price {
  /** Dollars for a million. */
  readonly perMillion: number;
  readonly unit: string;
  readonly source: string;
  /** The day on which it was read there; none if nobody has. */
  readonly readOn: string | undefined;
}

const READ_ON = "2026-11-21";
/** `src/content/docs/workers/platform/pricing.mdx` at 07acbb6612b5. */
const WORKERS = "https://developers.cloudflare.com/workers/platform/pricing/";
/** `src/content/partials/durable-objects/durable-objects-pricing.mdx` at 07e200b7edc6. */
const OBJECTS = "https://developers.cloudflare.com/durable-objects/platform/pricing/";

export const PRICES = {
  /** From outside. What a Worker sends on, and what comes by a service binding, costs nothing more. */
  workerRequest: { ...{ perMillion: 0.3, unit: "request" }, source: WORKERS, readOn: READ_ON },
  /** `fetch`, methods, upgrades to a WebSocket, alarms that go off. */
  objectRequest: {
    ...{ perMillion: 0.15, unit: "object request" },
    source: OBJECTS,
    readOn: READ_ON,
  },
  /** While an object is at work, or awake and unable to sleep. */
  objectDuration: { ...{ perMillion: 12.5, unit: "GB-s" }, source: OBJECTS, readOn: READ_ON },
  /** Key-value methods read and write rows as well. */
  rowRead: { ...{ perMillion: 0.001, unit: "row read" }, source: OBJECTS, readOn: READ_ON },
  /** Deletes and alarms that are set are rows written. */
  rowWritten: { ...{ perMillion: 1, unit: "row written" }, source: OBJECTS, readOn: READ_ON },
} as const satisfies Record<string, Price>;

/** Twenty incoming messages of a WebSocket are billed as one request; outgoing ones are free. */
export const MESSAGES_A_REQUEST = 20;
/** An object is billed for all the memory that it may use. */
export const OBJECT_GB = 0.128;

/** All prices with their sources, in sentences. Those that nobody has confirmed say so. */
export function pricesInWords(prices: readonly Price[] = Object.values(PRICES)): readonly string[] {
  const bySource = new Map<string, string[]>();
  for (const { perMillion, unit, source, readOn } of prices) {
    const where = readOn === undefined ? `${source}, NOT CONFIRMED` : `${source}, as of ${readOn}`;
    const said = bySource.get(where) ?? [];
    bySource.set(where, [...said, `$${perMillion} for a million of: ${unit}`]);
  }
  return [...bySource].map(([where, said]) => `List prices: ${said.join(", ")} (${where})`);
}
