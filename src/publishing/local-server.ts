/**
 * A published server as the gateway's connectors see it: a server of Streamable HTTP, in the era of the
 * program behind it. A handshake opens a channel, and the session's id is the channel's.
 */

import { tryLossless } from "../lib/lossless-json.ts";
import { ErrorCode } from "../protocol/error-codes.ts";
import {
  type ErrorObject,
  errorReply,
  errorResponse,
  type Parsed,
  parseMessage,
  respond,
} from "../protocol/json-rpc.ts";
import {
  type FrameToCommand,
  type FrameToGateway,
  MAX_CALLS_IN_FLIGHT,
  MAX_CHANNELS,
  refusalOfSize,
  slugOfPublished,
} from "../protocol/publishing.ts";
import { Channel } from "./channel.ts";
import { type OpenChannels, SHARED_CHANNEL } from "./open-channels.ts";

export interface LocalServerOptions {
  readonly name: string;
  readonly windowBytes: number;
  readonly open: OpenChannels;
  /** @returns `false` when its machine is not connected. */
  readonly send: (frame: FrameToCommand) => boolean;
  /** Why it is not connected, and since when; a response that `publishedFetch` reads. */
  readonly offline: () => Response;
  readonly randomId: () => string;
}

const ACCEPTED = 202;

export class LocalServer {
  readonly #options: LocalServerOptions;
  readonly #channels = new Map<string, Channel>();

  constructor(options: LocalServerOptions) {
    this.#options = options;
  }

  async serve(request: Request): Promise<Response> {
    const session = request.headers.get("mcp-session-id") ?? undefined;
    switch (request.method) {
      case "POST":
        return this.#post(session, await request.text(), request.signal);
      case "GET":
        return this.#get(session);
      case "DELETE":
        return this.#delete(session);
      default:
        return new Response(null, { status: 405, headers: { Allow: "POST, GET, DELETE" } });
    }
  }

  /** A message of the local server. */
  receive(channel: string, body: string): void {
    this.#at(channel)?.receive(body);
  }

  /** The process of a channel has ended. */
  closed({ channel, reason, code, signal }: Extract<FrameToGateway, { t: "closed" }>): void {
    const slug = slugOfPublished(this.#options.name);
    const how = signal === undefined ? `with exit code ${code ?? 0}` : `by the signal ${signal}`;
    const ended = `The process of ${slug} ended ${how} while the call ran; it may have run.`;
    this.#end(
      channel,
      reason === "spawn-failed" ? `The process of ${slug} could not be started.` : ended,
      reason === "exit",
    );
  }

  /** All channels are over, and their processes with them. */
  closeAll(sentence: string): void {
    for (const id of this.#options.open.of(this.#options.name)) this.#close(id, sentence);
  }

  /** The machine is not connected any more: all channels are over. */
  disconnected(sentence: string): void {
    for (const channel of this.#channels.values()) channel.end(sentence);
    this.#channels.clear();
    this.#options.open.deleteAll(this.#options.name);
  }

  async #post(session: string | undefined, text: string, signal: AbortSignal): Promise<Response> {
    const parsed = parseMessage(tryLossless(text));
    if (parsed === undefined) return refused(400, ErrorCode.ParseError, "This is no message");
    const tooLarge = refusalOfSize(text);
    if (tooLarge !== undefined) return tooLargeResponse(parsed, tooLarge);
    const channel = this.#channelFor(parsed, session);
    if (channel instanceof Response) return channel;
    if (parsed.kind !== "request") {
      return channel.send(text)
        ? new Response(null, { status: ACCEPTED })
        : this.#options.offline();
    }
    if (channel.id === SHARED_CHANNEL && parsed.message.method !== "server/discover") {
      const refusal = await channel.refusal();
      // As a legacy server of Streamable HTTP says that it knows no request without a session.
      if (refusal !== undefined) return refused(400, ErrorCode.Transport, refusal.message);
    }
    // Its process may have taken its time to start.
    if (signal.aborted) return refused(499, ErrorCode.Transport, "The request was given up");
    if (this.#callCount >= MAX_CALLS_IN_FLIGHT) {
      return refused(429, ErrorCode.Transport, `${MAX_CALLS_IN_FLIGHT} calls are running already`);
    }
    const response = channel.request(parsed.message, text, signal);
    if (response === undefined) return this.#options.offline();
    if (parsed.message.method === "initialize") response.headers.set("Mcp-Session-Id", channel.id);
    return response;
  }

  #get(session: string | undefined): Response {
    if (session === undefined) {
      return refused(405, ErrorCode.Transport, "Only sessions have such a stream");
    }
    return this.#at(session)?.listen() ?? unknownSession();
  }

  #delete(session: string | undefined): Response {
    const isOpen = session !== undefined && this.#close(session, "The session is over");
    return isOpen ? new Response(null, { status: 200 }) : unknownSession();
  }

  #close(id: string, sentence: string): boolean {
    if (!this.#end(id, sentence)) return false;
    this.#options.send({ t: "close", name: this.#options.name, channel: id });
    return true;
  }

  /** @returns the channel of a session, a new one for a handshake, or the one that modern requests share. */
  #channelFor(parsed: Parsed, session: string | undefined): Channel | Response {
    if (session !== undefined) return this.#at(session) ?? unknownSession();
    const isHandshake = parsed.kind === "request" && parsed.message.method === "initialize";
    if (!isHandshake) return this.#at(SHARED_CHANNEL) ?? this.#open(SHARED_CHANNEL);
    return this.#open(this.#options.randomId());
  }

  #open(id: string): Channel | Response {
    const { name, open, send } = this.#options;
    if (open.countOf(name) >= MAX_CHANNELS) {
      return refused(429, ErrorCode.Transport, `${MAX_CHANNELS} connections are open already`);
    }
    if (!send({ t: "open", name, channel: id })) return this.#options.offline();
    open.add(name, id);
    return this.#make(id, false);
  }

  /** @returns a channel that is open, made again where the object has slept since. */
  #at(id: string): Channel | undefined {
    const known = this.#channels.get(id);
    if (known !== undefined) return known;
    return this.#options.open.has(this.#options.name, id) ? this.#make(id, true) : undefined;
  }

  #make(id: string, isKnown: boolean): Channel {
    const { name, windowBytes, send } = this.#options;
    const channel = new Channel({
      id,
      isShared: id === SHARED_CHANNEL,
      isKnown,
      windowBytes,
      send: (body) => send({ t: "message", name, channel: id, body }),
      onLegacy: () => this.#close(id, ""),
    });
    this.#channels.set(id, channel);
    return channel;
  }

  /** @returns `false` when there is no such channel. */
  #end(id: string, sentence: string, hasExited = false): boolean {
    const channel = this.#at(id);
    if (channel === undefined) return false;
    this.#channels.delete(id);
    this.#options.open.delete(this.#options.name, id);
    channel.end(sentence, hasExited);
    return true;
  }

  get #callCount(): number {
    let calls = 0;
    for (const channel of this.#channels.values()) calls += channel.callCount;
    return calls;
  }
}

function tooLargeResponse({ kind, message }: Parsed, sentence: string): Response {
  if (kind !== "request") return refused(413, ErrorCode.InvalidRequest, sentence);
  return Response.json(respond(message.id, errorReply(ErrorCode.InvalidRequest, sentence)));
}

function unknownSession(): Response {
  return refused(404, ErrorCode.SessionNotFound, "Session not found");
}

function refused(status: number, code: ErrorObject["code"], message: string): Response {
  return Response.json(errorResponse({ code, message }, undefined), { status });
}
