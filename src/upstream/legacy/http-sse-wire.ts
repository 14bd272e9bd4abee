/**
 * HTTP+SSE of 2024-11-05, seen from the client's side: one GET stream carries all messages of the
 * server, and its first event names the URL to POST to. The stream is the session: when it breaks,
 * the session is over, and the requests in flight are lost.
 */

import type {
  JsonRpcNotification,
  JsonRpcRequest,
  JsonRpcResponse,
} from "../../protocol/json-rpc.ts";
import type { TraceHeaders } from "../../protocol/trace-context.ts";
import { mediaType } from "../../lib/media-type.ts";
import { abortAfter } from "../../lib/time-out.ts";
import { unlessAborted } from "../../lib/unless-aborted.ts";
import { readRefusal, send, UNATTENDED_TIMEOUT_MS } from "../http.ts";
import type { SessionAccount } from "../send-with-account.ts";
import { parseEvent, readEvents } from "../read-messages.ts";
import type { UpstreamTarget } from "../target.ts";
import { UpstreamError } from "../upstream-error.ts";
import type { DeliverFrom, StandaloneStreamListener, Receiver, Wire } from "./wire.ts";

const ENDPOINT_TIMEOUT_MS = 10_000;

interface Stream {
  readonly postUrl: URL;
  readonly controller: AbortController;
  readonly account: SessionAccount;
  /** Resolves when the stream is over. */
  readonly ended: Promise<void>;
}

export class HttpSseWire implements Wire {
  readonly sessionId = undefined;
  /** The stream is the session, and a wire opens it once. */
  readonly sessionMark = crypto.randomUUID().slice(0, 8);
  readonly #target: UpstreamTarget;
  readonly #deliver: DeliverFrom;
  #stream: Stream | undefined;
  #onLost: (() => void) | undefined;

  /** @param deliver receives every message of the stream. */
  constructor(target: UpstreamTarget, deliver: DeliverFrom) {
    this.#target = target;
    this.#deliver = deliver;
  }

  get accountId(): string | undefined {
    return this.#stream?.account.accountId;
  }

  agree(): void {
    // The transport has no version header.
  }

  async request(
    message: JsonRpcRequest,
    { isSettled, sent }: Receiver,
    signal: AbortSignal,
    trace?: TraceHeaders,
  ): Promise<void> {
    const stream = message.method === "initialize" ? await this.#open(signal) : this.#openStream();
    signal.throwIfAborted();
    sent();
    await this.#post(stream, message, signal, trace);
    await unlessAborted(stream.ended, signal);
    if (!isSettled()) {
      throw new UpstreamError(this.#target.slug, "lost", "closed its stream before the answer");
    }
  }

  resume(): Promise<void> {
    const sentence = "lost the answer with its stream; whether the request ran is unknown";
    return Promise.reject(new UpstreamError(this.#target.slug, "lost", sentence));
  }

  async post(message: JsonRpcNotification | JsonRpcResponse): Promise<void> {
    const stream = this.#openStream();
    await abortAfter(UNATTENDED_TIMEOUT_MS, (signal) => this.#post(stream, message, signal));
  }

  listen({ onLost, opened, standing }: StandaloneStreamListener): void {
    this.#onLost = onLost;
    standing?.();
    if (this.#stream !== undefined) opened?.(false);
    // It broke after the handshake, before there was a listener to report to, or with an earlier life of the holder.
    else onLost();
  }

  /** The stream is open for as long as there is a session. */
  get opening(): undefined {
    return undefined;
  }

  unlisten(): void {
    // The stream carries answers too; it stays as long as the session does.
    this.#onLost = undefined;
  }

  drop(): void {
    this.#onLost = undefined;
    this.#stream?.controller.abort();
    this.#stream = undefined;
  }

  close(): Promise<void> {
    this.drop();
    return Promise.resolve();
  }

  #openStream(): Stream {
    if (this.#stream === undefined) {
      throw new UpstreamError(this.#target.slug, "session-lost", "has no stream open");
    }
    return this.#stream;
  }

  async #post(
    stream: Stream,
    message: object,
    signal: AbortSignal,
    trace?: TraceHeaders,
  ): Promise<void> {
    const response = await send(this.#target, {
      method: "POST",
      url: stream.postUrl,
      account: stream.account,
      headers: { ...trace },
      body: message,
      signal,
    });
    if (response.ok) {
      await response.body?.cancel();
      return;
    }
    const { slug } = this.#target;
    if (response.status === 404) {
      await response.body?.cancel();
      throw new UpstreamError(slug, "session-lost", "forgot its session");
    }
    const { code } = await readRefusal(this.#target, response);
    throw new UpstreamError(slug, "malformed", `refused a message with error ${code}`);
  }

  /** Opens the stream and waits for its `endpoint` event. */
  async #open(signal: AbortSignal): Promise<Stream> {
    await this.close();
    const controller = new AbortController();
    const account: SessionAccount = {};
    const { promise: endpoint, resolve, reject } = Promise.withResolvers<URL>();
    const giveUp = (): void => {
      const sentence = "named no endpoint to POST to in time";
      controller.abort(new UpstreamError(this.#target.slug, "timeout", sentence));
    };
    const timer = setTimeout(giveUp, ENDPOINT_TIMEOUT_MS);
    signal.addEventListener("abort", giveUp, { once: true });
    const ended = this.#read(controller, account, resolve).catch((error: unknown) =>
      reject(error as Error),
    );
    void ended.then(() => {
      reject(new UpstreamError(this.#target.slug, "malformed", "named no endpoint to POST to"));
      if (this.#stream?.controller !== controller) return;
      this.#stream = undefined;
      this.#onLost?.();
    });
    try {
      this.#stream = { postUrl: await endpoint, controller, account, ended };
      return this.#stream;
    } catch (error) {
      controller.abort();
      throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", giveUp);
    }
  }

  async #read(
    controller: AbortController,
    account: SessionAccount,
    onEndpoint: (url: URL) => void,
  ): Promise<void> {
    const { slug } = this.#target;
    const response = await send(this.#target, {
      method: "GET",
      headers: { Accept: "text/event-stream" },
      account,
      signal: controller.signal,
    });
    if (!response.ok) {
      const { code } = await readRefusal(this.#target, response);
      const { status } = response;
      throw new UpstreamError(slug, "malformed", `refused its stream with error ${code}`, {
        status,
      });
    }
    if (
      response.body === null ||
      mediaType(response.headers.get("content-type")) !== "text/event-stream"
    ) {
      await response.body?.cancel();
      throw new UpstreamError(slug, "malformed", "answered GET without an event stream");
    }
    for await (const event of readEvents(this.#target, response.body)) {
      if (event.name === "endpoint") {
        onEndpoint(this.#postUrl(event.data));
      } else if (event.name === "message" && event.data !== "") {
        for (const parsed of parseEvent(this.#target, event.data)) {
          await this.#deliver(this, parsed);
          // A response takes some microtasks to reach its caller; the next message must not overtake it.
          if (parsed.kind === "response") await new Promise((resolve) => setTimeout(resolve));
        }
      }
    }
  }

  /**
   * The endpoint is relative to the stream's own URL, and must have its origin: otherwise the
   * operator's headers would leave that origin.
   *
   * @throws UpstreamError `malformed` for another origin.
   */
  #postUrl(endpoint: string): URL {
    const url = URL.canParse(endpoint, this.#target.endpoint.href)
      ? new URL(endpoint, this.#target.endpoint)
      : undefined;
    if (url?.origin === this.#target.endpoint.origin) return url;
    throw new UpstreamError(
      this.#target.slug,
      "malformed",
      "named an endpoint outside its own origin",
    );
  }
}
