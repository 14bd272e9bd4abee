/**
 * The servers of one client's session: each is used from its first request on, and restored after a
 * restart from its saved state. A server that is never called has none.
 */

import type { ToolFactsOf } from "../../catalog/cache/tool-facts.ts";
import type { ListTopic } from "../../catalog/topics.ts";
import { type Endpoint, serverOf } from "../../endpoint/endpoint.ts";
import { isSameForCaller, type Server } from "../../endpoint/server.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import { type Call, withoutResumeTokens } from "../../protocol/exchange.ts";
import { canSubscribe } from "../../protocol/capabilities.ts";
import { errorReply, type JsonObject, type Reply } from "../../protocol/json-rpc.ts";
import { hasOlderTasks } from "../../protocol/capabilities.ts";
import { ServerInSession } from "../../relay/server-in-session.ts";
import type { TasksScope } from "../../relay/tasks/client-tasks.ts";
import type { ClientFacts, Unsolicited } from "../../sessions/dispatch.ts";
import { isSavedModern, type SavedServer } from "../../upstream/legacy/saved-connection.ts";

export type SavedServers = Readonly<Record<string, SavedServer>>;

export interface ServerSessionsOptions {
  /** Its endpoint has other servers when an operator changes them, or its person publishes others. */
  readonly scope: TasksScope & { readonly endpoint: Endpoint };
  readonly client: ClientFacts;
  readonly unsolicited: Unsolicited;
  readonly toolFacts: (server: Server) => ToolFactsOf;
  /** The largest number of a server's tools that are looked at. */
  readonly maxTools: number;
  readonly saved: SavedServers;
  readonly save: (saved: SavedServers) => void;
  /** Called when a server turns out to send nothing but replies to requests. */
  readonly onSilent: () => void;
  readonly logLevel: () => string | undefined;
  /** True when the client gets a server's notification. */
  readonly passes: (slug: string, notice: Call) => boolean;
  /** Called before the client gets a notification that a list has changed. Never rejects. */
  readonly outdated: (server: Server, list: ListTopic) => Promise<void>;
  readonly subscriptions: (slug: string) => readonly string[];
  readonly onMissed: (slug: string) => void;
}

interface Made {
  readonly of: Server;
  readonly is: ServerInSession;
}

export class ServerSessions {
  readonly #options: ServerSessionsOptions;
  readonly #made = new Map<string, Made>();
  readonly #saved: Map<string, SavedServer>;
  #isOver = false;

  constructor(options: ServerSessionsOptions) {
    this.#options = options;
    // The saved state of a server that is no longer configured is dropped.
    const { scope, saved } = options;
    const known = Object.entries(saved).filter(
      ([slug]) => serverOf(scope.endpoint, slug) !== undefined,
    );
    this.#saved = new Map(known);
  }

  at(server: Server): ServerInSession {
    const { slug } = server;
    let made = this.#made.get(slug);
    if (made === undefined) {
      made = { of: server, is: this.#make(server) };
      this.#made.set(slug, made);
      // Nobody would end what it opens.
      if (this.#isOver) void made.is.close();
    }
    return made.is;
  }

  /**
   * Ends what was opened at servers that are gone, or are reached in another way now, or for another caller: the
   * session may have learned who that is. Never rejects.
   */
  async closeChanged(): Promise<void> {
    const { endpoint } = this.#options.scope;
    const ended: (Made | undefined)[] = [];
    for (const slug of new Set([...this.#saved.keys(), ...this.#made.keys()])) {
      const server = serverOf(endpoint, slug);
      const made = this.#made.get(slug);
      if (server !== undefined && (made === undefined || isSameForCaller(server, made.of)))
        continue;
      this.#made.delete(slug);
      this.#saved.delete(slug);
      ended.push(made);
    }
    if (ended.length === 0) return;
    this.#options.save(Object.fromEntries(this.#saved));
    await Promise.all(ended.map(async (made) => made?.is.close()));
  }

  /** The client's session is over: whoever still waits to use a server opens nothing there. Never rejects. */
  async close(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.all().map((server) => server.close()));
  }

  /** @returns `undefined` for a server that is not configured any more. */
  find(slug: string): ServerInSession | undefined {
    const server = serverOf(this.#options.scope.endpoint, slug);
    return server === undefined ? undefined : this.at(server);
  }

  /** The servers that were opened, before or after a restart of the session's holder. */
  opened(): readonly Server[] {
    return this.#options.scope.endpoint.servers.filter(({ slug }) => this.#saved.has(slug));
  }

  /** Sends the log level to all opened servers that have logging. Never rejects. */
  async sendLogLevel(level: string): Promise<void> {
    const call = { method: "logging/setLevel", params: { level } };
    const opened = this.opened().filter(({ slug }) => this.#hasLogging(slug));
    await Promise.all(opened.map(({ slug }) => this.requestFor(slug, call)));
  }

  /** Makes a request on the gateway's own behalf. Never rejects. */
  async requestFor(slug: string, call: Call): Promise<Reply> {
    // An event id of this request's stream is no position in the standalone stream.
    const peer = withoutResumeTokens(this.#options.unsolicited);
    const reply = await this.find(slug)?.request(call, peer, new AbortController().signal);
    return reply ?? goneReply(slug);
  }

  /** True for a server that sends nothing but replies to requests. */
  isSilent({ slug }: Server): boolean {
    const saved = this.#saved.get(slug);
    return saved !== undefined && isSavedModern(saved);
  }

  /** Opens the session at a server, if there is none, since its handshake has the answer. Never rejects. */
  async takesSubscriptions(slug: string): Promise<boolean> {
    if (!this.#saved.has(slug)) await this.requestFor(slug, { method: "ping" });
    return canSubscribe(this.#capabilitiesOf(slug));
  }

  #hasLogging(slug: string): boolean {
    const { logging } = this.#capabilitiesOf(slug);
    return logging !== undefined;
  }

  /** From the handshake of a legacy server; a modern server gets everything with each request. */
  #capabilitiesOf(slug: string): JsonObject {
    const saved = this.#saved.get(slug);
    return saved === undefined || isSavedModern(saved) ? {} : saved.handshake.capabilities;
  }

  /** Every server in use, opened or not. */
  all(): readonly ServerInSession[] {
    for (const server of this.opened()) this.at(server); // made, so that they can be closed
    return [...this.#made.values()].map(({ is }) => is);
  }

  #make(server: Server): ServerInSession {
    const {
      scope,
      client,
      passes,
      outdated,
      maxTools,
      toolFacts,
      unsolicited,
      logLevel,
      subscriptions,
      onMissed,
    } = this.#options;
    const { endpoint } = scope;
    const { slug, target } = server;
    return new ServerInSession({
      target,
      client,
      unsolicited,
      logLevel,
      maxTools,
      toolFacts: toolFacts(server),
      view: {
        slug,
        revision: client.revision,
        isNamed: endpoint.isMerged,
        passes: (notice) => passes(slug, notice),
        outdated: (list) => outdated(server, list),
      },
      // Several servers at one endpoint advertise no tasks: a list would have to be merged.
      tasksScope: !endpoint.isMerged && hasOlderTasks(client.revision) ? scope : undefined,
      subscriptions: () => subscriptions(slug),
      onMissed: () => onMissed(slug),
      saved: this.#saved.get(slug),
      save: (state) => {
        // What is closed saves its end.
        if (this.#made.get(slug)?.of !== server) return;
        const wasSilent = this.isSilent(server);
        this.#saved.set(slug, state);
        this.#options.save(Object.fromEntries(this.#saved));
        if (this.isSilent(server) && !wasSilent) this.#options.onSilent();
      },
    });
  }
}

/** The reply to a request that was for a server which is not configured any more. */
export function goneReply(slug: string): Reply {
  return errorReply(ErrorCode.InternalError, `There is no upstream "${slug}" any more`);
}
