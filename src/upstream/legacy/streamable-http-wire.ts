/**
 * Streamable HTTP of 2025-03-26 to 2025-11-25, seen from the client's side: POST for every
 * message, an optional GET stream, `Mcp-Session-Id`, and resumption with `Last-Event-ID`.
 */

import { fnv1a64 } from "../../lib/fnv1a.ts";
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
import type { TraceHeaders } from "../../protocol/trace-context.ts";
import type { UsableCredential } from "../credentials.ts";
import { ACCEPT_BOTH, readRefusal, type Send, send, UNATTENDED_TIMEOUT_MS } from "../http.ts";
import type { SessionAccount } from "../send-with-account.ts";
import { readMessages, type SsePosition } from "../read-messages.ts";
import type { UpstreamTarget } from "../target.ts";
import { UpstreamError } from "../upstream-error.ts";
import { showsModernOnly } from "./handshake.ts";
import { pauseBefore, StandaloneStream } from "./standalone-stream.ts";
import type { Deliver, StandaloneStreamListener, Receiver, Wire } from "./wire.ts";

/** Attempts in a row that yielded no event; a server that has clients poll resets the count by delivering. */
const MAX_BARREN_RESUMES = 5;

/** A session that was opened on another wire. */
export interface KnownSession {
  readonly sessionId?: string | undefined;
  readonly revision?: LegacyRevision;
  readonly accountId?: string | undefined;
}

export class StreamableHttpWire implements Wire {
  readonly #target: UpstreamTarget;
  #sessionId: string | undefined;
  #revision: LegacyRevision | undefined;
  /** The handshake was made on another wire, and the server may have changed since. */
  #isRestored: boolean;
  readonly #account: SessionAccount;
  readonly #standalone: StandaloneStream;

  constructor(target: UpstreamTarget, { sessionId, revision, accountId }: KnownSession = {}) {
    this.#target = target;
    this.#sessionId = sessionId;
    this.#revision = revision;
    this.#account = accountId === undefined ? {} : { accountId };
    this.#isRestored = revision !== undefined;
    this.#standalone = new StandaloneStream({
      get: (lastEventId, signal) => this.#get(lastEventId, signal),
      drain: (response, resume, deliver, isOver) => this.#drain(response, resume, deliver, isOver),
      readRefusal: (response) => this.#readRefusal(response),
    });
  }

  get sessionId(): string | undefined {
    return this.#sessionId;
  }

  get sessionMark(): string | undefined {
    // Stored with every question: a session id may have thousands of characters.
    return this.#sessionId && fnv1a64(this.#sessionId).toString(36);
  }

  get accountId(): string | undefined {
    return this.#account.accountId;
  }

  agree(revision: LegacyRevision): void {
    this.#revision = revision;
    this.#isRestored = false;
  }

  async request(
    message: JsonRpcRequest,
    receiver: Receiver,
    signal: AbortSignal,
    trace?: TraceHeaders,
  ): Promise<void> {
    if (this.#standalone.opening !== undefined) await this.#standalone.opening;
    signal.throwIfAborted();
    receiver.sent();
    const response = await this.#send("POST", {
      body: message,
      accept: ACCEPT_BOTH,
      trace,
      signal,
    });
    if (!response.ok) {
      const error = await this.#readRefusal(response);
      const refused: JsonRpcResponse = { jsonrpc: "2.0", id: message.id, error };
      return receiver.deliver({ kind: "response", message: refused });
    }
    if (message.method === "initialize") {
      this.#sessionId = response.headers.get("mcp-session-id") ?? undefined;
    }
    const resume: SsePosition = { onPrimed: () => receiver.primed(resume.lastEventId) };
    try {
      await this.#drain(response, resume, receiver.deliver, receiver.isSettled);
    } catch (error) {
      // A broken connection counts as a closed one: with an event id the stream can be resumed.
      if (!hasFailed(error, "lost") || resume.lastEventId === undefined || signal.aborted)
        throw error;
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
    // A notification may cause a server request: `roots/list` after the roots have changed.
    if ("method" in message) await this.#standalone.opening;
    await abortAfter(UNATTENDED_TIMEOUT_MS, async (signal) => {
      const response = await this.#send("POST", { body: message, accept: ACCEPT_BOTH, signal });
      if (response.ok) await response.body?.cancel();
      else await this.#readRefusal(response);
    });
  }

  listen(listener: StandaloneStreamListener, lastEventId?: string): void {
    this.#standalone.listen(listener, lastEventId);
  }

  get opening(): Promise<void> | undefined {
    return this.#standalone.opening;
  }

  unlisten(): void {
    this.#standalone.unlisten();
  }

  drop(): void {
    this.unlisten();
  }

  async close(last?: UsableCredential): Promise<void> {
    this.unlisten();
    if (this.#sessionId === undefined) return;
    await abortAfter(UNATTENDED_TIMEOUT_MS, async (signal) => {
      const response = await this.#send("DELETE", { last, signal });
      await response.body?.cancel();
    }).catch(() => undefined); // best effort: the server may be unreachable
    this.#sessionId = undefined;
  }

  #send(
    method: "POST" | "GET" | "DELETE",
    options: Pick<Send, "body" | "last" | "signal"> & {
      readonly accept?: string;
      readonly lastEventId?: string;
      readonly trace?: TraceHeaders | undefined;
    },
  ): Promise<Response> {
    const { body, accept, lastEventId, trace, last, signal } = options;
    return send(this.#target, {
      method,
      account: this.#account,
      last,
      headers: {
        ...trace,
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
   * Reads why a request was refused. 404 means a forgotten session; some servers answer 400 with the
   * implementation's own code. So does a server that had no sessions at the handshake and has them now
   * (2025-11-25, session management). In each case the request did not run.
   *
   * @throws UpstreamError `session-lost` when the session is forgotten; as `readRefusal` of `http.ts`.
   */
  async #readRefusal(response: Response): Promise<ErrorObject> {
    const { slug } = this.#target;
    const { status } = response;
    const mayBeForgotten = this.#sessionId !== undefined || this.#isRestored;
    const forgotten = new UpstreamError(slug, "session-lost", "forgot its session");
    if (mayBeForgotten && status === 404) {
      await response.body?.cancel();
      throw forgotten;
    }
    const error = await readRefusal(this.#target, response);
    if (mayBeForgotten && status === 400 && error.code === ErrorCode.Transport) throw forgotten;
    // The server has left the era since the handshake; the next handshake finds its new one.
    if (this.#revision !== undefined && status === 400 && showsModernOnly(error)) throw forgotten;
    return error;
  }

  async #drain(
    response: Response,
    resume: SsePosition,
    deliver: Deliver,
    isSettled: () => boolean,
  ): Promise<void> {
    for await (const parsed of readMessages(this.#target, response, resume)) {
      await deliver(parsed, resume.ownId);
      if (isSettled()) return;
    }
  }

  /** Resumes a stream until its request is settled (2025-11-25, resumability). */
  async #resume(
    resume: SsePosition,
    { deliver, isSettled }: Receiver,
    signal: AbortSignal,
  ): Promise<void> {
    for (let barren = 0; !isSettled() && barren < MAX_BARREN_RESUMES; barren++) {
      if (barren > 0) await sleep(pauseBefore(resume), signal);
      const { lastEventId } = resume;
      const response = await this.#getAgain(lastEventId, signal);
      if (response?.ok !== true) {
        await response?.body?.cancel();
        continue;
      }
      await this.#drain(response, resume, deliver, isSettled).catch((error: unknown) => {
        if (!hasFailed(error, "lost")) throw error;
      });
      // A server that has clients poll delivers a little at a time.
      if (resume.lastEventId !== lastEventId) barren = 0;
    }
  }

  /**
   * Without its account the call cannot be followed, but it may have run.
   *
   * @returns `undefined` when the server could not be reached, which is tried again: what has broken the
   *   stream may break a connection or two after it.
   */
  async #getAgain(
    lastEventId: string | undefined,
    signal: AbortSignal,
  ): Promise<Response | undefined> {
    try {
      return await this.#get(lastEventId, signal);
    } catch (error) {
      if (hasFailed(error, "unreachable") && !signal.aborted) return undefined;
      if (!hasFailed(error, "account") && !hasFailed(error, "session-lost")) throw error;
      const sentence = "lost the answer with its account; whether the request ran is unknown";
      throw new UpstreamError(this.#target.slug, "lost", sentence);
    }
  }

  #get(lastEventId: string | undefined, signal: AbortSignal): Promise<Response> {
    const accept = "text/event-stream";
    return this.#send("GET", {
      accept,
      signal,
      ...(lastEventId === undefined ? {} : { lastEventId }),
    });
  }
}

function hasFailed(error: unknown, failure: UpstreamError["failure"]): boolean {
  return error instanceof UpstreamError && error.failure === failure;
}
