/**
 * The holder of one legacy session: wires the session to its storage, and its upstream to the
 * configuration.
 */

import { DurableObject } from "cloudflare:workers";

import { LegacyRelay } from "../src/bridge/legacy-to-legacy.ts";
import { loadConfig } from "../src/config.ts";
import { pickTarget } from "../src/federation/pick-target.ts";
import { defaultLimits, type Limits } from "../src/policy/limits.ts";
import type { Parsed } from "../src/protocol/json-rpc.ts";
import type { ClientFacts } from "../src/sessions/dispatch.ts";
import type { Outcome } from "../src/sessions/outcome.ts";
import { type Door, Session, type SessionLimits } from "../src/sessions/session.ts";
import type { SavedConnection } from "../src/upstream/legacy/connection.ts";
import type { UpstreamTarget } from "../src/upstream/target.ts";
import { SessionStore } from "./session-store.ts";

const DAY_MS = 86_400_000;
const UNKNOWN: Outcome = { kind: "unknown" };

/** A session is nothing to whoever asks for it at another endpoint. */
interface Held {
  readonly route: string;
  readonly session: Session;
}

interface Beginning {
  readonly door: Door;
  readonly route: string;
  /** What is left of an earlier life of this object. */
  readonly client?: ClientFacts;
  readonly upstream?: SavedConnection | undefined;
}

export class SessionObject extends DurableObject<Env> {
  readonly #limits: Limits;
  readonly #servers: ReadonlyMap<string, UpstreamTarget>;
  readonly #store: SessionStore;
  #held: Held | undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const loaded = loadConfig(env);
    this.#limits = loaded.ok ? loaded.config.limits : defaultLimits();
    this.#servers = loaded.ok ? loaded.config.servers : new Map();
    this.#store = new SessionStore(ctx.storage, this.#limits.sessionIdleDays * DAY_MS);
    const stored = this.#store.load();
    if (stored !== undefined) this.#held = this.#begin({ door: "streamable-http", ...stored });
  }

  async open(route: string, initialize: Parsed): Promise<Outcome> {
    const held = this.#begin({ door: "streamable-http", route });
    if (held === undefined) return UNKNOWN;
    const outcome = await held.session.receive([initialize], false);
    // An attempt that failed leaves nothing behind.
    if (held.session.isOpen) this.#held = held;
    return outcome;
  }

  async receive(route: string, messages: readonly Parsed[], isBatch: boolean): Promise<Outcome> {
    const session = await this.#use(route);
    return session === undefined ? UNKNOWN : session.receive(messages, isBatch);
  }

  async openStream(route: string, lastEventId?: string): Promise<Outcome> {
    const session = await this.#use(route);
    return session === undefined ? UNKNOWN : session.openStream(lastEventId);
  }

  openSse(route: string): Outcome {
    this.#held = this.#begin({ door: "http+sse", route });
    return this.#held === undefined ? UNKNOWN : this.#held.session.openStream();
  }

  detach(route: string, connection: number): void {
    this.#find(route)?.detach(connection);
  }

  async close(route: string): Promise<boolean> {
    if (this.#find(route) === undefined) return false;
    await this.#end();
    return true;
  }

  override async alarm(): Promise<void> {
    if (await this.#store.isOver()) await this.#end();
  }

  async #use(route: string): Promise<Session | undefined> {
    const session = this.#find(route);
    if (session === undefined || this.#store.use()) return session;
    await this.#end();
    return undefined;
  }

  #find(route: string): Session | undefined {
    return this.#held?.route === route ? this.#held.session : undefined;
  }

  async #end(): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    await this.#store.clear();
    await held?.session.close();
  }

  /** @returns `undefined` when the endpoint leads nowhere: a deploy may have taken its server. */
  #begin({ door, route, client, upstream }: Beginning): Held | undefined {
    const slug = /^\/(?:mcp|sse)\/([^/]+)$/.exec(route)?.[1];
    const picked = pickTarget(this.#servers, slug);
    if (picked.kind !== "target") return undefined;

    let saved = upstream;
    const session = new Session({
      door,
      client,
      limits: sessionLimits(this.#limits),
      connect: (facts, unsolicited) =>
        new LegacyRelay({
          target: picked.target,
          client: facts,
          unsolicited,
          saved,
          save: (state) => {
            saved = state;
            this.#store.saveUpstream(state);
          },
        }),
      onOpened: (facts) => {
        // The stream of an HTTP+SSE session is its life, so nothing of it is stored.
        if (door === "http+sse") return;
        this.ctx.waitUntil(this.#store.open({ route, client: facts, upstream: saved }));
      },
      onDeserted: () => this.ctx.waitUntil(this.#end()),
    });
    return { route, session };
  }
}

function sessionLimits(limits: Limits): SessionLimits {
  return {
    windowBytes: limits.windowBytes,
    maxKeptChars: limits.keptBytesPerStream,
    stallMs: limits.stallSeconds * 1000,
    lingerMs: limits.lingerSeconds * 1000,
    maxOpenStreams: limits.openStreamsPerSession,
    maxKeptStreams: limits.keptStreamsPerSession,
    maxBacklog: limits.backlogPerSession,
    askTimeoutMs: limits.askSeconds * 1000,
    retryMs: limits.retryMilliseconds,
    maxInFlight: limits.requestsInFlightPerSession,
    streamAfterMs: limits.streamAfterSeconds * 1000,
  };
}
