/**
 * Legacy client, legacy server: sessions map one to one, and requests of both sides are relayed
 * directly, each hop with its own ids. Satisfies the `Dispatch` port of the sessions.
 */

import { toLegacyClient } from "../protocol/capabilities.ts";
import { ErrorCode } from "../protocol/error-codes.ts";
import type { Call, Peer } from "../protocol/exchange.ts";
import { type ErrorObject, type JsonObject, type Reply } from "../protocol/json-rpc.ts";
import { MODERN_REVISIONS } from "../protocol/revisions.ts";
import { LegacyConnection, type SavedConnection } from "../upstream/legacy/connection.ts";
import type { LegacyClient } from "../upstream/legacy/handshake.ts";
import { discover } from "../upstream/modern/discover.ts";
import type { UpstreamTarget } from "../upstream/target.ts";
import { failureReply, UpstreamError } from "../upstream/upstream-error.ts";

export interface LegacyRelayOptions {
  readonly target: UpstreamTarget;
  readonly client: LegacyClient;
  readonly unsolicited: Peer;
  readonly saved: SavedConnection | undefined;
  readonly save: (state: SavedConnection) => void;
}

export class LegacyRelay {
  readonly #target: UpstreamTarget;
  readonly #client: LegacyClient;
  readonly #connection: LegacyConnection;

  constructor(options: LegacyRelayOptions) {
    this.#target = options.target;
    this.#client = options.client;
    this.#connection = new LegacyConnection(options);
  }

  /** The upstream's own answer to `initialize`, as this client may see it; or why there is none. */
  async open(): Promise<
    | { capabilities: JsonObject; serverInfo: JsonObject; instructions?: string }
    | { error: ErrorObject }
  > {
    try {
      if (this.#target.era === "modern") return modernOnly(this.#target, this.#client);
      const { capabilities, serverInfo, instructions } = await this.#connection.open();
      return {
        capabilities: toLegacyClient(capabilities, this.#client.revision),
        serverInfo,
        ...(instructions === undefined ? {} : { instructions }),
      };
    } catch (error) {
      if (await this.#isModernOnly(error)) return modernOnly(this.#target, this.#client);
      const reply = failureReply(error, this.#target.slug);
      if ("error" in reply) return reply;
      throw error;
    }
  }

  async request(call: Call, peer: Peer, signal: AbortSignal): Promise<Reply> {
    try {
      return await this.#connection.request(call, peer, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      return failureReply(error, this.#target.slug);
    }
  }

  async notify(call: Call): Promise<void> {
    // A notification has no answer that could tell of a failure; the next request will.
    await this.#connection.notify(call).catch(() => undefined);
  }

  listen(): void {
    this.#connection.listen();
  }

  unlisten(): void {
    this.#connection.unlisten();
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /** Servers without the legacy era refuse `initialize` in many ways; their era is asked for. */
  async #isModernOnly(error: unknown): Promise<boolean> {
    if (!(error instanceof UpstreamError)) return false;
    if (error.failure === "other-era") return true;
    const { era, transport } = this.#target;
    if (error.failure !== "malformed" || era === "legacy" || transport === "sse") return false;
    const verdict = await discover(this.#target).catch(() => undefined); // no evidence either
    return verdict !== undefined && verdict.era !== "legacy";
  }
}

/** Until eras are bridged: names what would be served (2025-11-25, lifecycle, error handling). */
function modernOnly({ slug }: UpstreamTarget, client: LegacyClient): { error: ErrorObject } {
  return {
    error: {
      code: ErrorCode.InvalidParams,
      message: `Upstream "${slug}" speaks only the modern era (2026-07-28 and later), not ${client.revision}`,
      data: { supported: MODERN_REVISIONS, requested: client.revision },
    },
  };
}
