/**
 * A session's way to the servers of its endpoint, one or many. A client's messages go to the server that
 * they are for; a server's messages come back with resume tokens that lead to the server.
 */

import { OutdatedLists } from "../../catalog/cache/outdated-lists.ts";
import { toolFactsOf } from "../../catalog/cache/tool-facts.ts";
import type { RequestScope } from "../../catalog/request-scope.ts";
import { serverOf } from "../../endpoint/endpoint.ts";
import { targetHash } from "../../endpoint/server.ts";
import { clientKind } from "../../endpoint/client-kind.ts";
import { EndpointSubscriptions } from "../../notifications/legacy/endpoint-subscriptions.ts";
import type { SavedInbox } from "../../notifications/legacy/notification-inbox.ts";
import type { NewsSource } from "../../notifications/legacy/session-interests.ts";
import type { SavedWanted } from "../../notifications/legacy/session-subscriptions.ts";
import { logUnexpected } from "../../observability/unexpected.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import type { Call, OpenQuestion, Peer } from "../../protocol/exchange.ts";
import { errorReply, type Reply } from "../../protocol/json-rpc.ts";
import { readToken } from "../../relay/client-peer.ts";
import type { ServerInSession } from "../../relay/server-in-session.ts";
import { readServerResumeToken, resumeTokensIn } from "../../relay/server-resume-token.ts";
import type {
  ClientFacts,
  Dispatch,
  Forgotten,
  Unsolicited,
  Watched,
} from "../../sessions/dispatch.ts";
import type { EndedAccount } from "../../upstream/credentials.ts";
import { UpstreamError } from "../../upstream/upstream-error.ts";
import { answerRequest, attributedReply, type SessionContext } from "./answer-request.ts";
import { type SavedServers, ServerSessions } from "./server-sessions.ts";

/** The state that outlives the holder's memory; plain data. It is written on change, which is rare. */
export interface SavedDispatch {
  readonly upstreams: SavedServers;
  readonly wanted?: SavedWanted;
  /** The servers at which the client's own sessions are subscribed, as well as the feeds. */
  readonly own?: readonly string[];
  /** The log level that the client has set for all servers. */
  readonly logLevel?: string;
}

export interface SessionDispatchOptions {
  readonly requestScope: RequestScope;
  readonly client: ClientFacts;
  readonly unsolicited: Unsolicited;
  readonly source: NewsSource;
  readonly saved: SavedDispatch;
  readonly save: (change: Partial<SavedDispatch>) => void;
  readonly savedInbox: SavedInbox | undefined;
  readonly saveInbox: (state: SavedInbox) => void;
}

export class SessionDispatch implements Dispatch {
  readonly subscriptions: EndpointSubscriptions;
  readonly #context: SessionContext;
  readonly #servers: ServerSessions;

  constructor(options: SessionDispatchOptions) {
    const { requestScope, client, unsolicited, source, saved, save } = options;
    const { limits } = requestScope;
    const kind = clientKind(client.revision, client.capabilities);
    const outdatedLists = new OutdatedLists(requestScope);
    let { logLevel } = saved;
    this.subscriptions = new EndpointSubscriptions({
      requestScope,
      source,
      own: {
        saved: saved.own ?? [],
        save: (slugs) => save({ own: slugs }),
        request: (slug, call) => this.#servers.requestFor(slug, call),
        takesSubscriptions: (slug) => this.#servers.takesSubscriptions(slug),
      },
      attributed: unsolicited,
      isSilent: () => {
        const { isMerged, servers } = requestScope.endpoint;
        return !isMerged && this.#servers.isSilent(servers[0]);
      },
      savedWanted: saved.wanted,
      saveWanted: (wanted) => save({ wanted }),
      savedInbox: options.savedInbox,
      saveInbox: options.saveInbox,
    });
    this.#servers = new ServerSessions({
      scope: requestScope,
      client,
      unsolicited,
      toolFacts: (server) => toolFactsOf(requestScope, server, kind),
      maxTools: limits.catalogItems,
      saved: saved.upstreams,
      save: (upstreams) => save({ upstreams }),
      onSilent: () => this.subscriptions.silenced(),
      logLevel: () => logLevel,
      passes: (slug, notice) => this.subscriptions.passes(slug, notice),
      outdated: (server, list) => outdatedLists.tell(server, list),
      subscriptions: (slug) => this.subscriptions.ownUris(slug),
      onMissed: (slug) => this.subscriptions.missed(slug),
    });
    this.#context = {
      requestScope,
      client: kind,
      servers: this.#servers,
      subscriptions: this.subscriptions,
      setLogLevel: (level) => {
        logLevel = level;
        save({ logLevel: level });
      },
    };
  }

  async request(call: Call, peer: Peer, signal: AbortSignal): Promise<Reply> {
    this.subscriptions.seen();
    try {
      return await answerRequest(this.#context, call, { peer, signal });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const reference = logUnexpected(error);
      return errorReply(ErrorCode.InternalError, `The gateway failed (reference ${reference})`);
    }
  }

  async resume(
    resumeToken: string | undefined,
    peer: Peer,
    signal: AbortSignal,
    asked: readonly OpenQuestion[] = [],
  ): Promise<Reply> {
    const { servers, isMerged } = this.#context.requestScope.endpoint;
    const led = readServerResumeToken(resumeToken);
    const slug = led?.slug ?? (isMerged ? undefined : servers[0].slug);
    const server = slug === undefined ? undefined : this.#servers.find(slug);
    if (slug === undefined || server === undefined) {
      const whom = slug === undefined ? "A call" : `A call of upstream "${slug}"`;
      const message = `${whom} was being waited for when the gateway restarted; the result is unknown`;
      return errorReply(ErrorCode.InternalError, message);
    }
    const open = asked.flatMap(({ resumeToken, wait }) => {
      const own = readServerResumeToken(resumeToken)?.resumeToken;
      return own === undefined ? [] : [{ resumeToken: own, wait }];
    });
    const reply = await server.resume(led?.resumeToken, peer, signal, open);
    return isMerged ? attributedReply(reply, slug) : reply;
  }

  async answer(resumeToken: string, reply: Reply): Promise<boolean> {
    const { slug, resumeToken: own } = readServerResumeToken(resumeToken) ?? {};
    if (slug === undefined || own === undefined) return true;
    return this.#servers.find(slug)?.answer(own, reply) ?? true;
  }

  async notify(call: Call): Promise<void> {
    const { endpoint } = this.#context.requestScope;
    if (call.method === "notifications/progress") {
      await this.#notifyAsker(call);
    } else if (!endpoint.isMerged) {
      await this.#servers.at(endpoint.servers[0]).notify(call);
    } else {
      // A server that is opened later does not need the notification.
      const opened = this.#servers.opened().map((server) => this.#servers.at(server));
      await Promise.all(opened.map((server) => server.notify(call)));
    }
  }

  /** Sends a client's progress on a question to the server that asked it. */
  async #notifyAsker({ method, params }: Call): Promise<void> {
    const asker = readToken(params?.progressToken);
    if (asker === undefined) return;
    const progress = { method, params: { ...params, progressToken: asker.token } };
    await this.#servers.find(asker.slug)?.notify(progress);
  }

  async listen(resumeToken: string | undefined, isWatched: boolean): Promise<void> {
    const tokens = resumeTokensIn(resumeToken);
    await Promise.all(
      this.#listened().map(({ slug, server }) => server.listen(tokens.get(slug), isWatched)),
    );
  }

  unlisten(): void {
    for (const { session } of this.#servers.all()) session?.unlisten();
  }

  async watched(
    resumeToken: string | undefined,
    onUnreachable?: () => void,
  ): Promise<object | undefined> {
    const tokens = resumeTokensIn(resumeToken);
    const listened = this.#listened();
    const requests = await Promise.all(
      listened.map(async ({ slug, server }) => {
        const request = await server.watched(tokens.get(slug)).catch((error: unknown) => {
          // An account that is connected later is heard of.
          if (!(error instanceof UpstreamError) || error.need === undefined) onUnreachable?.();
          return undefined;
        });
        const at = serverOf(this.#context.requestScope.endpoint, slug);
        if (request === undefined || at === undefined) return undefined;
        return [slug, { ...request, targetHash: await targetHash(at) }] as const;
      }),
    );
    const handedOver = requests.filter((request) => request !== undefined);
    // With nothing to hand over, the streams stay open here.
    return handedOver.length === 0 && listened.some(({ server }) => server.session !== undefined)
      ? undefined
      : Object.fromEntries(handedOver);
  }

  handedOver(slug: string): void {
    this.#servers.find(slug)?.session?.handedOver();
  }

  async receive(watched: Watched): Promise<void> {
    const { slug, known = [] } = watched;
    const own = known.flatMap((text) => resumeTokensIn(text).get(slug) ?? []);
    await this.#servers.find(slug)?.session?.receive({ ...watched, known: own });
  }

  async forgotten({ slug, sessionId }: Forgotten): Promise<void> {
    await this.#servers.find(slug)?.session?.forgotten(sessionId);
  }

  async accountEnded(ended: EndedAccount): Promise<void> {
    const { slug } = ended;
    // What is remembered of the account must not open a session anew.
    serverOf(this.#context.requestScope.endpoint, slug)?.target.credentials?.changed();
    await this.#servers.find(slug)?.session?.accountEnded(ended);
  }

  serversChanged(): void {
    this.#context.requestScope.waitUntil(this.#servers.closeChanged());
    this.subscriptions.serversChanged();
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.#servers.close(), this.subscriptions.end()]);
  }

  /** The servers that may send messages on their own. With several, listening opens no session. */
  #listened(): readonly { readonly slug: string; readonly server: ServerInSession }[] {
    const { servers, isMerged } = this.#context.requestScope.endpoint;
    const listened = isMerged ? this.#servers.opened() : [servers[0]];
    return listened.map((server) => ({ slug: server.slug, server: this.#servers.at(server) }));
  }
}
