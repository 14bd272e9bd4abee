/**
 * The tools that a legacy server runs only as tasks, by its `tools/list`. The list is read when a
 * call needs it, once for all calls that wait for it, and anew when it is stale.
 */

import { type Call, nullPeer, type Peer } from "../../protocol/exchange.ts";
import { isObject, type Reply } from "../../protocol/json-rpc.ts";
import { unlessAborted } from "../../lib/unless-aborted.ts";

/** A session at the server. */
export interface ListingSession {
  /** @throws UpstreamError when no answer is available; the reason of the signal. */
  request(request: {
    readonly call: Call;
    readonly peer: Peer;
    readonly signal: AbortSignal;
  }): Promise<Reply>;
}

const MAX_PAGES = 100;
const FRESH_MS = 60_000;
/** A tool with a longer name is called without a task. */
const MAX_NAME_CHARS = 1024;

/** The peer for requests of the gateway's own. */
export const LISTING_PEER = nullPeer("Nothing is asked in the course of a list");

/** A list that is being read. */
interface Reading {
  readonly done: Promise<void>;
  readonly stop: AbortController;
  waiting: number;
}

export class TaskOnlyTools {
  readonly #now: () => number;
  readonly #maxItems: number;
  #names: ReadonlySet<string> = new Set();
  #readAt = -Infinity;
  #reading: Reading | undefined;

  /** @param maxItems of the server's list; later items are not looked at. */
  constructor(now: () => number, maxItems: number) {
    this.#now = now;
    this.#maxItems = maxItems;
  }

  /** @throws as the session does. */
  async has(server: ListingSession, name: unknown, signal: AbortSignal): Promise<boolean> {
    if (this.#now() - this.#readAt > FRESH_MS) await this.#wait(server, signal);
    return typeof name === "string" && this.#names.has(name);
  }

  async #wait(server: ListingSession, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const reading = (this.#reading ??= this.#read(server));
    reading.waiting += 1;
    try {
      await unlessAborted(reading.done, signal);
    } finally {
      reading.waiting -= 1;
      if (reading.waiting === 0) {
        // The reading is over or stopped, so no later call may join it.
        if (this.#reading === reading) this.#reading = undefined;
        reading.stop.abort(new Error("Nobody waits for it any more"));
      }
    }
  }

  #read(server: ListingSession): Reading {
    const stop = new AbortController();
    const done = read(server, this.#maxItems, stop.signal).then((names) => {
      this.#names = names;
      this.#readAt = this.#now();
    });
    return { done, stop, waiting: 0 };
  }
}

/** @returns the names of the pages that could be read. */
async function read(
  server: ListingSession,
  maxItems: number,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  let cursor: unknown;
  let room = maxItems;
  for (let page = 0; page < MAX_PAGES && room > 0; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const reply = await server.request({
      call: { method: "tools/list", params },
      peer: LISTING_PEER,
      signal,
    });
    if ("error" in reply) break;
    const { tools, nextCursor } = reply.result;
    const listed = Array.isArray(tools) ? (tools as unknown[]).slice(0, room) : [];
    room -= listed.length;
    for (const tool of listed) {
      const name = nameOfTaskOnly(tool);
      if (name !== undefined && name.length <= MAX_NAME_CHARS) names.add(name);
    }
    if (typeof nextCursor !== "string" || nextCursor === cursor) break;
    cursor = nextCursor;
  }
  return names;
}

/** @returns `undefined` for a tool that need not run as a task. */
function nameOfTaskOnly(tool: unknown): string | undefined {
  const { name, execution } = isObject(tool) ? tool : {};
  const { taskSupport } = isObject(execution) ? execution : {};
  return taskSupport === "required" ? String(name) : undefined;
}
