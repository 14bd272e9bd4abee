/**
 * The wire between `edgeway publish`, which runs servers on a person's machine, and the gateway, which serves
 * them to that person alone. One WebSocket for each process of the command, at `GET /publish`, carries all
 * servers that it publishes; its frames are text.
 *
 * A channel is one connection to a server: a process of it, or a share of one. The gateway opens channels, and
 * JSON-RPC messages pass on them both ways. Their text passes as it is, so that numbers keep every digit; it
 * is the last member of its frame, and a reader of frames cuts it out without parsing it.
 *
 * The other text is `ping`, which the gateway answers with `pong` without waking up. It comes every 20 seconds;
 * after 45 without an answer the command dials again.
 */

import { tryJson } from "../lib/try-json.ts";
import { isObject, type JsonObject } from "./json-rpc.ts";

export const PUBLISH_PATH = "/publish";
/** The subprotocol of the WebSocket, which the answer names. */
export const PUBLISH_PROTOCOL = "edgeway.publish.v1";
export const PUBLISH_VERSION = 1;

export const PING = "ping";
export const PONG = "pong";
export const PING_EVERY_MS = 20_000;
export const PONG_WITHIN_MS = 45_000;

/** Of one JSON-RPC message, in bytes of UTF-8. */
export const MAX_BODY_BYTES = 1_048_576;
export const MAX_CHANNELS = 64;
export const MAX_CALLS_IN_FLIGHT = 32;
export const MAX_PUBLISHED_SERVERS = 16;

/** Why the gateway closes the socket. After any other code the command dials again. */
export const PublishClose = {
  /** A newer process publishes a server of the same name: the command ends. */
  replaced: 4001,
  /** The operator has switched publishing off, or the person's right has ended: the command ends. */
  revoked: 4002,
  /** A frame that is none. */
  mistake: 4003,
  /** The gateway restarts. */
  restart: 1012,
} as const;

/** The body of a refusal before the upgrade. */
export interface PublishRefusal {
  readonly error:
    | "unauthorized"
    | "forbidden"
    | "publishing_off"
    | "upgrade_required"
    | "too_many_requests"
    | "unavailable";
  /** A sentence for a person. */
  readonly message: string;
}

interface Named {
  readonly name: string;
}

interface OnChannel extends Named {
  readonly channel: string;
}

interface MessageFrame extends OnChannel {
  readonly t: "message";
  /** The text of one JSON-RPC message, which no reader of frames has parsed. */
  readonly body: string;
}

/** Offers a server. The gateway replies with `welcome` or `refused`. */
interface Hello extends Named {
  readonly t: "hello";
  readonly v: number;
  /** A random id of this process, by which the gateway knows it when it dials again. */
  readonly generation: string;
  readonly info: { readonly host: string; readonly version: string };
  /** One process serves all channels. */
  readonly share: boolean;
}

/**
 * The process of a channel has ended. `crashing`: it did so five times in a minute, and the server is offline
 * until the command says hello again.
 */
interface Closed extends OnChannel {
  readonly t: "closed";
  readonly reason: "exit" | "idle" | "spawn-failed" | "crashing";
  readonly code?: number;
  readonly signal?: string;
}

/** The person has stopped the server. */
interface Bye extends Named {
  readonly t: "bye";
}

export type FrameToGateway = Hello | MessageFrame | Closed | Bye;

interface Welcome extends Named {
  readonly t: "welcome";
  readonly slug: string;
}

interface Refused extends Named {
  readonly t: "refused";
  readonly code: "name" | "limit" | "off" | "version";
  readonly message: string;
}

/** A connection begins: the command starts a process for it, or uses the shared one. */
interface Open extends OnChannel {
  readonly t: "open";
}

/** A connection is over: the command ends its process. */
interface Close extends OnChannel {
  readonly t: "close";
}

/** The gateway is going away: dial again soon. What runs is answered as long as the socket lives. */
interface Drain {
  readonly t: "drain";
}

export type FrameToCommand = Welcome | Refused | Open | MessageFrame | Close | Drain;

const NAME = /^[a-z0-9][a-z0-9-]{0,31}$/;
const CHANNEL = /^[A-Za-z0-9_-]{1,64}$/;
const MESSAGE =
  /^\{"t":"message","name":"([a-z0-9][a-z0-9-]{0,31})","channel":"([A-Za-z0-9_-]{1,64})","body":/;
const MAX_TEXT_CHARS = 256;
const MAX_SENTENCE_CHARS = 2048;

export function isPublishedName(name: unknown): name is string {
  return typeof name === "string" && NAME.test(name);
}

/** The gateway's name of a published server: no configured server may begin with this. */
export const PUBLISHED_PREFIX = "my-";

export function slugOfPublished(name: string): string {
  return PUBLISHED_PREFIX + name;
}

/** The one writer of frames: `t` stands first, and `body` last. */
export function writeFrame(frame: FrameToGateway | FrameToCommand): string {
  if (frame.t !== "message") {
    const { t, ...members } = frame;
    return JSON.stringify({ t, ...members });
  }
  const { name, channel, body } = frame;
  const head = JSON.stringify({ t: "message", name, channel });
  return `${head.slice(0, -1)},"body":${body}}`;
}

/** @returns `undefined` for a text that is no frame of the command: the gateway closes the socket. */
export function readFrameToGateway(text: string): FrameToGateway | undefined {
  return readMessageFrame(text) ?? readToGateway(tryJson(text));
}

/** @returns `undefined` for a text that is no frame of the gateway. */
export function readFrameToCommand(text: string): FrameToCommand | undefined {
  return readMessageFrame(text) ?? readToCommand(tryJson(text));
}

/** The text after the head is the body and a brace; whether it is one message is for its reader to see. */
function readMessageFrame(text: string): MessageFrame | undefined {
  const [head, name, channel] = MESSAGE.exec(text) ?? [];
  if (head === undefined || name === undefined || channel === undefined) return undefined;
  if (!text.endsWith("}")) return undefined;
  return { t: "message", name, channel, body: text.slice(head.length, -1) };
}

function readToGateway(value: unknown): FrameToGateway | undefined {
  if (!isObject(value)) return undefined;
  const { t, name, channel } = value;
  if (!isPublishedName(name)) return undefined;
  if (t === "bye") return { t, name };
  if (t === "hello") return readHello(name, value);
  return t === "closed" && isChannel(channel) ? readClosed(name, channel, value) : undefined;
}

function readHello(name: string, value: Readonly<Record<string, unknown>>): Hello | undefined {
  const { v, generation, info, share } = value;
  if (!Number.isSafeInteger(v) || !isChannel(generation) || !isObject(info)) return undefined;
  const { host, version } = info;
  if (!isText(host) || !isText(version) || typeof share !== "boolean") return undefined;
  return { t: "hello", v: v as number, name, generation, info: { host, version }, share };
}

const REASONS: ReadonlySet<unknown> = new Set<Closed["reason"]>([
  ...(["exit", "idle", "spawn-failed", "crashing"] as const),
]);

function readClosed(
  name: string,
  channel: string,
  { reason, code, signal }: Readonly<Record<string, unknown>>,
): Closed | undefined {
  if (!REASONS.has(reason)) return undefined;
  const isCode = code === undefined || Number.isSafeInteger(code);
  const isSignal =
    signal === undefined || (typeof signal === "string" && /^\w{1,32}$/.test(signal));
  if (!isCode || !isSignal) return undefined;
  return {
    ...{ t: "closed", name, channel, reason: reason as Closed["reason"] },
    ...(code !== undefined && { code: code as number }),
    ...(signal !== undefined && { signal }),
  };
}

const REFUSALS: ReadonlySet<unknown> = new Set<Refused["code"]>([
  ...(["name", "limit", "off", "version"] as const),
]);

function readToCommand(value: unknown): FrameToCommand | undefined {
  if (!isObject(value)) return undefined;
  const { t, name, channel, slug, code, message } = value;
  if (t === "drain") return { t };
  if (typeof name !== "string") return undefined;
  // The command's own name comes back, whatever it is: a refusal may be about it.
  if (t === "refused" && REFUSALS.has(code) && isText(message, MAX_SENTENCE_CHARS)) {
    return { t, name, code: code as Refused["code"], message };
  }
  if (!isPublishedName(name)) return undefined;
  if (t === "welcome" && isText(slug)) return { t, name, slug };
  return (t === "open" || t === "close") && isChannel(channel) ? { t, name, channel } : undefined;
}

function isChannel(value: unknown): value is string {
  return typeof value === "string" && CHANNEL.test(value);
}

function isText(value: unknown, maxChars = MAX_TEXT_CHARS): value is string {
  return typeof value === "string" && value.length <= maxChars;
}

/** @returns a sentence for the error of the one request that a message is of; `undefined` for a size that passes. */
export function refusalOfSize(body: string): string | undefined {
  // UTF-8 has three bytes at most for each unit of UTF-16.
  if (body.length * 3 <= MAX_BODY_BYTES) return undefined;
  const bytes = new TextEncoder().encode(body).byteLength;
  if (bytes <= MAX_BODY_BYTES) return undefined;
  return `The message has ${bytes} bytes; a published server can send and receive ${MAX_BODY_BYTES} at most`;
}

/** @returns the body of a refusal; `undefined` for an answer that is not this gateway's. */
export function readPublishRefusal(text: string): PublishRefusal | undefined {
  const value = tryJson(text);
  const { error, message }: JsonObject = isObject(value) ? value : {};
  if (typeof error !== "string" || !isText(message, MAX_SENTENCE_CHARS)) return undefined;
  return { error: error as PublishRefusal["error"], message };
}

const BEARER = "bearer.";

/**
 * The subprotocols of a client whose WebSocket sets no other headers. A token stands in no URL, where logs
 * would have it.
 */
export function publishProtocols(token: string): string[] {
  return [PUBLISH_PROTOCOL, BEARER + token];
}

/** @param header `Sec-WebSocket-Protocol` of the upgrade. */
export function readPublishProtocols(header: string | null): {
  readonly isOffered: boolean;
  readonly token: string | undefined;
} {
  const offered = (header ?? "").split(",").map((one) => one.trim());
  const bearers = offered.filter((one) => one.startsWith(BEARER));
  const [bearer, second] = bearers;
  return {
    isOffered: offered.includes(PUBLISH_PROTOCOL),
    token: second === undefined ? bearer?.slice(BEARER.length) : undefined,
  };
}
