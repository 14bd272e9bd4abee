/**
 * The port between the Worker and the holder of a principal's session at a legacy server. Plain data
 * and streams, for it crosses from a Durable Object, where exceptions lose their shape.
 */

import type { Call } from "../../protocol/exchange.ts";
import type { JsonObject, Reply } from "../../protocol/json-rpc.ts";
import type { UpstreamTarget } from "../../upstream/target.ts";
import type { Wishes } from "./downstream.ts";

interface Common extends Omit<Wishes, "capabilities"> {
  /** Of what is called (`digestOf`). */
  readonly digest: string;
}

/** A request that has not been sent yet. */
export interface CallCommand extends Common {
  readonly kind: "call";
  /** As a legacy server takes it. */
  readonly call: Call;
  readonly clientInfo?: JsonObject;
}

/** The answers to a round of questions. */
export interface AnswerCommand extends Common {
  readonly kind: "answer";
  /** What was called, without what was said in the call. */
  readonly method: string;
  readonly uri?: unknown;
  readonly object: string;
  readonly exchange: string;
  readonly round: number;
  readonly responses: JsonObject;
}

export type BridgeCommand = CallCommand | AnswerCommand;

export type BridgeOutcome =
  | { readonly kind: "reply"; readonly reply: Reply }
  /** Lines, each a `Line` as JSON, the last one with the reply. */
  | { readonly kind: "stream"; readonly body: ReadableStream<Uint8Array> };

export type Line = { readonly notice: Call } | { readonly reply: Reply };

/** One order on its way. */
interface Running {
  /** Rejects when the holder was lost: what became of the order is not known. */
  readonly outcome: Promise<BridgeOutcome>;
  /** The client has hung up, whether it has an outcome already or not. */
  cancel(): Promise<void>;
}

/** What is told of resources in the session itself. */
export interface ResourceUpdates {
  /** @returns the URI of one that has changed; `undefined` when nothing is told any more. */
  next(): Promise<string | undefined>;
  close(): void;
}

/** One principal's way to one server, for clients of one kind. */
export interface Bridge {
  run(command: BridgeCommand): Running;
  /**
   * Hears of resources in the session, from its first tool call on. It is closed by whoever is done
   * with it. May be called anew when it rejects: then the holder is being restarted.
   */
  listenForResources(uris: readonly string[]): Promise<ResourceUpdates>;
}

export interface Bridges {
  /** @param capabilities as the client declared them with its request. */
  at(principal: string, target: UpstreamTarget, capabilities: JsonObject): Bridge;
}
