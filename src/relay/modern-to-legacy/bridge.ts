/**
 * The port between the Worker and the holder of a principal's session at a legacy server. It has
 * plain data and streams alone, because exceptions lose their shape on the way from a Durable Object.
 */

import type { Call } from "../../protocol/exchange.ts";
import type { JsonObject, Reply } from "../../protocol/json-rpc.ts";
import type { TraceContext } from "../../protocol/trace-context.ts";
import type { AssertedCaller, UpstreamTarget } from "../../upstream/target.ts";
import type { RequestDeclarations } from "./downstream.ts";

interface Common extends Omit<RequestDeclarations, "capabilities"> {
  /** Of the request (`digestOf`). */
  readonly digest: string;
}

/** A request that has not been sent yet. */
export interface CallCommand extends Common {
  readonly kind: "call";
  /** The request as a legacy server takes it. */
  readonly call: Call;
  readonly clientInfo?: JsonObject;
  readonly trace?: TraceContext | undefined;
}

/** The answers to a round of questions. */
export interface AnswerCommand extends Common {
  readonly kind: "answer";
  /** The method of the request that the questions belong to. */
  readonly method: string;
  readonly uri?: unknown;
  readonly object: string;
  readonly exchange: string;
  readonly round: number;
  readonly responses: JsonObject;
  /**
   * The resume token of the last notification that the client has of this round, for a command that is sent
   * again because its holder was lost.
   */
  readonly after?: string;
}

export type BridgeCommand = CallCommand | AnswerCommand;

/** The principal and kind of client that sent a command. Plain data. */
export interface CommandSender {
  readonly slug: string;
  /** The principal, as a hash. */
  readonly owner: string;
  readonly capabilities: JsonObject;
  /** The name of the vault, at a server with accounts. */
  readonly vault?: string;
  /** At a server that is told who calls. */
  readonly caller?: AssertedCaller;
  /** The person who publishes the server. */
  readonly publisher?: string;
}

/** The first message on the socket of a client that listens. */
export interface ResourceListenRequest {
  readonly sender: CommandSender;
  readonly uris: readonly string[];
}

export type BridgeOutcome =
  | { readonly kind: "reply"; readonly reply: Reply }
  /** Lines, each a `Line` as JSON, the last one with the reply. */
  | { readonly kind: "stream"; readonly body: ReadableStream<Uint8Array> };

/** An outcome as it crosses from the holder to the Worker: the reply is JSON. */
export type WrittenBridgeOutcome =
  | { readonly kind: "reply"; readonly reply: string }
  | Extract<BridgeOutcome, { kind: "stream" }>;

export type Line =
  /** With the resume token of the server's stream after it, if the server can be resumed there. */
  { readonly notice: Call; readonly resumeToken?: string } | { readonly reply: Reply };

/** One running command. */
interface Running {
  /** Rejects when the holder was lost: the outcome of the command is unknown. */
  readonly outcome: Promise<BridgeOutcome>;
  /** The client has disconnected, before or after the outcome. */
  cancel(): Promise<void>;
}

/** The resource updates that the server sends in the session itself. */
export interface ResourceUpdates {
  /** @returns the URI of a resource that has changed; `undefined` when the updates have ended. */
  next(): Promise<string | undefined>;
  close(): void;
}

/** The bridge of one principal to one server, for clients of the same capabilities. */
export interface Bridge {
  run(command: BridgeCommand): Running;
  /**
   * Listens for resource updates in the session, from its first tool call on. The caller closes the
   * updates. May be called again when it rejects: then the holder is being restarted.
   */
  listenForResources(uris: readonly string[]): Promise<ResourceUpdates>;
}

export interface Bridges {
  /** @param capabilities as the client declared them with its request. */
  at(principal: string, target: UpstreamTarget, capabilities: JsonObject): Bridge;
}

/** The bridges, and the principal whose requests cross them. */
export interface BridgeScope {
  readonly bridges: Bridges;
  readonly principal: string;
  /** Keeps the Worker running for work that outlives the response. */
  readonly waitUntil: (promise: Promise<unknown>) => void;
}
