/**
 * Holds the servers' standalone GET streams of one session open in the Worker that holds the client's
 * stream. They cost only their connections, and the session's object sleeps until a message arrives.
 */

import { type Endpoint, serverOf } from "../endpoint/endpoint.ts";
import { type Server, targetHash } from "../endpoint/server.ts";
import { retry } from "../lib/retry.ts";
import { logUnexpected } from "../observability/unexpected.ts";
import { isObject, type JsonObject } from "../protocol/json-rpc.ts";
import type { Watched } from "../sessions/dispatch.ts";
import { writeClaims } from "../sessions/session-id.ts";
import type { UpstreamTarget } from "../upstream/target.ts";
import {
  readStandaloneWatchRequest,
  watchStandaloneStream,
  type StandaloneWatchRequest,
} from "../upstream/legacy/watch-standalone-stream.ts";
import type { FoundSession } from "./client-session.ts";
import type { FrontDoorContext } from "./front-door.ts";

const RETRIES = { attempts: 7, backoff: { firstMs: 50 } };
/** Never reported. */
const OVER = "The watch has ended";

interface Running {
  readonly request: StandaloneWatchRequest;
  /** The stream broke, and is not open again, or something of it was not handed in. */
  isBroken: boolean;
  /** Aborted when the watch has ended. */
  readonly ending: AbortController;
}

export class StandaloneStreamWatch {
  readonly #endpointOfNow: FrontDoorContext["endpointOfNow"];
  readonly #session: FoundSession;
  readonly #onFailed: () => void;
  #endpoint: Endpoint;
  /** What the session's object has asked for last. */
  #requested: JsonObject | undefined;
  /** By server slug: each server has one watch at most. */
  readonly #running = new Map<string, Running>();

  /**
   * @param context of the request for the stream.
   * @param onFailed called when the session's object cannot be told what it has to know: it takes this for a watch that
   *   goes on, until the stream is taken up anew.
   */
  constructor(
    { endpoint, endpointOfNow }: Pick<FrontDoorContext, "endpoint" | "endpointOfNow">,
    session: FoundSession,
    onFailed: () => void,
  ) {
    this.#endpoint = endpoint;
    this.#endpointOfNow = endpointOfNow;
    this.#session = session;
    this.#onFailed = onFailed;
  }

  /**
   * Watches the servers of a request by the session's object; a watch that runs already continues. What cannot be
   * watched here, the object goes on watching by itself. Never rejects.
   */
  async follow(requested: JsonObject): Promise<void> {
    this.#requested = requested;
    const requests = new Map(Object.entries(requested));
    for (const slug of this.#running.keys()) if (!requests.has(slug)) this.#stop(slug);
    for (const [slug, value] of requests) {
      const request = isObject(value) ? readStandaloneWatchRequest(value) : undefined;
      if (request === undefined) continue;
      // oxlint-disable-next-line no-await-in-loop -- all after the first find the endpoint that this one has asked for
      const server = await this.#serverOf(slug, request.targetHash);
      if (this.#requested !== requested) return;
      if (server === undefined) this.#stop(slug);
      else this.#follow(server.target, request);
    }
  }

  /**
   * The client may have opened its stream hours ago: an operator may have changed the server, or added it, since. A
   * session is known to the server where it was opened, and its id is sent to no other.
   */
  async #serverOf(slug: string, hash: string | undefined): Promise<Server | undefined> {
    const isAt = async (server: Server | undefined): Promise<boolean> =>
      server !== undefined && (hash === undefined || (await targetHash(server)) === hash);
    const known = serverOf(this.#endpoint, slug);
    if (await isAt(known)) return known;
    try {
      this.#endpoint = (await this.#endpointOfNow()) ?? this.#endpoint;
    } catch (error) {
      logUnexpected(error);
    }
    const now = serverOf(this.#endpoint, slug);
    return (await isAt(now)) ? now : undefined;
  }

  stop(): void {
    this.#requested = undefined;
    for (const slug of this.#running.keys()) this.#stop(slug);
  }

  #stop(slug: string): void {
    const running = this.#running.get(slug);
    running?.ending.abort(OVER);
    this.#running.delete(slug);
    if (running?.isBroken === true) void this.#handIn({ slug, hasMissed: true }, running, true);
  }

  #follow(target: UpstreamTarget, request: StandaloneWatchRequest): void {
    const { slug } = target;
    const { sessionId } = request;
    const before = this.#running.get(slug)?.request;
    const isSame = before?.sessionId === sessionId && before?.targetHash === request.targetHash;
    if (before !== undefined && isSame) return;
    this.#stop(slug);
    const watched = { slug, ...(sessionId === undefined ? {} : { sessionId }) };
    const running: Running = { request, isBroken: false, ending: new AbortController() };
    this.#running.set(slug, running);
    let isPrimed = false;
    let isOpen = false;
    const stop = watchStandaloneStream(target, request, {
      deliver: (parsed, lastEventId) =>
        this.#handIn(
          { ...watched, parsed, ...(lastEventId === undefined ? {} : { lastEventId }) },
          running,
          true,
        ),
      standing: () => {
        if (!isOpen) void this.#handIn({ slug, isOpen: true }, running);
        isOpen = true;
      },
      opened: (isContinued) => {
        // Until this watch stands, there is another.
        if (isOpen && !isContinued) void this.#handIn({ slug, hasMissed: true }, running, true);
        running.isBroken = false;
      },
      broken: () => {
        running.isBroken = true;
      },
      primed: (lastEventId) => {
        // Once: later, the last message's event id is enough to resume.
        if (!isPrimed) void this.#handIn({ ...watched, lastEventId }, running);
        isPrimed = true;
      },
      onLost: () => {
        this.#stop(slug);
        const { claims, object } = this.#session;
        object()
          .upstreamForgotten(writeClaims(claims), watched)
          .catch(() => {
            if (this.#requested !== undefined) this.#onFailed();
          });
      },
    });
    running.ending.signal.addEventListener("abort", stop, { once: true });
  }

  /**
   * @param isLasting it is tried again also when the watch has ended. That the watch is open, and where it can be
   *   resumed, would be taken for the one that follows.
   */
  async #handIn(watched: Watched, by: Running, isLasting = false): Promise<void> {
    const { claims, object } = this.#session;
    const retries = isLasting ? RETRIES : { ...RETRIES, signal: by.ending.signal };
    try {
      await retry((attempt) => {
        // The object may have restarted during the call; it knows which messages it has.
        const sent: Watched = attempt === 0 ? watched : { ...watched, isRepeated: true };
        return object().receiveWatched(writeClaims(claims), JSON.stringify(sent));
      }, retries);
    } catch {
      // Later messages of this watch would leave a gap.
      if (this.#running.get(watched.slug) !== by) return;
      by.isBroken = true;
      this.#stop(watched.slug);
      this.#onFailed();
    }
  }
}
