/**
 * Runs one call of a legacy client at a modern server, to its end: every request is self-contained, the
 * server's questions are put to the client round by round, and a call that the server runs as a task is
 * followed. There is no session to open, and nothing to resume after a restart.
 */

import type { ToolFacts, ToolFactsOf } from "../../catalog/cache/tool-facts.ts";
import { Meta, metaOf, withMeta } from "../../protocol/envelope.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import type { Call, Peer } from "../../protocol/exchange.ts";
import { errorReply, isObject, type JsonObject, type Reply } from "../../protocol/json-rpc.ts";
import { isServed } from "../../protocol/methods.ts";
import { hasLawfulBindings, paramHeaders } from "../../protocol/param-headers.ts";
import { toModernRequest } from "../../protocol/revisions/requests.ts";
import { toLegacyResult } from "../../protocol/revisions/to-legacy-result.ts";
import { legacyClientToModernServer } from "../../protocol/revisions/translate-capabilities.ts";
import { declaringTasks, demandsTasks } from "../../protocol/tasks-extension.ts";
import type { LegacyClient } from "../../upstream/legacy/handshake.ts";
import { legacyOnly, recheckEra } from "../../upstream/modern/discover.ts";
import { looksLegacy, type ModernReply, sendModern } from "../../upstream/modern/send.ts";
import type { UpstreamTarget } from "../../upstream/target.ts";
import { UpstreamError } from "../../upstream/upstream-error.ts";
import { failureFor, stuck } from "./failures.ts";
import { runRounds } from "./rounds.ts";
import { finishTask } from "./task-call.ts";

/** A modern server, and the client of the session that calls it. */
export interface ModernServer {
  readonly target: UpstreamTarget;
  readonly client: LegacyClient;
  readonly toolFacts: ToolFactsOf;
  /** Without a level the server sends no log messages (2026-07-28, logging). */
  readonly logLevel: string | undefined;
}

/**
 * @throws UpstreamError when no answer is available; `other-era` when the server has no modern era any
 *   more, so that nothing ran; the reason of `signal`.
 */
export async function callModernServer(
  server: ModernServer,
  call: Call,
  peer: Peer,
  signal: AbortSignal,
): Promise<Reply> {
  const { method } = call;
  // Methods of one era have no counterpart in the other.
  if (!isServed(method, "legacy") || !isServed(method, "modern")) {
    return errorReply(ErrorCode.MethodNotFound, "Method not found");
  }
  return new ModernCall(server, toModernRequest(call), peer, signal).run();
}

class ModernCall {
  readonly #server: ModernServer;
  readonly #call: Call;
  readonly #peer: Peer;
  readonly #signal: AbortSignal;
  /** The called tool; `undefined` for other methods. */
  readonly #tool: string | undefined;
  /** Of the tool, kept for the length of the call; `undefined` while they were not read. */
  #facts: { readonly tool: ToolFacts | undefined } | undefined;
  /** Tasks are declared, because the server refused to run the call otherwise. */
  #takesTask = false;

  constructor(server: ModernServer, call: Call, peer: Peer, signal: AbortSignal) {
    this.#server = server;
    this.#call = call;
    this.#peer = peer;
    this.#signal = signal;
    const name = call.method === "tools/call" ? call.params?.name : undefined;
    this.#tool = typeof name === "string" ? name : undefined;
  }

  async run(): Promise<Reply> {
    const { target, client } = this.#server;
    const { slug } = target;
    const { method } = this.#call;
    const outcome = await runRounds({
      call: this.#call,
      client,
      peer: this.#peer,
      signal: this.#signal,
      send: (round) => this.#runRound(round),
    });
    switch (outcome.kind) {
      case "malformed":
        throw new UpstreamError(slug, "malformed", outcome.sentence);
      case "stuck":
        return stuck(slug, method, outcome.sentence);
      case "reply": {
        const { reply } = outcome;
        if ("error" in reply) return failureFor(slug, method, reply.error, client);
        return { result: this.#toClient(reply.result) };
      }
    }
  }

  /** @throws as `callModernServer` does. */
  async #runRound(round: Call): Promise<Reply> {
    const { target, client } = this.#server;
    const { reply, wasRefused } = await this.#send(round);
    // After the first round the call may have had effects, so it is not begun again.
    const isRefused = round === this.#call && wasRefused && showsOtherEra(reply);
    if (isRefused && (await recheckEra(target)).era === "legacy") throw legacyOnly(target);
    if (!this.#takesTask) return reply;
    return finishTask(reply, {
      slug: target.slug,
      client,
      peer: this.#peer,
      signal: this.#signal,
      send: (call, signal) => this.#sendOfTask(call, signal),
    });
  }

  /** Sends a round, and once more with what the server refused it for the lack of: then it did not run. */
  async #send(round: Call): Promise<ModernReply> {
    this.#facts ??= await this.#readFacts(false);
    for (let isDoubted = false; ;) {
      const answer = await this.#sendOnce(round);
      const { reply, wasRefused } = answer;
      if (this.#tool === undefined || !wasRefused || !("error" in reply)) return answer;
      if (demandsTasks(reply.error) && !this.#takesTask) {
        this.#takesTask = true;
      } else if (reply.error.code === ErrorCode.HeaderMismatch && !isDoubted) {
        // The server judged by a newer schema than ours.
        isDoubted = true;
        this.#facts = await this.#readFacts(true);
      } else {
        return answer;
      }
    }
  }

  async #readFacts(isDoubted: boolean): Promise<{ readonly tool: ToolFacts | undefined }> {
    const { toolFacts } = this.#server;
    return { tool: this.#tool === undefined ? undefined : await toolFacts(this.#tool, isDoubted) };
  }

  #sendOnce(round: Call): Promise<ModernReply> {
    const { target, client, logLevel } = this.#server;
    const { method, params } = round;
    this.#signal.throwIfAborted();
    const args = params?.arguments;
    const bindings = this.#facts?.tool?.bindings ?? [];
    const call =
      logLevel === undefined
        ? round
        : { method, params: withMeta(params, { ...metaOf(params), [Meta.logLevel]: logLevel }) };
    return sendModern(target, {
      call,
      clientCapabilities: this.#capabilities(),
      clientInfo: client.clientInfo,
      headers: Object.fromEntries(paramHeaders(bindings, isObject(args) ? args : undefined)),
      peer: this.#peer,
      signal: this.#signal,
    });
  }

  /**
   * Sends a request about the task that the call has become. The server reports on a task in answers
   * alone (the extension for tasks), so there is no peer.
   */
  async #sendOfTask(call: Call, signal: AbortSignal): Promise<Reply> {
    const { target, client } = this.#server;
    const { clientInfo } = client;
    const clientCapabilities = this.#capabilities();
    return (await sendModern(target, { call, clientCapabilities, clientInfo, signal })).reply;
  }

  #capabilities(): JsonObject {
    const declared = legacyClientToModernServer(this.#server.client);
    return this.#takesTask ? declaringTasks(declared) : declared;
  }

  #toClient(result: JsonObject): JsonObject {
    const { method } = this.#call;
    const { revision } = this.#server.client;
    const reader = { revision, era: "modern", hasTasks: false } as const;
    const translated = toLegacyResult(method, result, reader, this.#facts?.tool?.outputSchema);
    const { tools } = translated;
    // The gateway is the modern client here: it MUST drop tools that it could not call (tools).
    return method === "tools/list" && Array.isArray(tools)
      ? { ...translated, tools: tools.filter(hasLawfulBindings) }
      : translated;
  }
}

function showsOtherEra(reply: Reply): boolean {
  if (looksLegacy(reply)) return true;
  return "error" in reply && reply.error.code === ErrorCode.UnsupportedProtocolVersion;
}
