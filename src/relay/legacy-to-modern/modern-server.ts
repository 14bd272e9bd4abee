/**
 * The modern server of a legacy session: every request is self-contained, so there is no session to
 * open, no standalone stream, and nothing to resume after a restart. The server's feed brings its
 * change notifications. Satisfies the `Dispatch` port of the sessions.
 */

import { ErrorCode } from "../../protocol/error-codes.ts";
import type { Call, Peer } from "../../protocol/exchange.ts";
import { errorReply, type JsonObject, type Reply } from "../../protocol/json-rpc.ts";
import { isLogLevel, noSuchLevel } from "../../protocol/log-levels.ts";
import { isServed } from "../../protocol/methods.ts";
import { hasLawfulBindings } from "../../protocol/param-headers.ts";
import { toLegacyResult } from "../../protocol/revisions/to-legacy-result.ts";
import { toLegacyNotice } from "../../protocol/revisions/translate-notices.ts";
import { toModernRequest } from "../../protocol/revisions/requests.ts";
import type { LegacyClient } from "../../upstream/legacy/handshake.ts";
import { legacyOnly, recheckEra } from "../../upstream/modern/discover.ts";
import { looksLegacy } from "../../upstream/modern/send.ts";
import type { UpstreamTarget } from "../../upstream/target.ts";
import { failureReply, isOtherEra, UpstreamError } from "../../upstream/upstream-error.ts";
import { failureFor, stuck } from "./failures.ts";
import { ModernCall } from "./modern-call.ts";
import { runRounds } from "./rounds.ts";
import { finishTask } from "./task-call.ts";
import type { ToolFactsOf } from "../../catalog/cache/tool-facts.ts";

export interface ModernServerOptions {
  readonly target: UpstreamTarget;
  readonly client: LegacyClient;
  readonly toolFacts: ToolFactsOf;
  /** The log level that the client has set for every server; it precedes the one set at this server. */
  readonly logLevel?: () => string | undefined;
  /** The log level that the client had set at this server before a restart. */
  readonly savedLogLevel?: string | undefined;
  readonly saveLogLevel: (level: string) => void;
}

export class ModernServer {
  readonly #options: ModernServerOptions;
  #ownLogLevel: string | undefined;

  constructor(options: ModernServerOptions) {
    this.#options = options;
    this.#ownLogLevel = options.savedLogLevel;
  }

  /**
   * An upstream's failure is an error reply.
   *
   * @throws UpstreamError `other-era` when the server has no modern era any more, so that nothing
   *   ran; the reason of `signal`.
   */
  async request(call: Call, peer: Peer, signal: AbortSignal): Promise<Reply> {
    const { method, params } = call;
    if (method === "logging/setLevel") return this.#setLogLevel(params?.["level"]);
    // Other methods of one era have no counterpart in the other.
    if (!isServed(method, "legacy") || !isServed(method, "modern")) {
      return errorReply(ErrorCode.MethodNotFound, "Method not found");
    }
    try {
      return await this.#run(toModernRequest(call), peer, signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (isOtherEra(error)) throw error;
      return failureReply(error, this.#options.target.slug);
    }
  }

  /** A request whose stream was lost in a restart can neither be resumed nor sent again. */
  resume(): Promise<Reply> {
    const { slug } = this.#options.target;
    const sentence = "was being waited for when the gateway restarted; the result is unknown";
    return Promise.resolve(failureReply(new UpstreamError(slug, "lost", sentence), slug));
  }

  answer(): Promise<boolean> {
    return Promise.resolve(true); // the question belonged to a request that is gone
  }

  notify(): Promise<void> {
    return Promise.resolve(); // the core of 2026-07-28 has no notifications from clients
  }

  listen(): Promise<void> {
    return Promise.resolve();
  }

  unlisten(): void {
    // There is no stream.
  }

  watched(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  handedOver(): void {
    // There is no stream.
  }

  receive(): Promise<void> {
    return Promise.resolve();
  }

  forgotten(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** The level belongs to the session here, and to each request at the server (2026-07-28, logging). */
  #setLogLevel(level: unknown): Reply {
    if (!isLogLevel(level)) return noSuchLevel();
    this.#ownLogLevel = level;
    this.#options.saveLogLevel(level);
    return { result: {} };
  }

  async #run(call: Call, peer: Peer, signal: AbortSignal): Promise<Reply> {
    const { target, client, toolFacts, logLevel } = this.#options;
    const { slug } = target;
    const { method } = call;
    const modern = new ModernCall(call, {
      target,
      client,
      toolFacts,
      peer: this.#translating(peer),
      signal,
      logLevel: logLevel?.() ?? this.#ownLogLevel,
    });
    const send = async (round: Call): Promise<Reply> => {
      const { reply, wasRefused } = await modern.send(round);
      // After the first round the call may have had effects, so it is not begun again.
      const isRefused = round === call && wasRefused && showsOtherEra(reply);
      if (isRefused && (await recheckEra(target)).era === "legacy") throw legacyOnly(target);
      if (!modern.takesTask) return reply;
      const sendOfTask = modern.sendOfTask.bind(modern);
      return finishTask(reply, { slug, client, peer, signal, send: sendOfTask });
    };
    const outcome = await runRounds({ call, client, peer, signal, send });
    switch (outcome.kind) {
      case "malformed":
        throw new UpstreamError(slug, "malformed", outcome.sentence);
      case "stuck":
        return stuck(slug, method, outcome.sentence);
      case "reply": {
        const { reply } = outcome;
        if ("error" in reply) return failureFor(slug, method, reply.error, client);
        return { result: this.#toClient(method, reply.result, modern.outputSchema) };
      }
    }
  }

  /** Translates the server's notifications to the client's revision. */
  #translating(peer: Peer): Peer {
    const { revision } = this.#options.client;
    return {
      notify: (notice) => {
        const translated = toLegacyNotice(notice, revision);
        return translated === undefined ? Promise.resolve() : peer.notify(translated);
      },
      ask: (question, withdrawn) => peer.ask(question, withdrawn),
    };
  }

  #toClient(method: string, result: JsonObject, outputSchema: unknown): JsonObject {
    const { revision } = this.#options.client;
    const reader = { revision, era: "modern", hasTasks: false } as const;
    const translated = toLegacyResult(method, result, reader, outputSchema);
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
