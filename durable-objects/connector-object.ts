/**
 * What one person publishes from their own machines: the object accepts the connections of `edgeway publish`,
 * and is for the gateway's connectors the server behind them. It sleeps beside its connections, and wakes for
 * messages alone.
 */

import { DurableObject } from "cloudflare:workers";

import type { Topic, TopicChange } from "../src/catalog/feeds.ts";
import type { AuthShard } from "../src/auth/context/auth-store.ts";
import { loadConfig } from "../src/config/config.ts";
import { KeyedMutex } from "../src/lib/keyed-mutex.ts";
import { randomName } from "../src/lib/random.ts";
import { VersionNews } from "../src/notifications/source/version-news.ts";
import { count } from "../src/observability/costs.ts";
import { logUnexpected } from "../src/observability/unexpected.ts";
import { PING, PONG, PUBLISH_PROTOCOL, PublishClose } from "../src/protocol/publishing.ts";
import type { Connection, Offline } from "../src/publishing/connector-options.ts";
import { Connector, PUBLISHING_OFF } from "../src/publishing/connector.ts";
import { publishedNameIn } from "../src/publishing/published-target.ts";
import type { PublishedList } from "../src/publishing/publisher.ts";
import { publishedKey, publisherKey } from "../src/upstream/server-key.ts";
import { defaultLimits } from "../src/policy/limits.ts";
import { AlarmClock } from "./alarm-clock.ts";
import { authStoreIn } from "./auth-store-stub.ts";
import { readPublishRequest } from "./connectors.ts";
import { meteredSql } from "./metered-sql.ts";
import { branchAt, feedAt } from "./ports.ts";

/** An object that its alarm wakes may not know its name. */
const PERSON = "person";
const ID_CHARS = 12;

/** The data that the platform keeps with a connection while the object sleeps. */
interface Attachment {
  readonly id: string;
  /** In milliseconds since 1970. */
  readonly openedAt: number;
}

export class ConnectorObject extends DurableObject<Env> {
  readonly #clock: AlarmClock;
  readonly #person: string;
  readonly #isSignedIn: boolean;
  readonly #connector: Connector;
  readonly #record = new KeyedMutex();
  #made: VersionNews | undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    count("objectsConstructed");
    this.#clock = new AlarmClock(ctx);
    this.#person = ctx.id.name ?? ctx.storage.kv.get<string>(PERSON) ?? "";
    const loaded = loadConfig(env);
    const isOn = loaded.ok && loaded.config.isPublishingOn;
    this.#isSignedIn = loaded.ok && loaded.config.authMode === "oauth";
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG));
    this.#connector = new Connector({
      sql: meteredSql(ctx.storage.sql),
      isOn,
      windowBytes: (loaded.ok ? loaded.config.limits : defaultLimits()).windowBytes,
      connectionOf: (id) => this.#connections(id)[0],
      randomId: () => randomName(ID_CHARS),
      now: () => Date.now(),
      onListed: () => this.#listed(),
      onState: (slug, offline) => this.#report(slug, offline),
      onGone: (slug) => this.#feedOf(slug).publishedEnded(),
      waitUntil: (work) => ctx.waitUntil(work),
    });
    if (loaded.ok && !isOn) {
      for (const each of this.#connections()) this.#connector.revoked(each, PUBLISHING_OFF);
    }
    this.#schedule();
  }

  /** A connection of the person's machine, or a request of the gateway's connectors. */
  override async fetch(request: Request): Promise<Response> {
    const lease = readPublishRequest(request);
    if (lease === undefined)
      return this.#connector.serve(publishedNameIn(new URL(request.url)), request);
    const { kv } = this.ctx.storage;
    if (kv.get(PERSON) === undefined) kv.put(PERSON, this.#person);
    const { 0: client, 1: server } = new WebSocketPair();
    const attachment: Attachment = { id: randomName(ID_CHARS), openedAt: Date.now() };
    this.ctx.acceptWebSocket(server, [attachment.id, ...lease]);
    server.serializeAttachment(attachment);
    // Asked once the connection is open, so that no end of the right falls in between.
    if (
      this.#isSignedIn &&
      !(await this.#onRecord((shard) => shard.holdPublisher(this.#person, lease)))
    ) {
      server.close(PublishClose.revoked, "The access of this command has ended");
    }
    const headers = { "Sec-WebSocket-Protocol": PUBLISH_PROTOCOL };
    return new Response(null, { status: 101, webSocket: client, headers });
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    count("webSocketMessagesIn");
    const connection = connectionOf(this.ctx, socket);
    if (connection === undefined) return;
    this.#connector.receive(connection, typeof message === "string" ? message : "");
    this.#schedule();
  }

  override webSocketClose(socket: WebSocket): void {
    const { id } = attachmentOf(socket) ?? {};
    if (id !== undefined) this.#connector.closed(id);
    this.#releaseUnused(id);
    this.#schedule();
  }

  override webSocketError(socket: WebSocket): void {
    this.webSocketClose(socket);
  }

  list(): PublishedList {
    return this.#connector.list();
  }

  end(name: string): boolean {
    const wasThere = this.#connector.end(name);
    this.#schedule();
    return wasThere;
  }

  setPaused(name: string, isPaused: boolean): boolean {
    const wasThere = this.#connector.setPaused(name, isPaused);
    this.#schedule();
    return wasThere;
  }

  /** Called by sign-in: a grant or a key has ended, and with it what was published by it. */
  leaseEnded(tag: string): void {
    for (const each of this.#connections(tag)) {
      this.#connector.revoked(each, "The access of this command has ended");
    }
    this.#connector.leaseEnded(tag);
    this.#schedule();
  }

  /** Of a branch of the fan-out, as a feed's. */
  watch(branch: number, change: TopicChange): readonly Topic[] {
    return this.#news().watch(branch, change);
  }

  override alarm(): void {
    this.#clock.fired();
    this.#connector.deleteKept();
    this.#schedule();
    this.#news().wake();
  }

  #schedule(): void {
    this.#clock.noLaterThan(this.#connector.sweep());
  }

  #connections(tag?: string): Connection[] {
    const sockets = this.ctx.getWebSockets(tag);
    return sockets.flatMap((socket) => connectionOf(this.ctx, socket) ?? []);
  }

  #listed(): void {
    this.#news().grown();
    this.#releaseUnused();
  }

  /**
   * Sign-in forgets the person while they publish nothing and no machine of theirs is connected. One that is
   * connected may publish at any time, so the end of its right has to reach it.
   *
   * @param closed the id of a connection that is over, which the platform may still list.
   */
  #releaseUnused(closed?: string): void {
    if (!this.#isSignedIn || this.#isInUse(closed)) return;
    const released = this.#onRecord(async (shard) => {
      if (!this.#isInUse(closed)) await shard.releasePublisher(this.#person);
    });
    this.ctx.waitUntil(released.catch(logUnexpected));
  }

  #isInUse(closed: string | undefined): boolean {
    const { servers, paused } = this.#connector.list();
    const isConnected = this.#connections().some(({ id }) => id !== closed);
    return isConnected || servers.length + paused.length > 0;
  }

  /** One after the other: a machine that connects anew must not be forgotten with the connection before. */
  #onRecord<T>(change: (shard: AuthShard) => Promise<T>): Promise<T> {
    return this.#record.run(this.#person, () => change(authStoreIn(this.env).ofUser(this.#person)));
  }

  /** The feed marks the server, or reads it again. Without the report it finds out later. */
  #report(slug: string, offline: Offline | undefined): void {
    const trouble = offline && { reason: "offline", ...offline };
    this.ctx.waitUntil(
      this.#feedOf(slug)
        .report(trouble)
        .catch(() => undefined),
    );
  }

  #feedOf(slug: string): ReturnType<typeof feedAt> {
    return feedAt(this.env, publishedKey(slug, this.#person));
  }

  /** Made when it is used: most calls need none of it. */
  #news(): VersionNews {
    const { ctx, env } = this;
    this.#made ??= new VersionNews({
      key: publisherKey(this.#person),
      sql: meteredSql(ctx.storage.sql),
      publish: (branch, news) => branchAt(env, branch).publish(news),
      isOld: (known) => {
        const { version, servers } = this.#connector.list();
        // Whoever knows of nothing has nothing to learn while there is nothing.
        return known < version && (known > 0 || servers.length > 0);
      },
      alarm: this.#clock,
      now: () => Date.now(),
    });
    return this.#made;
  }
}

function attachmentOf(socket: WebSocket): Attachment | undefined {
  return (socket.deserializeAttachment() as Attachment | null) ?? undefined;
}

/** @returns `undefined` for one that has ended. */
function connectionOf(ctx: DurableObjectState, socket: WebSocket): Connection | undefined {
  const { id, openedAt } = attachmentOf(socket) ?? {};
  if (id === undefined || openedAt === undefined) return undefined;
  // The platform lists one that this end has closed, and delivers its messages, until the other end has closed it.
  if (socket.readyState !== WebSocket.READY_STATE_OPEN) return undefined;
  return {
    id,
    openedAt,
    leases: ctx.getTags(socket).filter((tag) => tag !== id),
    get seenAt() {
      return ctx.getWebSocketAutoResponseTimestamp(socket)?.getTime() ?? openedAt;
    },
    send(text) {
      count("webSocketMessagesOut");
      socket.send(text);
    },
    close: (code, reason) => socket.close(code, reason),
  };
}
