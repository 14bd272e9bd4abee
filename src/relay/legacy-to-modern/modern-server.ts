/**
 * A modern server, as a legacy session has it: every request is self-contained, so there is no
 * session to open, nothing to listen to, and nothing that could be taken up after a restart. What
 * changes at the server is told by its feed. Satisfies the `Dispatch` port of the sessions.
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
  /** What the client wants to have logged by every server; it goes before what it told this one. */
  readonly logLevel?: () => string | undefined;
  /** What the client has told this server to log, in an earlier life of the session's holder. */
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
   * An upstream's failure is an error reply. Rejects with the reason of `signal`, or with
   *
   * @throws UpstreamError `other-era` when the server has no modern era any more; nothing ran.
   */
  async request(call: Call, peer: Peer, signal: AbortSignal): Promise<Reply> {
    const { method, params } = call;
    if (method === "logging/setLevel") return this.#setLogLevel(params?.["level"]);
    // Nothing else of either era has a counterpart in the other.
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

  /** A request whose stream was lost with the holder's memory cannot be had again, or sent again. */
  resume(): Promise<Reply> {
    const { slug } = this.#options.target;
    const sentence = "was being waited for when the gateway restarted; the result is unknown";
    return Promise.resolve(failureReply(new UpstreamError(slug, "lost", sentence), slug));
  }

  answer(): Promise<boolean> {
    return Promise.resolve(true); // what was asked belonged to a request that is gone
  }

  notify(): Promise<void> {
    return Promise.resolve(); // the core of this era takes no notification
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
    // There was none.
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

  /** Of a session here, and of each request there (2026-07-28, logging). */
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
    const hearing = this.#hearing(peer);
    const modern = new ModernCall(call, {
      ...{ target, client, toolFacts, peer: hearing, signal },
      logLevel: logLevel?.() ?? this.#ownLogLevel,
    });
    const send = async (round: Call): Promise<Reply> => {
      const { reply, wasRefused } = await modern.send(round);
      // After the first round something may have been done: it is not begun again.
      const isRefused = round === call && wasRefused && showsOtherEra(reply);
      if (isRefused && (await recheckEra(target)).era === "legacy") throw legacyOnly(target);
      if (!modern.takesTask) return reply;
      const sendOfTask = modern.sendOfTask.bind(modern);
      return finishTask(reply, { ...{ slug, client, peer, signal }, send: sendOfTask });
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

  /** Hears what the server says before it answers. */
  #hearing(peer: Peer): Peer {
    const { revision } = this.#options.client;
    return {
      notify: (notice) => {
        const told = toLegacyNotice(notice, revision);
        return told === undefined ? Promise.resolve() : peer.notify(told);
      },
      ask: (question, withdrawn) => peer.ask(question, withdrawn),
    };
  }

  #toClient(method: string, result: JsonObject, outputSchema: unknown): JsonObject {
    const { revision } = this.#options.client;
    const reader = { revision, era: "modern", hasTasks: false } as const;
    const told = toLegacyResult(method, result, reader, outputSchema);
    const { tools } = told;
    // The client of the server's era is the gateway: it MUST drop what it could not call (tools).
    return method === "tools/list" && Array.isArray(tools)
      ? { ...told, tools: tools.filter(hasLawfulBindings) }
      : told;
  }
}

function showsOtherEra(reply: Reply): boolean {
  if (looksLegacy(reply)) return true;
  return "error" in reply && reply.error.code === ErrorCode.UnsupportedProtocolVersion;
}
