/**
 * Streamable HTTP of 2025-03-26 to 2025-11-25, seen from the client's side: POST for every
 * message, an optional GET stream, `Mcp-Session-Id`, and resumption with `Last-Event-ID`.
 */

import { mediaType } from "../../lib/media-type.ts";
import { sleep } from "../../lib/sleep.ts";
import { abortAfter } from "../../lib/time-out.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import type {
  ErrorObject,
  JsonRpcNotification,
  JsonRpcRequest,
  JsonRpcResponse,
} from "../../protocol/json-rpc.ts";
import type { LegacyRevision } from "../../protocol/revisions.ts";
import { ACCEPT_BOTH, readRefusal, send, UNATTENDED_TIMEOUT_MS } from "../http.ts";
import { readMessages, type ResumePoint } from "../read-messages.ts";
import type { UpstreamTarget } from "../target.ts";
import { UpstreamError } from "../upstream-error.ts";
import { showsModernOnly } from "./handshake.ts";
import type { Deliver, Listener, Receiver, Wire } from "./wire.ts";

/** Attempts in a row that brought nothing; a server that polls resets the count by delivering. */
const MAX_BARREN_RESUMES = 5;
const DEFAULT_RETRY_MS = 1000;
const MAX_RETRY_MS = 30_000;
/** Between two GET streams, whatever the server asks for. */
const MIN_PAUSE_MS = 100;
const BAD_REQUEST = 400;
const CONFLICT = 409;
const CONFLICT_PAUSE_MS = 20;
const MAX_CONFLICTS = 6;
const SERVER_ERROR = 500;
/** A stream of ours is open still, or there are too many requests. */
const NOT_NOW: ReadonlySet<number> = new Set([408, CONFLICT, 429]);
/** A GET stream that stood for this long was a good one, though it brought nothing. */
const STEADY_MS = 10_000;

export class StreamableHttpWire implements Wire {
  readonly #target: UpstreamTarget;
  #sessionId: string | undefined;
  #revision: LegacyRevision | undefined;
  #listening: AbortController | undefined;

  constructor(target: UpstreamTarget, sessionId?: string, revision?: LegacyRevision) {
    this.#target = target;
    this.#sessionId = sessionId;
    this.#revision = revision;
  }

  get sessionId(): string | undefined {
    return this.#sessionId;
  }

  agree(revision: LegacyRevision): void {
    this.#revision = revision;
  }

  async request(message: JsonRpcRequest, receiver: Receiver, signal: AbortSignal): Promise<void> {
    const response = await this.#send("POST", { body: message, accept: ACCEPT_BOTH, signal });
    if (!response.ok) {
      const error = await this.#readRefusal(response);
      const refused: JsonRpcResponse = { jsonrpc: "2.0", id: message.id, error };
      return receiver.deliver({ kind: "response", message: refused });
    }
    if (message.method === "initialize") {
      this.#sessionId = response.headers.get("mcp-session-id") ?? undefined;
    }
    const resume: ResumePoint = { onPrimed: () => receiver.primed(resume.lastEventId) };
    try {
      await this.#drain(response, resume, receiver.deliver, receiver.isSettled);
    } catch (error) {
      // A broken connection is a closed one: with an event id the stream goes on elsewhere.
      if (!isLost(error) || resume.lastEventId === undefined || signal.aborted) throw error;
    }
    if (receiver.isSettled() || resume.lastEventId === undefined) return;
    receiver.released();
    await sleep(pauseBefore(resume), signal);
    await this.#resume(resume, receiver, signal);
  }

  async resume(lastEventId: string, receiver: Receiver, signal: AbortSignal): Promise<void> {
    await this.#resume({ lastEventId }, receiver, signal);
  }

  async post(message: JsonRpcNotification | JsonRpcResponse): Promise<void> {
    await abortAfter(UNATTENDED_TIMEOUT_MS, async (signal) => {
      const response = await this.#send("POST", { body: message, accept: ACCEPT_BOTH, signal });
      if (response.ok) await response.body?.cancel();
      else await this.#readRefusal(response);
    });
  }

  listen(listener: Listener, lastEventId?: string): void {
    if (this.#listening !== undefined) return;
    this.#listening = new AbortController();
    const resume: ResumePoint = {
      ...(lastEventId === undefined ? {} : { lastEventId }),
      onPrimed: () => {
        if (resume.lastEventId !== undefined) listener.primed(resume.lastEventId);
      },
    };
    void this.#listenLoop(listener, resume, this.#listening.signal);
  }

  unlisten(): void {
    this.#listening?.abort();
    this.#listening = undefined;
  }

  drop(): void {
    this.unlisten();
  }

  async close(): Promise<void> {
    this.unlisten();
    if (this.#sessionId === undefined) return;
    await abortAfter(UNATTENDED_TIMEOUT_MS, async (signal) => {
      const response = await this.#send("DELETE", { signal });
      await response.body?.cancel();
    }).catch(() => undefined); // best effort: a server may be gone already
    this.#sessionId = undefined;
  }

  #send(
    method: "POST" | "GET" | "DELETE",
    options: { body?: unknown; accept?: string; lastEventId?: string; signal: AbortSignal },
  ): Promise<Response> {
    const { body, accept, lastEventId, signal } = options;
    return send(this.#target, {
      method,
      headers: {
        ...(accept === undefined ? {} : { Accept: accept }),
        ...(this.#sessionId === undefined ? {} : { "Mcp-Session-Id": this.#sessionId }),
        // Every request after initialize (2025-06-18: MUST); older servers ignore it.
        ...(this.#revision === undefined ? {} : { "MCP-Protocol-Version": this.#revision }),
        ...(lastEventId === undefined ? {} : { "Last-Event-ID": lastEventId }),
      },
      ...(body === undefined ? {} : { body }),
      signal,
    });
  }

  /**
   * Reads why a request was refused, or tells that the session is forgotten. 404 is the rule; some
   * servers answer 400 with the implementation's own code. Both refuse at the door: the request
   * did not run.
   */
  async #readRefusal(response: Response): Promise<ErrorObject> {
    const { slug } = this.#target;
    const { status } = response;
    const hasSession = this.#sessionId !== undefined;
    const forgotten = new UpstreamError(slug, "session-lost", "forgot its session");
    if (hasSession && status === 404) {
      await response.body?.cancel();
      throw forgotten;
    }
    const error = await readRefusal(slug, response);
    if (hasSession && status === 400 && error.code === ErrorCode.Transport) throw forgotten;
    // It has left the era since the handshake; the next one shows what it is now.
    if (this.#revision !== undefined && status === 400 && showsModernOnly(error)) throw forgotten;
    return error;
  }

  async #drain(
    response: Response,
    resume: ResumePoint,
    deliver: Deliver,
    isSettled: () => boolean,
  ): Promise<void> {
    for await (const parsed of readMessages(this.#target, response, resume)) {
      await deliver(parsed, resume.ownId);
      if (isSettled()) return;
    }
  }

  /** Takes a stream up again until its request is settled (2025-11-25, resumability). */
  async #resume(
    resume: ResumePoint,
    { deliver, isSettled }: Receiver,
    signal: AbortSignal,
  ): Promise<void> {
    for (let barren = 0; !isSettled() && barren < MAX_BARREN_RESUMES; barren++) {
      if (barren > 0) await sleep(pauseBefore(resume), signal);
      const { lastEventId } = resume;
      const response = await this.#get(lastEventId, signal);
      if (!response.ok) {
        await response.body?.cancel();
        continue;
      }
      await this.#drain(response, resume, deliver, isSettled).catch((error: unknown) => {
        if (!isLost(error)) throw error;
      });
      // A server that polls brings little at a time, but it brings something.
      if (resume.lastEventId !== lastEventId) barren = 0;
    }
  }

  #get(lastEventId: string | undefined, signal: AbortSignal): Promise<Response> {
    const accept = "text/event-stream";
    return this.#send("GET", {
      ...{ accept, signal },
      ...(lastEventId === undefined ? {} : { lastEventId }),
    });
  }

  async #listenLoop(listener: Listener, resume: ResumePoint, signal: AbortSignal): Promise<void> {
    for (let failures = 0, conflicts = 0; !signal.aborted;) {
      try {
        const { lastEventId } = resume;
        const response = await this.#get(lastEventId, signal);
        if (response.status === CONFLICT && conflicts < MAX_CONFLICTS) {
          // The stream of whoever listened before us is not closed yet.
          await response.body?.cancel();
          await sleep(CONFLICT_PAUSE_MS * 2 ** conflicts++, signal);
          continue;
        }
        conflicts = 0;
        failures += 1;
        if (response.ok && isEventStream(response)) {
          listener.opened?.(lastEventId !== undefined);
          const isOfUse = await this.#hear(response, listener, resume, signal);
          if (isOfUse) failures = 0;
        } else if (!(await this.#mayListenAgain(response, resume, listener))) {
          break;
        }
      } catch {
        failures += 1; // whatever it was, the stream is opened again, or was aborted
      }
      // A server that has us come back for nothing again and again does not say when.
      const pauseMs = pauseBefore(failures > MAX_BARREN_RESUMES ? {} : resume, failures);
      await sleep(Math.max(pauseMs, MIN_PAUSE_MS), signal).catch(() => undefined); // aborted: leave
    }
    if (this.#listening?.signal === signal) this.#listening = undefined;
  }

  /** @returns whether the stream was of use: it brought something, or stood for a while. */
  async #hear(
    response: Response,
    { deliver, broken }: Listener,
    resume: ResumePoint,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { lastEventId } = resume;
    const openedAt = Date.now();
    let hasSpoken = false;
    const hear: Deliver = (parsed, id) => {
      hasSpoken = true;
      return deliver(parsed, id);
    };
    try {
      await this.#drain(response, resume, hear, () => signal.aborted);
    } catch {
      // However it ended, it is opened again.
    }
    if (!signal.aborted) broken?.();
    return hasSpoken || resume.lastEventId !== lastEventId || Date.now() - openedAt > STEADY_MS;
  }

  async #mayListenAgain(
    response: Response,
    resume: ResumePoint,
    { onLost, refused }: Listener,
  ): Promise<boolean> {
    const { status } = response;
    let isForgotten = false;
    // What is no event stream is none of ours, whatever it is.
    if (response.ok) await response.body?.cancel();
    else {
      await this.#readRefusal(response).catch((error: unknown) => {
        isForgotten = error instanceof UpstreamError && error.failure === "session-lost";
      });
    }
    // A place that the server no longer knows is not worth losing all that comes after it.
    if (status === BAD_REQUEST && resume.lastEventId !== undefined) {
      delete resume.lastEventId;
      return true;
    }
    if (isForgotten) onLost();
    const isOnlyNow = status >= SERVER_ERROR || NOT_NOW.has(status);
    // 405: there is no such stream.
    if (!isForgotten && !isOnlyNow) refused?.();
    return !isForgotten && isOnlyNow;
  }
}

/** Milliseconds to wait before a stream is opened again, as the server asks or twice as long each time. */
function pauseBefore({ retryMs }: ResumePoint, failures = 0): number {
  return Math.min(retryMs ?? DEFAULT_RETRY_MS * 2 ** Math.min(failures, 5), MAX_RETRY_MS);
}

function isLost(error: unknown): boolean {
  return error instanceof UpstreamError && error.failure === "lost";
}

function isEventStream(response: Response): boolean {
  return mediaType(response.headers.get("content-type")) === "text/event-stream";
}
