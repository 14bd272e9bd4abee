/**
 * `/activity/live`: the calls of a page of activity as they end, as server-sent events. The page has a script
 * that shows them; without it, the page is loaded again. A stream lasts ten minutes, and no longer than its
 * reader may see what it shows.
 */

import { byAge, type CallFilter, type CallPlace, type ListedCall } from "../activity/call.ts";
import { REPLACED_CODE } from "../activity/watchers.ts";
import { withKeepAlive } from "../lib/keep-alive.ts";
import { PushStream } from "../lib/push-stream.ts";
import { encodeEvent, KEEP_ALIVE, SSE_HEADERS } from "../protocol/sse.ts";
import {
  type ActivityHandler,
  type ActivityVisit,
  filterOf,
  isOfEveryone,
  readPlace,
  visitingActivity,
  writePlace,
} from "./activity-visit.ts";
import { rowOf } from "./activity.ts";
import { visitorOf } from "./page-visitor.ts";
import { namesOf } from "./people-names.ts";
import { notFound } from "./respond.ts";
import { callRows } from "./view/activity-view.ts";

const LASTS_MS = 600_000;
/** So far a stream may be ahead of its reader; a slower one is told to load the page again. */
const WINDOW_BYTES = 262_144;
const RETRY_MS = 5000;
const MAX_MISSED = 50;
/** So much later than one that ended after it may a call be written down. */
const LATE_MS = 10_000;
const MORE = "More happened than is shown. Reload the page.";

export const watchActivity: ActivityHandler = visitingActivity(async (visit) => {
  const { context, visitor, query, request } = visit;
  if (context.recorded === "off") return notFound(context);
  const filter = filterOf(visit);
  const sockets = await context.activities.watch({ viewer: visitor.person, filter });
  if (sockets === undefined) {
    return new Response("So many people look on that there is no place left.\n", { status: 429 });
  }
  const watch = new Watch(visit, filter, sockets);
  request.signal.addEventListener("abort", () => watch.close(), { once: true });
  // A browser that comes back says what it was sent last (HTML, the Last-Event-ID header).
  const last = readPlace(request.headers.get("last-event-id"));
  watch.begin(last ?? readPlace(query.get("since")));
  const body = withKeepAlive(watch.body, { filler: KEEP_ALIVE, intervalMs: context.keepAliveMs });
  const headers = { ...SSE_HEADERS, "X-Content-Type-Options": "nosniff" };
  return new Response(body, { headers });
});

class Watch {
  readonly #visit: ActivityVisit;
  readonly #filter: CallFilter;
  readonly #sockets: ReadonlyMap<string, WebSocket>;
  readonly #stream: PushStream;
  #end: number | null = null;
  #checks: number | null = null;
  /** Of all calls that were sent, or were on the page before. */
  #newest: CallPlace | undefined;

  constructor(visit: ActivityVisit, filter: CallFilter, sockets: ReadonlyMap<string, WebSocket>) {
    this.#visit = visit;
    this.#filter = filter;
    this.#sockets = sockets;
    this.#stream = new PushStream({ windowBytes: WINDOW_BYTES, onCancel: () => this.close() });
  }

  get body(): ReadableStream<Uint8Array> {
    return this.#stream.body;
  }

  /** @param since the newest call of the page: those that ended since come first. */
  begin(since: CallPlace | undefined): void {
    this.#stream.enqueue(encodeEvent({ event: "begin", retry: RETRY_MS, data: "" }));
    this.#newest = since;
    const caughtUp = since === undefined ? Promise.resolve() : this.#catchUp(since);
    for (const [shard, socket] of this.#sockets) {
      socket.addEventListener("message", ({ data }) => {
        const calls = JSON.parse(String(data)) as readonly ListedCall[];
        const placed = calls.map((call) => ({ ...call, id: `${shard}.${call.id}` }));
        // In this order: a browser that comes back has everything up to the newest call that it was sent.
        void caughtUp.then(() => this.#show(placed));
      });
      socket.addEventListener("close", ({ code }) => {
        // Otherwise the object has begun anew, and the reader comes back by itself.
        if (code === REPLACED_CODE) this.#finish("This page is live in another tab.");
        else this.close();
      });
      socket.accept();
    }
    this.#end = setTimeout(
      () => this.#finish("Ten minutes are over. Reload the page to see more."),
      LASTS_MS,
    );
    // So long after somebody has lost their access, they may still see calls.
    this.#checks = setInterval(() => void this.#check(), this.#visit.context.keepAliveMs);
  }

  async #catchUp(since: CallPlace): Promise<void> {
    const { activities } = this.#visit.context;
    try {
      const { calls } = await activities.calls(this.#filter, MAX_MISSED + 1);
      if (calls.filter((call) => byAge(call, since) < 0).length > MAX_MISSED) {
        this.#finish(MORE);
        return;
      }
      // The page knows those that it has already.
      await this.#show(calls.filter(({ at }) => at > since.at - LATE_MS));
    } catch {
      this.close();
    }
  }

  async #show(calls: readonly ListedCall[]): Promise<void> {
    if (calls.length === 0) return;
    if (this.#stream.isFull) {
      this.#finish(MORE);
      return;
    }
    const { auth } = this.#visit.context;
    const people = calls.map(({ person }) => person);
    const names = isOfEveryone(this.#visit) ? await namesOf(auth, people) : undefined;
    const sorted = calls.toSorted(byAge);
    const rows = sorted.map((call) => rowOf(call, names));
    const known = this.#newest;
    const [first = known] = sorted;
    this.#newest = first && known && byAge(known, first) < 0 ? known : first;
    const id = this.#newest && writePlace(this.#newest);
    const data = callRows(rows).toString();
    this.#stream.enqueue(encodeEvent({ event: "calls", ...(id !== undefined && { id }), data }));
  }

  async #check(): Promise<void> {
    const { context, request } = this.#visit;
    const visitor = await visitorOf(context, request).catch(() => undefined);
    const isTheSame = visitor?.person === this.#visit.visitor.person;
    if (isTheSame && (visitor.isAdmin || !isOfEveryone(this.#visit))) return;
    this.#finish("You are not signed in any more.");
  }

  /** @param sentence for the reader, who does not come back. */
  #finish(sentence: string): void {
    this.#stream.enqueue(encodeEvent({ event: "end", data: sentence }));
    this.close();
  }

  /** Leaves nothing running. */
  close(): void {
    clearTimeout(this.#end);
    clearInterval(this.#checks);
    this.#stream.close();
    for (const socket of this.#sockets.values()) socket.close();
  }
}
