/**
 * Sends the requests of one call of a legacy client to a modern server, round by round, with the
 * headers that its tool wants, and as one that may become a task where the server insists on that.
 * What is known of the tool is remembered for the length of the call.
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
  /** Takes what the server says before it answers. */
  readonly peer: Peer;
  readonly signal: AbortSignal;
}

export class ModernCall {
  readonly #options: ModernCallOptions;
  /** The tool that is called, if one is. */
  readonly #tool: string | undefined;
  #facts: ToolFacts | undefined;
  #isAsked = false;
  #takesTask = false;

  constructor({ method, params }: Call, options: ModernCallOptions) {
    this.#options = options;
    const name = method === "tools/call" ? params?.["name"] : undefined;
    this.#tool = typeof name === "string" ? name : undefined;
  }

  /** Of the called tool; `undefined` when it is not known. */
  get outputSchema(): unknown {
    return this.#facts?.outputSchema;
  }

  /** Whether a task is an answer to what was sent: the server had refused to do it otherwise. */
  get takesTask(): boolean {
    return this.#takesTask;
  }

  /** @throws UpstreamError when no answer can be had; the reason of the signal. */
  async send(call: Call): Promise<ModernReply> {
    if (!this.#isAsked) await this.#ask(false);
    for (let isDoubted = false; ;) {
      const answer = await this.#sendOnce(call);
      const { reply, wasRefused } = answer;
      if (this.#tool === undefined || !wasRefused || !("error" in reply)) return answer;
      // Refused at the door: it did not run, and may be sent once more.
      if (demandsTasks(reply.error) && !this.#takesTask) {
        this.#takesTask = true;
      } else if (reply.error.code === ErrorCode.HeaderMismatch && !isDoubted) {
        // By a newer schema than ours.
        isDoubted = true;
        await this.#ask(true);
      } else {
        return answer;
      }
    }
  }

  /**
   * Sends what there is to say of the task that the call has become. Of a task nothing is told but in
   * answers (the extension for tasks).
   *
   * @throws as `send` does, for a signal of its own.
   */
  async sendOfTask(call: Call, signal: AbortSignal): Promise<Reply> {
    const { target, client } = this.#options;
    const { clientInfo } = client;
    const clientCapabilities = this.#capabilities();
    return (await sendModern(target, { call, clientCapabilities, clientInfo, signal })).reply;
  }

  async #ask(isDoubted: boolean): Promise<void> {
    const { toolFacts } = this.#options;
    if (this.#tool !== undefined) this.#facts = await toolFacts(this.#tool, isDoubted);
    this.#isAsked = true;
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
      ...{ peer, signal },
    });
  }

  #capabilities(): JsonObject {
    const declared = legacyClientToModernServer(this.#options.client);
    return this.#takesTask ? declaringTasks(declared) : declared;
  }

  /** Without one the server is silent, as it is for every client that has not asked (logging). */
  #withLogLevel(call: Call): Call {
    const { logLevel } = this.#options;
    if (logLevel === undefined) return call;
    const meta = { ...metaOf(call.params), [Meta.logLevel]: logLevel };
    return { ...call, params: withMeta(call.params, meta) };
  }
}
