/**
 * The holder of one legacy session: wires the session to storage, and its upstream to the
 * configuration. What must outlive this object's memory is in four keys of its storage.
 */

import { DurableObject } from "cloudflare:workers";

import { LegacyRelay } from "../src/bridge/legacy-to-legacy.ts";
import { loadConfig } from "../src/config.ts";
import { pickTarget } from "../src/federation/pick-target.ts";
import { defaultLimits, type Limits } from "../src/policy/limits.ts";
import type { Parsed } from "../src/protocol/json-rpc.ts";
import type { ClientFacts, Connect } from "../src/sessions/dispatch.ts";
import type { Outcome } from "../src/sessions/outcome.ts";
import { type Door, Session, type SessionLimits } from "../src/sessions/session.ts";
import type { SavedConnection } from "../src/upstream/legacy/connection.ts";
import type { UpstreamTarget } from "../src/upstream/target.ts";

const DAY_MS = 86_400_000;

/** Everything that is stored, by key. */
interface Stored {
  /** The endpoint that the session was opened at: it is served there and nowhere else. */
  readonly route: string;
  readonly client: ClientFacts;
  readonly upstream: SavedConnection;
  /** To the day, so that a busy session writes next to nothing. */
  readonly lastUsed: number;
}

export class SessionObject extends DurableObject<Env> {
  readonly #limits: Limits;
  readonly #servers: ReadonlyMap<string, UpstreamTarget>;
  #session: Session | undefined;
  #route: string | undefined;
  #upstream: SavedConnection | undefined;
  /** The stream of an HTTP+SSE session is its life, so nothing of it is stored. */
  #isStored = false;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const loaded = loadConfig(env);
    this.#limits = loaded.ok ? loaded.config.limits : defaultLimits();
    this.#servers = loaded.ok ? loaded.config.servers : new Map();
    this.#route = this.#load("route");
    this.#upstream = this.#load("upstream");
    const client = this.#load("client");
    if (client === undefined) return;
    this.#isStored = true;
    this.#session = this.#createSession("streamable-http", client);
  }

  async open(route: string, initialize: Parsed): Promise<Outcome> {
    this.#route = route;
    const session = this.#createSession("streamable-http", undefined);
    const outcome = await session.receive([initialize], false);
    // An attempt that failed leaves nothing behind.
    if (session.isOpen) this.#session = session;
    return outcome;
  }

  async receive(route: string, messages: readonly Parsed[], isBatch: boolean): Promise<Outcome> {
    const session = await this.#use(route);
    return session === undefined ? { kind: "unknown" } : session.receive(messages, isBatch);
  }

  async openStream(route: string, lastEventId?: string): Promise<Outcome> {
    const session = await this.#use(route);
    return session === undefined ? { kind: "unknown" } : session.openStream(lastEventId);
  }

  openSse(route: string): Outcome {
    this.#route = route;
    this.#session = this.#createSession("http+sse", undefined);
    return this.#session.openStream();
  }

  detach(route: string, connection: number): void {
    this.#sessionAt(route)?.detach(connection);
  }

  async close(route: string): Promise<boolean> {
    if (this.#sessionAt(route) === undefined) return false;
    await this.#end();
    return true;
  }

  override async alarm(): Promise<void> {
    const expiresAt = this.#expiresAt();
    if (expiresAt > Date.now()) await this.ctx.storage.setAlarm(expiresAt);
    else await this.#end();
  }

  #expiresAt(): number {
    return (this.#load("lastUsed") ?? 0) + this.#limits.sessionIdleDays * DAY_MS;
  }

  async #end(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    this.#route = undefined;
    this.#upstream = undefined;
    this.#isStored = false;
    await this.ctx.storage.deleteAll(); // the alarm with it
    await session?.close();
  }

  /** The session, for something its client does; the alarm reads when that was. */
  async #use(route: string): Promise<Session | undefined> {
    const session = this.#sessionAt(route);
    if (session === undefined || !this.#isStored) return session;
    const now = Date.now();
    if (this.#expiresAt() <= now) {
      await this.#end(); // the alarm is late
      return undefined;
    }
    if (now - (this.#load("lastUsed") ?? 0) >= DAY_MS) this.#save("lastUsed", now);
    return session;
  }

  /** A session is nothing to whoever asks for it at another endpoint. */
  #sessionAt(route: string): Session | undefined {
    return this.#route === route ? this.#session : undefined;
  }

  #createSession(door: Door, client: ClientFacts | undefined): Session {
    return new Session({
      door,
      client,
      connect: this.#connect,
      limits: sessionLimits(this.#limits),
      onOpened: (facts) => {
        if (door === "streamable-http") this.#store(facts);
      },
      onDeserted: () => this.ctx.waitUntil(this.#end()),
    });
  }

  /** From here on the session outlives this object's memory. */
  #store(client: ClientFacts): void {
    this.#isStored = true;
    this.#save("route", this.#route ?? "");
    this.#save("client", client);
    this.#save("lastUsed", Date.now());
    if (this.#upstream !== undefined) this.#save("upstream", this.#upstream);
    this.ctx.waitUntil(this.ctx.storage.setAlarm(this.#expiresAt()));
  }

  readonly #connect: Connect = (client, unsolicited) => {
    const slug = /^\/(?:mcp|sse)\/([^/]+)$/.exec(this.#route ?? "")?.[1];
    const picked = pickTarget(this.#servers, slug);
    // The Worker has picked the same target before it came here; a deploy may lie in between.
    if (picked.kind !== "target") throw new Error("The session's upstream is not configured");
    return new LegacyRelay({
      target: picked.target,
      client,
      unsolicited,
      saved: this.#upstream,
      save: (state) => {
        this.#upstream = state;
        if (this.#isStored) this.#save("upstream", state);
      },
    });
  };

  #load<K extends keyof Stored>(key: K): Stored[K] | undefined {
    return this.ctx.storage.kv.get<Stored[K]>(key);
  }

  #save<K extends keyof Stored>(key: K, value: Stored[K]): void {
    this.ctx.storage.kv.put(key, value);
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
