/**
 * The holder of one principal's session at one legacy server, which the principal's modern clients of
 * one kind share. It wires the bridge to storage and to the alarm, and is emptied when it was not used
 * for a while.
 */

import { DurableObject } from "cloudflare:workers";

import type {
  ResourceListenRequest,
  BridgeCommand,
  BridgeOutcome,
  CommandSender,
  WrittenBridgeOutcome,
} from "../src/relay/modern-to-legacy/bridge.ts";
import { BridgeService } from "../src/relay/modern-to-legacy/bridge-service.ts";
import { UpstreamSessions } from "../src/relay/modern-to-legacy/upstream-sessions.ts";
import { ParkedCalls } from "../src/relay/modern-to-legacy/parked-calls.ts";
import type { Config } from "../src/config/config.ts";
import { parseLossless } from "../src/lib/lossless-json.ts";
import { CLIENT_INFO } from "../src/protocol/gateway-info.ts";
import { count } from "../src/observability/costs.ts";
import { ErrorCode } from "../src/protocol/error-codes.ts";
import { errorReply } from "../src/protocol/json-rpc.ts";
import type { EndedAccount, UsableCredential } from "../src/upstream/credentials.ts";
import type { UpstreamTarget } from "../src/upstream/target.ts";
import type { HeldAccounts } from "../src/accounts/held-accounts.ts";
import { readOwner } from "../src/accounts/owner-name.ts";
import { isOff } from "../src/endpoint/endpoint.ts";
import { serverFor } from "../src/endpoint/personal-endpoint.ts";
import { isSameTarget, type Server } from "../src/endpoint/server.ts";
import { publishedName } from "../src/publishing/publisher.ts";
import { publishedServerIn } from "./connectors.ts";
import { personalScopeOf } from "./identity.ts";
import { AlarmClock } from "./alarm-clock.ts";
import { BridgeListeners } from "./bridge-listeners.ts";
import { BridgeStore, type StoredBridge } from "./bridge-store.ts";
import { FollowedConfig } from "./followed-config.ts";
import { heldAccountsOf } from "./held-accounts.ts";
import { meteredSql } from "./metered-sql.ts";
import { tracerHere } from "./tracing.ts";

interface Parts {
  readonly service: BridgeService;
  readonly calls: ParkedCalls;
}

/** An alarm keeps the object for a call that runs this long: the platform may evict a waiting object. */
const ALARM_KEPT_MS = 30_000;
const MINUTE_MS = 60_000;

export class BridgeObject extends DurableObject<Env> {
  readonly #followed: FollowedConfig;
  readonly #store: BridgeStore;
  readonly #clock: AlarmClock;
  readonly #listeners: BridgeListeners;
  readonly #accounts: HeldAccounts;
  #parts: Parts | undefined;
  /** As it was configured when the parts were made. */
  #server: Server | undefined;
  #keeping: number | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    count("objectsConstructed");
    this.#followed = new FollowedConfig(ctx, env);
    this.#clock = new AlarmClock(ctx);
    this.#store = new BridgeStore(ctx.storage);
    this.#listeners = new BridgeListeners(ctx);
    this.#accounts = heldAccountsOf(ctx, env, "bridge", (ended) => this.accountEnded(ended));
    this.#followed.begin(
      () => this.#revive(),
      () => this.#configured(),
    );
  }

  get #config(): Config | undefined {
    return this.#followed.config;
  }

  /**
   * Commands and replies are JSON here: they hold messages (`stored-json.ts`).
   *
   * @param id identifies the command, for `cancel`.
   * @param text of a `BridgeCommand`.
   */
  async take(id: string, sender: CommandSender, text: string): Promise<WrittenBridgeOutcome> {
    await this.#followed.follow();
    this.#accounts.retry();
    const command = parseLossless(text) as BridgeCommand;
    const service = this.#use(sender, command);
    const outcome =
      (await service?.take(id, command, sender.capabilities)) ?? this.#notServed(sender);
    return outcome.kind === "stream"
      ? outcome
      : { ...outcome, reply: JSON.stringify(outcome.reply) };
  }

  /** Cancels a command: the client has hung up. */
  cancel(id: string): void {
    this.#parts?.service.cancel(id);
  }

  /** Opens the socket of a client that listens; its first message names the URIs. */
  override fetch(): Response {
    return new Response(null, { status: 101, webSocket: this.#listeners.open() });
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    count("webSocketMessagesIn");
    if (typeof message !== "string") return;
    const request = JSON.parse(message) as ResourceListenRequest;
    const { known } = this.#store;
    if (known !== undefined && known.owner !== request.sender.owner) return;
    this.#listeners.add(socket, request);
    this.#parts?.service.listenersChanged();
  }

  override webSocketClose(socket: WebSocket): void {
    if (this.#listeners.remove(socket)) this.#parts?.service.listenersChanged();
  }

  override webSocketError(socket: WebSocket): void {
    this.webSocketClose(socket);
  }

  override async alarm(): Promise<void> {
    this.#clock.fired();
    await this.#followed.follow();
    this.#accounts.retry();
    const { known } = this.#store;
    if (known !== undefined && this.#isOff(known) && !this.#isOutlived(known)) {
      // The alarm retries, because an operator will correct the configuration.
      this.#clock.noLaterThan(Date.now() + ALARM_KEPT_MS);
      return;
    }
    this.#parts?.service.wake();
    if (this.#parts === undefined || this.#idleAt <= Date.now()) await this.#end();
    else this.#renewAlarm();
  }

  /** When the bridge has been unused for long enough to end, in milliseconds since 1970. */
  get #idleAt(): number {
    const { known, isSaved } = this.#store;
    const service = this.#parts?.service;
    if (known === undefined || !isSaved || service?.isIdle !== true) return Infinity;
    return service.dueAt === Infinity ? known.usedAt + this.#keptMs : Infinity;
  }

  get #keptMs(): number {
    return (this.#config?.limits.bridgeIdleMinutes ?? 0) * MINUTE_MS;
  }

  /** True while the server is switched off or misconfigured, and while nobody could be asked whether it was added. */
  #isOff({ slug }: Pick<StoredBridge, "slug">): boolean {
    return this.#config === undefined || isOff(this.#config, slug);
  }

  /**
   * True when the bridge was unused for as long as it is kept, and no client is waited for any more. While nobody can
   * be asked whether its server was added, it is not: its session can be closed when that is known.
   */
  #isOutlived({ usedAt }: StoredBridge): boolean {
    if (this.#config?.added === undefined) return false;
    const calls = new ParkedCalls(meteredSql(this.ctx.storage.sql));
    const ends = [usedAt + this.#keptMs, ...calls.all.map(({ due }) => due)];
    return Math.max(...ends) <= Date.now();
  }

  #notServed({ slug }: CommandSender): BridgeOutcome {
    const sentence = this.#isOff({ slug })
      ? `Upstream "${slug}" cannot be served right now; send this request again later`
      : `This request to upstream "${slug}" is not known any more; call again without requestState`;
    return { kind: "reply", reply: errorReply(ErrorCode.InvalidParams, sentence) };
  }

  /** @returns `undefined` for an unknown command, server or owner. */
  #use(
    { slug, owner, capabilities, vault, caller, publisher }: CommandSender,
    command: BridgeCommand,
  ): BridgeService | undefined {
    const { known } = this.#store;
    const target = this.#serverOf({ slug, ...(publisher !== undefined && { publisher }) })?.target;
    const now = Date.now();
    if (known === undefined || this.#parts === undefined) {
      // Of a call that was to continue, nothing is left.
      if (command.kind === "answer" || target === undefined) return undefined;
      const { clientInfo = CLIENT_INFO } = command;
      const endpoint = target.endpoint.href;
      const of = {
        ...(vault !== undefined && { vault }),
        ...(caller !== undefined && { caller }),
        ...(publisher !== undefined && { publisher }),
      };
      this.#store.begin({ slug, endpoint, owner, ...of, capabilities, clientInfo, usedAt: now });
      this.#wire();
    } else if (known.owner !== owner || known.slug !== slug) return undefined;
    return this.#parts?.service;
  }

  /** Makes the parts of the stored bridge, which take up what an earlier life has left. */
  #revive(): void {
    this.#wire();
    this.#parts?.service.listenersChanged();
    // Work of an earlier life may be due, even if that life did not set the alarm.
    if (this.#parts === undefined && this.#store.isSaved) {
      this.#clock.noLaterThan(Date.now() + ALARM_KEPT_MS);
    }
    this.#scheduleAlarm();
  }

  #wire(): void {
    const { known } = this.#store;
    const target = known === undefined ? undefined : this.#targetOf(known);
    if (known === undefined || target === undefined || this.#config === undefined) return;
    const { slug, capabilities, clientInfo } = known;
    const { limits } = this.#config;
    this.#server = this.#serverOf(known);
    const upstreamSessions = new UpstreamSessions({
      target,
      client: { capabilities, clientInfo },
      saved: known,
      quietMs: limits.quietSeconds * 1000,
      listenedUris: () => this.#listeners.uris,
      returning: () => this.#listeners.returning,
      onUpdated: (uri) => this.#listeners.notify(uri),
      save: (change) => {
        // A session that is being closed, or was still being opened, is not that of the parts that followed.
        if (this.#parts?.service !== service) return;
        this.#store.save(change);
        // In the turn of the row: this life may end in its first call.
        this.#clock.noLaterThan((this.#store.known?.usedAt ?? Infinity) + this.#keptMs);
        this.#hold();
      },
    });
    this.#hold();
    const calls = new ParkedCalls(meteredSql(this.ctx.storage.sql));
    const service: BridgeService = new BridgeService({
      slug,
      object: this.ctx.id.toString(),
      upstreamSessions,
      limits,
      calls,
      now: () => Date.now(),
      onChange: () => this.#changed(),
      tracer: tracerHere,
      synced: () => this.ctx.storage.sync(),
    });
    this.#parts = { service, calls };
  }

  #serverOf({ slug, publisher }: Pick<StoredBridge, "slug" | "publisher">): Server | undefined {
    const config = this.#config;
    if (config === undefined || publisher === undefined) return config?.servers.get(slug);
    const name = publishedName(slug);
    if (name === undefined || !config.isPublishingOn) return undefined;
    return publishedServerIn(this.env, config, publisher, name);
  }

  /** An operator has changed the server: what was opened at it as it was is closed, with the calls that run there. */
  #configured(): void {
    const { known } = this.#store;
    const server = known && this.#serverOf(known);
    const before = this.#parts?.service;
    if (before === undefined) {
      this.#revive();
      return;
    }
    if (isSameTarget(server, this.#server)) return;
    this.#parts = undefined;
    // The calls are over in this turn, so what follows finds their ends in the rows.
    this.ctx.waitUntil(before.close());
    this.#store.forgetSession();
    this.#wire();
    this.#clock.noLaterThan(Date.now() + ALARM_KEPT_MS);
  }

  /** @returns `undefined` when the server was removed, or moved. */
  #targetOf({ endpoint, vault, caller, ...of }: StoredBridge): UpstreamTarget | undefined {
    const server = this.#serverOf(of);
    if (server?.target.endpoint.href !== endpoint || this.#config === undefined) return undefined;
    const owner = vault === undefined ? undefined : readOwner(vault);
    const person = owner?.kind === "person" ? owner.person : undefined;
    const scope = personalScopeOf(this.env, this.#config);
    return serverFor(server, { person, ...caller }, scope).target;
  }

  /** The vault tells when the account ends that the session was opened with. */
  #hold(): void {
    const { slug, vault: owner, connection } = this.#store.known ?? {};
    if (slug === undefined || owner === undefined || connection?.accountId === undefined) return;
    this.#accounts.hold({ slug, owner, accountId: connection.accountId });
  }

  /** The account has ended that the session was opened with. */
  async accountEnded({ accountId, credential }: EndedAccount): Promise<void> {
    if (this.#store.known?.connection?.accountId === accountId) await this.#end(credential);
  }

  /** @param last the credential of the session, when its account has ended. */
  async #end(last?: UsableCredential): Promise<void> {
    const { service, calls } = this.#parts ?? {};
    this.#parts = undefined;
    clearTimeout(this.#keeping);
    this.#keeping = null;
    // A life that could not make the parts holds no account, and its vault is to be told nevertheless.
    this.#hold();
    calls?.emptied();
    const emptied = this.#store.empty();
    // At once: the next bridge of this object holds its account after that.
    const released = this.#accounts.release();
    this.#clock.fired();
    await service?.close(last);
    await emptied;
    await released;
  }

  /** Called when a call has begun or ended, or other work is due at another time. */
  #changed(): void {
    const isIdle = this.#parts?.service.isIdle !== false;
    // Listening without calls does not count as use: otherwise the bridge would be kept for ever.
    if (!isIdle || this.#keeping !== null) this.#used();
    if (isIdle) {
      clearTimeout(this.#keeping);
      this.#keeping = null;
    } else this.#keeping ??= setTimeout(() => this.#renewAlarm(), ALARM_KEPT_MS / 2);
    this.#scheduleAlarm();
  }

  #used(): void {
    const { known, isSaved } = this.#store;
    const now = Date.now();
    if (!isSaved || known === undefined || known.usedAt + this.#keptMs / 2 >= now) return;
    this.#store.save({ usedAt: now });
  }

  /** Sets the alarm for the work that is due next. */
  #scheduleAlarm(): void {
    this.#clock.noLaterThan(this.#parts?.service.dueAt);
    this.#clock.noLaterThan(this.#idleAt);
  }

  /** Sets the next alarm after one has fired, or while a call runs for long. */
  #renewAlarm(): void {
    if (this.#parts?.service.isIdle === false) {
      this.#used();
      this.#clock.noLaterThan(Date.now() + ALARM_KEPT_MS);
    }
    this.#scheduleAlarm();
  }
}
