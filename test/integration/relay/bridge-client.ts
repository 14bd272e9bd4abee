/** Modern clients of a legacy server, straight at the bridge: what they are answered, and hear before. */

import { env } from "cloudflare:workers";
import type { BridgeObject } from "../../../durable-objects/bridge-object.ts";
import { bridgesIn } from "../../../durable-objects/bridges.ts";
import { knownConfig } from "../../../durable-objects/live-config.ts";
import { readBridgeState } from "../../../src/relay/modern-to-legacy/bridge-state.ts";
import { relayToLegacy } from "../../../src/relay/relay-to-legacy.ts";
import type { Server } from "../../../src/endpoint/server.ts";
import type { Call } from "../../../src/protocol/exchange.ts";
import type { JsonRpcRequest } from "../../../src/protocol/json-rpc.ts";
import type { Json } from "../../support/scripted-upstream-script.ts";
import { within } from "../bounded.ts";
import { envelope } from "../client.ts";
import type { Message } from "../event-reader.ts";
import { event, streamOf, type Upstream } from "../upstream.ts";

const ALL = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };

export interface Asking {
  readonly capabilities?: Json;
  /** More of `_meta`. */
  readonly meta?: Json;
  readonly principal?: string;
}

export interface Answered {
  readonly result?: Message["result"];
  readonly error?: Message["error"];
  /** What came before, in order. */
  readonly notices: readonly Call[];
}

/** A request that may be left before it is answered. */
export interface Sent {
  readonly answered: Promise<Answered>;
  readonly notices: readonly Call[];
  hangUp(): void;
}

export interface AskedResult extends Json {
  readonly resultType: "input_required";
  readonly inputRequests: Readonly<Record<string, Call & { readonly params: Json }>>;
  readonly requestState: string;
}

export class BridgeClient {
  readonly upstream: Upstream;
  readonly #asking: Asking;
  #lastServer: Server | undefined;

  constructor(upstream: Upstream, asking: Asking = {}) {
    this.upstream = upstream;
    this.#asking = asking;
  }

  /** As it is, or as it was when it was known last: a Worker may know more than an object. */
  #server(): Server {
    const known = knownConfig(env);
    const server = known.ok ? known.config.servers.get(this.upstream.slug) : undefined;
    this.#lastServer = server ?? this.#lastServer;
    if (this.#lastServer === undefined) throw new Error("There is no such server");
    return this.#lastServer;
  }

  send(method: string, params: Json = {}, asking: Asking = {}): Sent {
    const {
      capabilities = ALL,
      meta = {},
      principal = "somebody",
    } = { ...this.#asking, ...asking };
    const { slug } = this.upstream;
    const server = this.#server();
    const message: JsonRpcRequest = {
      ...{ jsonrpc: "2.0", id: 1, method },
      params: { _meta: envelope({ capabilities, meta }), ...params },
    };
    const notices: Call[] = [];
    const leaving = new AbortController();
    const reply = relayToLegacy(
      {
        ...{ bridge: bridgesIn(env).at(principal, server.target, capabilities), slug },
        waitUntil: () => undefined,
      },
      {
        message,
        envelope: { protocolVersion: "2026-07-28", clientCapabilities: capabilities },
        peer: {
          notify: (notice) => Promise.resolve(void notices.push(notice)),
          ask: () => Promise.reject(new Error("Nothing can be asked here")),
        },
        signal: leaving.signal,
      },
    );
    return {
      answered: within(reply, `an answer to ${method}`).then((answer) => ({
        ...(answer as Omit<Answered, "notices">),
        notices,
      })),
      notices,
      hangUp: () => leaving.abort(new Error("The client has gone")),
    };
  }

  request(method: string, params: Json = {}, asking: Asking = {}): Promise<Answered> {
    return this.send(method, params, asking).answered;
  }

  call(params: Json = {}, asking: Asking = {}): Promise<Answered> {
    return this.request("tools/call", { name: "work", arguments: {}, ...params }, asking);
  }

  /** Calls, and is asked. */
  async asked(params: Json = {}, asking: Asking = {}): Promise<AskedResult> {
    return askedIn(await this.call(params, asking));
  }

  /** Comes back with answers. */
  retry(
    { requestState }: AskedResult,
    inputResponses: Json,
    asking: Asking = {},
  ): Promise<Answered> {
    return this.call({ requestState, inputResponses }, asking);
  }
}

export function askedIn({ result, error }: Answered): AskedResult {
  if (result?.["resultType"] !== "input_required") {
    throw new Error(`Nothing was asked: ${JSON.stringify(result ?? error)}`);
  }
  return result as unknown as AskedResult;
}

/** What the upstream says when the stream of its one call is taken up; a gate holds the rest back. */
export async function continueWith(
  upstream: Upstream,
  ...messages: readonly (Json | { readonly gate: string })[]
): Promise<void> {
  const [call] = await upstream.sent("tools/call");
  const pieces = messages.map((message, n) =>
    isGate(message)
      ? message
      : event(message, { id: `r-${n}` }).replaceAll('"{{id}}"', JSON.stringify(call?.body?.id)),
  );
  await upstream.script({ server: "legacy", reactions: { resume: [streamOf(...pieces)] } });
}

function isGate(message: Json | { readonly gate: string }): message is { readonly gate: string } {
  return typeof message["gate"] === "string";
}

/** The object that holds a parked call. */
export function holderOf({ requestState }: AskedResult): DurableObjectStub<BridgeObject> {
  const state = readBridgeState(requestState);
  if (state?.kind !== "parked") throw new Error("Not parked");
  return env.BRIDGES.get(env.BRIDGES.idFromString(state.object));
}
