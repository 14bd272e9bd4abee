/**
 * The sessions of one client's session at its servers: each is opened on first use, and restored after
 * a restart from its saved state. A server that is never called has none.
 */

import { ErrorCode } from "../../protocol/error-codes.ts";
import type { Call, Peer } from "../../protocol/exchange.ts";
import { errorReply, isObject, type JsonObject, type Reply } from "../../protocol/json-rpc.ts";
import type { Dispatch, Unsolicited } from "../../sessions/dispatch.ts";
import { isSavedModern, type SavedServer } from "../../upstream/legacy/saved-connection.ts";
import { type Endpoint, serverOf } from "../../endpoint/endpoint.ts";
import type { Server } from "../../endpoint/server.ts";
import { type ServerAttribution, attributedUnsolicited } from "./server-attribution.ts";

export type SavedServers = Readonly<Record<string, SavedServer>>;

/** The arguments for a session at a server. */
export interface ServerSide {
  readonly unsolicited: Unsolicited;
  readonly saved: SavedServer | undefined;
  /** Called with the new state whenever it changes. */
  readonly save: (state: SavedServer) => void;
  /** The log level that the client has set for all servers, if any. */
  readonly logLevel: () => string | undefined;
  /** The resources to subscribe to whenever the session is opened anew. */
  readonly subscriptions: () => readonly string[];
}

/** Makes the dispatch to one server. */
type ConnectServer = (server: Server, side: ServerSide) => Dispatch;

export interface ServerSessionsOptions {
  readonly endpoint: Endpoint;
  readonly connect: ConnectServer;
  readonly unsolicited: Unsolicited;
  readonly saved: SavedServers;
  readonly save: (saved: SavedServers) => void;
  /** Called when a server turns out to send nothing but replies to requests. */
  readonly onSilent: () => void;
  readonly logLevel: () => string | undefined;
  /** True when the client gets a server's notification. */
  readonly passes: (slug: string, notice: Call) => boolean;
  readonly subscriptions: (slug: string) => readonly string[];
}

export class ServerSessions {
  readonly #options: ServerSessionsOptions;
  readonly #made = new Map<string, Dispatch>();
  readonly #saved: Map<string, SavedServer>;

  constructor(options: ServerSessionsOptions) {
    this.#options = options;
    // The saved state of a server that is no longer configured is dropped.
    const { endpoint, saved } = options;
    const known = Object.entries(saved).filter(([slug]) => serverOf(endpoint, slug) !== undefined);
    this.#saved = new Map(known);
  }

  at(server: Server): Dispatch {
    const { slug } = server;
    let dispatch = this.#made.get(slug);
    if (dispatch === undefined) this.#made.set(slug, (dispatch = this.#make(server)));
    return dispatch;
  }

  /** @returns `undefined` for a server that is not configured any more. */
  find(slug: string): Dispatch | undefined {
    const server = serverOf(this.#options.endpoint, slug);
    return server === undefined ? undefined : this.at(server);
  }

  /** The servers that were opened, before or after a restart of the session's holder. */
  *opened(): Generator<{ readonly slug: string; readonly dispatch: Dispatch }, void, void> {
    for (const server of this.#options.endpoint.servers) {
      const { slug } = server;
      if (this.#saved.has(slug)) yield { slug, dispatch: this.at(server) };
    }
  }

  /** Sends the log level to all opened servers that have logging. Never rejects. */
  async tellLogLevel(level: string): Promise<void> {
    const call = { method: "logging/setLevel", params: { level } };
    const opened = [...this.opened()].filter(({ slug }) => this.#hasLogging(slug));
    await Promise.all(opened.map(({ slug }) => this.requestFor(slug, call)));
  }

  /** Makes a request on the gateway's own behalf. Never rejects. */
  async requestFor(slug: string, call: Call): Promise<Reply> {
    const { unsolicited, passes } = this.#options;
    const attributed: Peer = {
      notify: (notice) => (passes(slug, notice) ? unsolicited.notify(notice) : Promise.resolve()),
      ask: (question, withdrawn) => unsolicited.ask(question, withdrawn),
    };
    const { signal } = new AbortController();
    const reply = await this.find(slug)?.request(call, attributed, signal);
    return reply ?? errorReply(ErrorCode.InternalError, `There is no upstream "${slug}" any more`);
  }

  /** True for a server that sends nothing but replies to requests. */
  isSilent({ slug }: Server): boolean {
    const saved = this.#saved.get(slug);
    return saved !== undefined && isSavedModern(saved);
  }

  /** The marks on a server's messages to the client. */
  attribution(slug: string): ServerAttribution {
    const { endpoint, passes } = this.#options;
    return { slug, isNamed: endpoint.isMerged, passes: (notice) => passes(slug, notice) };
  }

  /** Opens the session at a server, if there is none, since its handshake has the answer. Never rejects. */
  async takesSubscriptions(slug: string): Promise<boolean> {
    if (!this.#saved.has(slug)) await this.requestFor(slug, { method: "ping" });
    const resources = this.#capabilitiesOf(slug)["resources"];
    return isObject(resources) && resources["subscribe"] === true;
  }

  #hasLogging(slug: string): boolean {
    return this.#capabilitiesOf(slug)["logging"] !== undefined;
  }

  /** From the handshake of a legacy server; a modern server gets everything with each request. */
  #capabilitiesOf(slug: string): JsonObject {
    const saved = this.#saved.get(slug);
    return saved === undefined || isSavedModern(saved) ? {} : saved.handshake.capabilities;
  }

  /** The dispatch of every server in use, opened or not. */
  all(): Iterable<Dispatch> {
    for (const { dispatch } of this.opened()) void dispatch; // made, so that they can be closed
    return this.#made.values();
  }

  #make(server: Server): Dispatch {
    const { connect, unsolicited, logLevel, subscriptions } = this.#options;
    const { slug } = server;
    return connect(server, {
      unsolicited: attributedUnsolicited(unsolicited, this.attribution(slug)),
      saved: this.#saved.get(slug),
      save: (state) => {
        const wasSilent = this.isSilent(server);
        this.#saved.set(slug, state);
        this.#options.save(Object.fromEntries(this.#saved));
        if (this.isSilent(server) && !wasSilent) this.#options.onSilent();
      },
      logLevel,
      subscriptions: () => subscriptions(slug),
    });
  }
}
