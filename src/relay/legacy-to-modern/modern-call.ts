/**
 * Sends the requests of one call of a legacy client to a modern server, round by round, with the
 * headers that its tool's schema asks for, and with tasks declared where the server insists on them.
 * The facts of the tool are kept for the length of the call.
 */

import { Meta, metaOf, withMeta } from "../../protocol/envelope.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import type { Call, Peer } from "../../protocol/exchange.ts";
import { isObject, type JsonObject, type Reply } from "../../protocol/json-rpc.ts";
import { paramHeaders } from "../../protocol/param-headers.ts";
import { declaringTasks, demandsTasks } from "../../protocol/tasks-extension.ts";
import { legacyClientToModernServer } from "../../protocol/revisions/translate-capabilities.ts";
import type { LegacyClient } from "../../upstream/legacy/handshake.ts";
import { type ModernReply, sendModern } from "../../upstream/modern/send.ts";
import type { UpstreamTarget } from "../../upstream/target.ts";
import type { ToolFacts } from "../../catalog/cache/lookups.ts";
import type { ToolFactsOf } from "../../catalog/cache/tool-facts.ts";

export interface ModernCallOptions {
  readonly target: UpstreamTarget;
  readonly client: LegacyClient;
  readonly toolFacts: ToolFactsOf;
  readonly logLevel: string | undefined;
  /** Receives the server's notifications before its answer. */
  readonly peer: Peer;
  readonly signal: AbortSignal;
}

export class ModernCall {
  readonly #options: ModernCallOptions;
  /** The called tool; `undefined` for other methods. */
  readonly #tool: string | undefined;
  #facts: ToolFacts | undefined;
  #hasFacts = false;
  #takesTask = false;

  constructor({ method, params }: Call, options: ModernCallOptions) {
    this.#options = options;
    const name = method === "tools/call" ? params?.["name"] : undefined;
    this.#tool = typeof name === "string" ? name : undefined;
  }

  /** Of the called tool; `undefined` when it is unknown. */
  get outputSchema(): unknown {
    return this.#facts?.outputSchema;
  }

  /** True once tasks are declared, because the server refused to run the call otherwise. */
  get takesTask(): boolean {
    return this.#takesTask;
  }

  /** @throws UpstreamError when no answer is available; the reason of the signal. */
  async send(call: Call): Promise<ModernReply> {
    if (!this.#hasFacts) await this.#readFacts(false);
    for (let isDoubted = false; ;) {
      const answer = await this.#sendOnce(call);
      const { reply, wasRefused } = answer;
      if (this.#tool === undefined || !wasRefused || !("error" in reply)) return answer;
      // The call was refused before it ran, so it may be sent once more.
      if (demandsTasks(reply.error) && !this.#takesTask) {
        this.#takesTask = true;
      } else if (reply.error.code === ErrorCode.HeaderMismatch && !isDoubted) {
        // The server judged by a newer schema than ours.
        isDoubted = true;
        await this.#readFacts(true);
      } else {
        return answer;
      }
    }
  }

  /**
   * Sends a request about the task that the call has become. The server reports on a task in answers
   * alone (the extension for tasks), so there is no peer.
   *
   * @throws as `send` does, for a signal of its own.
   */
  async sendOfTask(call: Call, signal: AbortSignal): Promise<Reply> {
    const { target, client } = this.#options;
    const { clientInfo } = client;
    const clientCapabilities = this.#capabilities();
    return (await sendModern(target, { call, clientCapabilities, clientInfo, signal })).reply;
  }

  async #readFacts(isDoubted: boolean): Promise<void> {
    const { toolFacts } = this.#options;
    if (this.#tool !== undefined) this.#facts = await toolFacts(this.#tool, isDoubted);
    this.#hasFacts = true;
  }

  #sendOnce(call: Call): Promise<ModernReply> {
    const { target, client, peer, signal } = this.#options;
    signal.throwIfAborted();
    const args = call.params?.["arguments"];
    const bindings = this.#facts?.bindings ?? [];
    return sendModern(target, {
      call: this.#withLogLevel(call),
      clientCapabilities: this.#capabilities(),
      clientInfo: client.clientInfo,
      headers: Object.fromEntries(paramHeaders(bindings, isObject(args) ? args : undefined)),
      peer,
      signal,
    });
  }

  #capabilities(): JsonObject {
    const declared = legacyClientToModernServer(this.#options.client);
    return this.#takesTask ? declaringTasks(declared) : declared;
  }

  /** Without a level the server sends no log messages (2026-07-28, logging). */
  #withLogLevel(call: Call): Call {
    const { logLevel } = this.#options;
    if (logLevel === undefined) return call;
    const meta = { ...metaOf(call.params), [Meta.logLevel]: logLevel };
    return { ...call, params: withMeta(call.params, meta) };
  }
}
