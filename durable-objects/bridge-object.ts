/**
 * The holder of one principal's session at one legacy server, which the principal's modern clients of
 * one kind share: wires its calls to storage and to the alarm. It is emptied when nobody has used it
 * for a while.
 */

import { DurableObject } from "cloudflare:workers";

import type { BridgeCommand, BridgeOutcome } from "../src/relay/modern-to-legacy/bridge.ts";
import { BridgeService } from "../src/relay/modern-to-legacy/bridge-service.ts";
import { UpstreamSessions } from "../src/relay/modern-to-legacy/upstream-sessions.ts";
import { ParkedCalls } from "../src/relay/modern-to-legacy/parked-calls.ts";
import { type Config, loadConfig } from "../src/config/config.ts";
import { CLIENT_INFO } from "../src/protocol/gateway-info.ts";
import { count } from "../src/observability/costs.ts";
import { ErrorCode } from "../src/protocol/error-codes.ts";
import { errorReply, type JsonObject } from "../src/protocol/json-rpc.ts";
import type { UpstreamTarget } from "../src/upstream/target.ts";
import { AlarmClock } from "./alarm-clock.ts";
import { BridgeAttendants } from "./bridge-attendants.ts";
import type { Attending } from "./bridges-stub.ts";
import { BridgeStore, type StoredBridge } from "./bridge-store.ts";
import { meteredSql } from "./metered-sql.ts";

/** Whose order it is, and of what kind of client. Plain data. */
export interface Sender {
  readonly slug: string;
  /** The principal, as a hash. */
  readonly owner: string;
  readonly capabilities: JsonObject;
}

interface Parts {
  readonly upstreamSessions: UpstreamSessions;
  readonly desk: BridgeService;
}

/** A call that runs this long is kept by an alarm: an object that waits may be let go. */
const ALARM_KEPT_MS = 30_000;
const MINUTE_MS = 60_000;

export class BridgeObject extends DurableObject<Env> {
  readonly #config: Config | undefined;
  readonly #store: BridgeStore;
  readonly #clock: AlarmClock;
  readonly #attendants: BridgeAttendants;
  #parts: Parts | undefined;
  #keeping: number | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    count("objectsConstructed");
    const loaded = loadConfig(env);
    this.#config = loaded.ok ? loaded.config : undefined;
    this.#clock = new AlarmClock(ctx.storage, (promise) => ctx.waitUntil(promise));
    this.#store = new BridgeStore(ctx.storage);
    this.#attendants = new BridgeAttendants(ctx);
    this.#wire();
    this.#parts?.desk.attend();
    // What an earlier life has left may be due, whether it came to set the alarm or not.
    this.#ring();
  }

  /** @param id names the order, for `cancel`. */
  async take(id: string, sender: Sender, command: BridgeCommand): Promise<BridgeOutcome> {
    const desk = this.#use(sender, command);
    if (desk === undefined) return unknown(sender.slug);
    return desk.take(id, command, sender.capabilities);
  }

  /** The client has hung up. */
  cancel(id: string): void {
    this.#parts?.desk.cancel(id);
  }

  /** Opens the way of a client that listens: it says for what in its first message. */
  override fetch(): Response {
    return new Response(null, { status: 101, webSocket: this.#attendants.open() });
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    count("webSocketMessagesIn");
    if (typeof message !== "string") return;
    const attending = JSON.parse(message) as Attending;
    const { known } = this.#store;
    if (known !== undefined && known.owner !== attending.sender.owner) return;
    this.#attendants.enter(socket, attending);
    this.#parts?.desk.attend();
  }

  override webSocketClose(socket: WebSocket): void {
    if (this.#attendants.leave(socket)) this.#parts?.desk.attend();
  }

  override webSocketError(socket: WebSocket): void {
    this.webSocketClose(socket);
  }

  override async alarm(): Promise<void> {
    this.#clock.rang();
    if (this.#config === undefined) {
      // Mistakes are corrected.
      this.#clock.noLaterThan(Date.now() + ALARM_KEPT_MS);
      return;
    }
    this.#parts?.desk.wake();
    if (this.#parts === undefined || this.#idleAt <= Date.now()) await this.#end();
    else this.#ringAgain();
  }

  /** When it is not wanted any more, in milliseconds since 1970. */
  get #idleAt(): number {
    const { known, isSaved } = this.#store;
    const desk = this.#parts?.desk;
    if (known === undefined || !isSaved || desk?.isIdle !== true) return Infinity;
    return desk.dueAt === Infinity ? known.usedAt + this.#keptMs : Infinity;
  }

  get #keptMs(): number {
    return (this.#config?.limits.bridgeIdleMinutes ?? 0) * MINUTE_MS;
  }

  /** @returns `undefined` for what is not to be had here. */
  #use({ slug, owner, capabilities }: Sender, command: BridgeCommand): BridgeService | undefined {
    const { known } = this.#store;
    const target = this.#config?.servers.get(slug)?.target;
    const now = Date.now();
    if (known === undefined || this.#parts === undefined) {
      // Of a call that is to be gone on with there is nothing left.
      if (command.kind === "answer" || target === undefined) return undefined;
      const { clientInfo = CLIENT_INFO } = command;
      const endpoint = target.endpoint.href;
      this.#store.begin({ slug, endpoint, owner, capabilities, clientInfo, usedAt: now });
      this.#wire();
    } else if (known.owner !== owner || known.slug !== slug) return undefined;
    return this.#parts?.desk;
  }

  /** Brings what is known of the bridge to life. */
  #wire(): void {
    const { known } = this.#store;
    const target = known === undefined ? undefined : this.#targetOf(known);
    if (known === undefined || target === undefined || this.#config === undefined) return;
    const { slug, capabilities, clientInfo } = known;
    const { limits } = this.#config;
    const upstreamSessions = new UpstreamSessions({
      ...{ target, client: { capabilities, clientInfo }, saved: known },
      quietMs: limits.quietSeconds * 1000,
      attended: () => this.#attendants.uris,
      returning: () => this.#attendants.returning,
      hear: (uri) => this.#attendants.tell(uri),
      save: (change) => this.#store.save(change),
    });
    const desk = new BridgeService({
      ...{ slug, object: this.ctx.id.toString(), upstreamSessions, limits },
      calls: new ParkedCalls(meteredSql(this.ctx.storage.sql)),
      now: () => Date.now(),
      onChange: () => this.#changed(),
      synced: () => this.ctx.storage.sync(),
    });
    this.#parts = { upstreamSessions, desk };
  }

  /** A deploy may have taken the server, or moved it. */
  #targetOf({ slug, endpoint }: StoredBridge): UpstreamTarget | undefined {
    const target = this.#config?.servers.get(slug)?.target;
    return target?.endpoint.href === endpoint ? target : undefined;
  }

  async #end(): Promise<void> {
    const upstreamSessions = this.#parts?.upstreamSessions;
    this.#parts = undefined;
    clearTimeout(this.#keeping);
    this.#keeping = null;
    const emptied = this.#store.empty();
    await upstreamSessions?.close();
    await emptied;
  }

  /** Something runs, is over, or is due at another time than before. */
  #changed(): void {
    const isIdle = this.#parts?.desk.isIdle !== false;
    // Who listens where no tool is called does not use it: it would be kept for ever.
    if (!isIdle || this.#keeping !== null) this.#used();
    if (isIdle) {
      clearTimeout(this.#keeping);
      this.#keeping = null;
    } else this.#keeping ??= setTimeout(() => this.#ringAgain(), ALARM_KEPT_MS / 2);
    this.#ring();
  }

  #used(): void {
    const { known, isSaved } = this.#store;
    const now = Date.now();
    if (!isSaved || known === undefined || known.usedAt + this.#keptMs / 2 >= now) return;
    this.#store.save({ usedAt: now });
  }

  /** When does something have to be done next? */
  #ring(): void {
    this.#clock.noLaterThan(this.#parts?.desk.dueAt);
    this.#clock.noLaterThan(this.#idleAt);
  }

  /** The alarm has rung, or something runs for a while. */
  #ringAgain(): void {
    if (this.#parts?.desk.isIdle === false) {
      this.#used();
      this.#clock.noLaterThan(Date.now() + ALARM_KEPT_MS);
    }
    this.#ring();
  }
}

function unknown(slug: string): BridgeOutcome {
  const sentence = `This request to upstream "${slug}" is not known any more; call again without requestState`;
  return { kind: "reply", reply: errorReply(ErrorCode.InvalidParams, sentence) };
}
