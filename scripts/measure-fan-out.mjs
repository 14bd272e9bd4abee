/**
 * One update of a resource on its way to many: as many legacy sessions as modern listeners, each
 * with an open stream. How long until the last has it, and how many calls of Durable Objects it
 * takes.
 */

import { META, MODERN, post } from "./measure-post.mjs";

const WATCHED_URI = "test://watched-resource";
const UPDATED = "notifications/resources/updated";
/** Streams that are opened at the same time. */
const AT_ONCE = 20;
const PATIENCE_MS = 60_000;
/** A session that is quiet has its server watched elsewhere after 5 s. */
const SETTLED_MS = 6000;

/**
 * @param {string} origin of a gateway in front of the fixture server, with `COST_REPORT`.
 * @param {number} count of sessions, and of listeners.
 */
export async function measureFanOut(origin, count) {
  const hangUp = new AbortController();
  // With these, the server is watched.
  const streams = [await openSession(origin, hangUp.signal)];
  streams.push(await openListener(origin, hangUp.signal));
  try {
    for (let opened = 1; opened < count; opened += AT_ONCE) {
      const some = Array.from({ length: Math.min(AT_ONCE, count - opened) }, () => [
        openSession(origin, hangUp.signal),
        openListener(origin, hangUp.signal),
      ]);
      streams.push(...(await Promise.all(some.flat())));
    }
    const before = await settledRequests(origin);
    const asleep = await tell(origin, streams);
    const awake = await tell(origin, streams);
    return { asleep, awake, objectRequests: ((await objectRequests(origin)) - before) / 2 };
  } finally {
    hangUp.abort();
  }
}

/**
 * @param {string} origin
 * @param {readonly Updates[]} streams
 * @returns how long it takes until the last has it, in milliseconds.
 */
export async function tell(origin, streams) {
  const startedAt = performance.now();
  await update(origin);
  await Promise.all(streams.map((stream) => stream.heard()));
  return performance.now() - startedAt;
}

/** Waits for the updates that a stream brings. */
class Updates {
  #count = 0;
  /** @type {(() => void) | undefined} */
  #wake;

  /** @param {Response} response */
  constructor(response) {
    if (!response.ok) throw new Error(`A stream was refused with ${response.status}`);
    void this.#read(response).catch(() => undefined); // it was hung up
  }

  /** Resolves when there was one since the last time. */
  async heard() {
    if (this.#count === 0) {
      await new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error("An update did not reach everybody")),
          PATIENCE_MS,
        );
        this.#wake = () => {
          clearTimeout(timer);
          resolve(undefined);
        };
      });
    }
    this.#count = 0;
  }

  /** @param {Response} response */
  async #read(response) {
    let rest = "";
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      this.#count += lines.filter((line) => line.includes(UPDATED)).length;
      if (this.#count > 0) this.#wake?.();
    }
  }
}

/** @param {string} origin @param {AbortSignal} signal */
export async function openSession(origin, signal) {
  const clientInfo = { name: "measure", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const opened = await post(origin, {}, { id: 1, method: "initialize", params });
  await opened.text();
  const session = { "Mcp-Session-Id": opened.headers.get("mcp-session-id") ?? "" };
  const accept = { ...session, Accept: "text/event-stream" };
  const updates = new Updates(await fetch(`${origin}/mcp`, { headers: accept, signal }));
  const subscribe = { id: 2, method: "resources/subscribe", params: { uri: WATCHED_URI } };
  await succeed(await post(origin, session, subscribe));
  return updates;
}

/** @param {string} origin @param {AbortSignal} signal */
export async function openListener(origin, signal) {
  const notifications = { resourceSubscriptions: [WATCHED_URI] };
  const headers = { "MCP-Protocol-Version": MODERN, "Mcp-Method": "subscriptions/listen" };
  const params = { _meta: META, notifications };
  const message = { id: 1, method: "subscriptions/listen", params };
  return new Updates(await post(origin, headers, message, signal));
}

/** Has the fixture server announce an update. @param {string} origin */
async function update(origin) {
  const name = "test_touch_watched";
  const headers = {
    ...{ "MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": name },
  };
  const params = { _meta: META, name, arguments: {} };
  await succeed(await post(origin, headers, { id: 1, method: "tools/call", params }));
}

/** @param {Response} response */
async function succeed(response) {
  const text = await response.text();
  if (!text.includes('"result"')) throw new Error(`It failed: ${text}`);
}

/**
 * What was counted once everything that opening a stream takes has been done, and the objects sleep.
 *
 * @param {string} origin
 */
async function settledRequests(origin) {
  for (let before = -1; ;) {
    const now = await objectRequests(origin);
    if (now === before) return now;
    before = now;
    await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
  }
}

/** @param {string} origin */
async function objectRequests(origin) {
  const costs = await (await fetch(`${origin}/debug/costs`)).json();
  return /** @type {{ objectRequests: number }} */ (costs).objectRequests;
}
