/**
 * One server of a client's legacy session: requests are relayed over a session at the server, each hop
 * with its own ids, or to a modern server, which has no sessions. The client's own era is preferred. The
 * era shows on first use, is saved, and is determined anew when the server no longer supports it.
 */

import type { ToolFactsOf } from "../catalog/cache/tool-facts.ts";
import type { Call, OpenQuestion, Peer } from "../protocol/exchange.ts";
import { ErrorCode } from "../protocol/error-codes.ts";
import { errorReply, type Reply } from "../protocol/json-rpc.ts";
import type { Result } from "../protocol/message-members.ts";
import { isLogLevel, noSuchLevel } from "../protocol/log-levels.ts";
import type { Era } from "../protocol/revisions.ts";
import { toLegacyResult } from "../protocol/revisions/to-legacy-result.ts";
import type { LegacyReader } from "../protocol/revisions/tool.ts";
import type { ClientFacts, Unsolicited } from "../sessions/dispatch.ts";
import { LegacyConnection } from "../upstream/legacy/connection.ts";
import { isSavedModern, type SavedServer } from "../upstream/legacy/saved-connection.ts";
import type { StandaloneWatchRequest } from "../upstream/legacy/watch-standalone-stream.ts";
import type { UpstreamTarget } from "../upstream/target.ts";
import { failureReply, isOtherEra, UpstreamError } from "../upstream/upstream-error.ts";
import { clientPeer, type ServerView, unsolicitedPeer } from "./client-peer.ts";
import { callModernServer } from "./legacy-to-modern/call-modern-server.ts";
import {
  ClientTasks,
  isForTasks,
  type TasksScope,
  withoutTaskStatus,
} from "./tasks/client-tasks.ts";
import { type Sent, TaskTools } from "./tasks/task-tools.ts";

export interface ServerInSessionOptions {
  readonly target: UpstreamTarget;
  readonly client: ClientFacts;
  readonly view: ServerView;
  /** Receives the messages that belong to no request. */
  readonly unsolicited: Unsolicited;
  readonly saved: SavedServer | undefined;
  /** Called with the new state whenever it changes. */
  readonly save: (state: SavedServer) => void;
  /** The log level that the client has set for every server; it precedes the one set at this server. */
  readonly logLevel: () => string | undefined;
  /** The resources that a session at the server is subscribed to whenever it is opened anew. */
  readonly subscriptions: () => readonly string[];
  /** Called when messages that belong to no request may have been missed. */
  readonly onMissed: () => void;
  readonly toolFacts: ToolFactsOf;
  /** Present where the client may use tasks at this server itself (2025-11-25, tasks). */
  readonly tasksScope: TasksScope | undefined;
  /** The largest number of the server's tools that are looked at. */
  readonly maxTools: number;
}

/** The way to the server in one era: a session, or none where the server is modern. */
interface Side {
  readonly session: LegacyConnection | undefined;
}

export class ServerInSession {
  readonly #options: ServerInSessionOptions;
  /** The tasks of the client; `undefined` for a client that has none. */
  readonly #clientTasks: ClientTasks | undefined;
  /** Runs tools that are tasks, for such a client. */
  readonly #taskTools: TaskTools;
  #saved: SavedServer | undefined;
  /** The log level that the client has set at this server; it holds in both eras. */
  #logLevel: string | undefined;
  #side: Side;
  #isOver = false;

  constructor(options: ServerInSessionOptions) {
    const { target, saved, tasksScope, maxTools } = options;
    const { slug } = target;
    this.#options = options;
    this.#taskTools = new TaskTools(slug, () => Date.now(), maxTools);
    this.#saved = saved;
    this.#logLevel = saved?.logLevel;
    const wasModern = saved !== undefined && isSavedModern(saved);
    const known = wasModern ? undefined : saved?.tasks;
    this.#clientTasks = tasksScope && new ClientTasks(tasksScope, slug, known, () => this.#kept());
    const isModern = target.era === "modern" || (target.era === "auto" && wasModern);
    this.#side = this.#sideOf(isModern ? "modern" : "legacy");
  }

  /** The session at the server; a modern server has none, and sends nothing outside a request. */
  get session(): LegacyConnection | undefined {
    return this.#side.session;
  }

  /** A server's failure is an error reply. @throws only the reason of `signal`. */
  async request(call: Call, peer: Peer, signal: AbortSignal): Promise<Reply> {
    const client = this.#peer(clientPeer(peer, this.#options.view));
    const send = ({ session }: Side): Promise<Reply> =>
      session === undefined
        ? this.#requestModern(call, client, signal)
        : this.#requestIn(session, call, client, signal);
    return this.#settled(signal, async () =>
      // With a configured era nothing is sent a second time.
      this.#isFixed
        ? send(this.#side)
        : ((await this.#inEitherEra(send)) ?? (await send(this.#side))),
    );
  }

  /** Resumes a request of an earlier life after the message of this resume token; like `request`. */
  resume(
    resumeToken: string | undefined,
    peer: Peer,
    signal: AbortSignal,
    asked: readonly OpenQuestion[] = [],
  ): Promise<Reply> {
    const client = this.#peer(clientPeer(peer, this.#options.view));
    return this.#settled(signal, async () => {
      const { session } = this.#side;
      if (session === undefined) {
        // A request whose stream was lost in a restart can neither be resumed nor sent again.
        const sentence = "was being waited for when the gateway restarted; the result is unknown";
        throw new UpstreamError(this.#options.target.slug, "lost", sentence);
      }
      const resume = (to: Peer, open?: readonly OpenQuestion[]): Promise<Reply> =>
        session.resume(resumeToken, to, signal, open);
      const request = { peer: client, signal };
      const tasks = this.#clientTasks;
      if (tasks !== undefined) {
        const open = asked.map((question) => tasks.question(question));
        return this.#translated(await tasks.resumed(await resume(client, open)));
      }
      const before = { resumeToken, asked };
      const reply = this.#taskTools.resume(inSession(session), request, before, resume);
      return this.#translated(await reply);
    });
  }

  /** Relays a notification of the client to a server that has a session. Never rejects. */
  async notify(notice: Call): Promise<void> {
    const own = this.#clientTasks === undefined ? notice : await this.#clientTasks.notice(notice);
    await this.session?.notify(own);
  }

  /** Answers a question of an earlier life; like `LegacyConnection.answer`. */
  async answer(resumeToken: string, reply: Reply): Promise<boolean> {
    const own = this.#clientTasks === undefined ? reply : await this.#clientTasks.answer(reply);
    // A question of a modern server belonged to a request that is gone.
    return this.session?.answer(resumeToken, own) ?? true;
  }

  /** Holds the server's standalone GET stream open here; returns when another watch on it may stop. */
  async listen(resumeToken: string | undefined, isWatched = false): Promise<void> {
    await this.#inEitherEra(async ({ session }) => {
      try {
        await session?.listen(resumeToken, isWatched);
        await session?.standing;
      } catch (error) {
        if (isOtherEra(error)) throw error;
        // The next call tries an upstream that is down again.
      }
    });
  }

  /** Describes that stream for a watch elsewhere; `undefined` when there is none to watch. */
  watched(resumeToken: string | undefined): Promise<StandaloneWatchRequest | undefined> {
    return this.#inEitherEra(async ({ session }) => session?.watched(resumeToken));
  }

  /** Ends the session at the server for good: whoever still waits opens no other, in either era. Never rejects. */
  async close(): Promise<void> {
    this.#isOver = true;
    await this.session?.close();
  }

  get #isFixed(): boolean {
    return this.#options.target.era !== "auto";
  }

  async #settled(signal: AbortSignal, run: () => Promise<Reply>): Promise<Reply> {
    try {
      return await run();
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      return failureReply(error, this.#options.target.slug);
    }
  }

  async #requestIn(
    session: LegacyConnection,
    call: Call,
    peer: Peer,
    signal: AbortSignal,
  ): Promise<Reply> {
    const tasks = this.#clientTasks;
    if (tasks !== undefined) {
      const reply = await tasks.request(call, (own) => session.request(own, peer, signal));
      return this.#translated(reply, call.method);
    }
    // The tasks of the server are those of others.
    if (isForTasks(call)) return errorReply(ErrorCode.MethodNotFound, "Method not found");
    const { handshake } = await session.ready();
    const sent = { call: withoutTask(call), peer, signal };
    const reply = await this.#taskTools.send(inSession(session), sent, handshake.capabilities);
    return this.#translated(reply, call.method);
  }

  async #requestModern(call: Call, peer: Peer, signal: AbortSignal): Promise<Reply> {
    const { target, client, toolFacts, logLevel } = this.#options;
    if (call.method === "logging/setLevel") return this.#setLogLevel(call.params?.level);
    const level = logLevel() ?? this.#logLevel;
    return callModernServer({ target, client, toolFacts, logLevel: level }, call, peer, signal);
  }

  /** The level belongs to the session here, and to each request at the server (2026-07-28, logging). */
  #setLogLevel(level: unknown): Reply {
    if (!isLogLevel(level)) return noSuchLevel();
    this.#keep({ era: "modern", logLevel: level });
    return { result: {} };
  }

  #translated(reply: Reply, method?: string): Reply {
    const { client } = this.#options;
    const hasTasks = this.#clientTasks !== undefined;
    return translatedReply(reply, { revision: client.revision, hasTasks }, method);
  }

  /** @returns `undefined` when the server is of the other era, which the next action then uses. */
  async #inEitherEra<T>(act: (side: Side) => Promise<T>): Promise<T | undefined> {
    const side = this.#side;
    try {
      return await act(side);
    } catch (error) {
      if (!isOtherEra(error)) throw error;
      // Another request may have switched before.
      if (!this.#isFixed && this.#side === side) {
        side.session?.unlisten();
        this.#side = this.#sideOf(side.session === undefined ? "legacy" : "modern");
        // A session that is no more announces nothing.
        if (side.session !== undefined) this.#options.onMissed();
      }
      return undefined;
    }
  }

  #sideOf(era: Era): Side {
    const { target, client, view, unsolicited, subscriptions, logLevel } = this.#options;
    const { onMissed } = this.#options;
    const saved = this.#saved;
    if (era === "modern") {
      if (saved === undefined || !isSavedModern(saved)) this.#keep({ era });
      return { session: undefined };
    }
    const session = new LegacyConnection({
      target,
      client,
      unsolicited: this.#peer(unsolicitedPeer(unsolicited, view)),
      // Over HTTP+SSE a question does not say of which call it is; a client without a stream of its own would not see it.
      isAttributed: (kind) => kind === "request" && !unsolicited.hasOpenStream(),
      subscriptions,
      onMissed,
      saved: saved === undefined || isSavedModern(saved) ? undefined : saved,
      save: (state) => this.#keep(state),
      logLevel: () => logLevel() ?? this.#logLevel,
      onReopened: () => unsolicited.reopened(),
    });
    // Nobody would end what it opens.
    if (this.#isOver) void session.close();
    return { session };
  }

  #peer(peer: Peer): Peer {
    return this.#clientTasks === undefined ? withoutTaskStatus(peer) : this.#clientTasks.peer(peer);
  }

  #keep(state: SavedServer): void {
    this.#logLevel = state.logLevel ?? this.#logLevel;
    const leveled = this.#logLevel === undefined ? state : { ...state, logLevel: this.#logLevel };
    const tasks = this.#clientTasks?.saved ?? [];
    const isPlain = isSavedModern(leveled) || tasks.length === 0;
    this.#saved = isPlain ? leveled : { ...leveled, tasks };
    this.#options.save(this.#saved);
  }

  /** The client has another task. It came over a session that is saved. */
  #kept(): void {
    if (this.#saved !== undefined) this.#keep(this.#saved);
  }
}

function inSession(session: LegacyConnection): { request: (sent: Sent) => Promise<Reply> } {
  return { request: ({ call, peer, signal }) => session.request(call, peer, signal) };
}

/** Tasks were not advertised to this client, so its `task` member is removed. */
function withoutTask({ method, params }: Call): Call {
  if (params === undefined) return { method };
  const { task: _, ...rest } = params;
  return { method, params: rest };
}

/**
 * Translates the reply of a legacy server to the client's revision. Mostly both have agreed on one, and
 * nothing changes; but servers may answer `initialize` with another, and some use members that are newer
 * than the agreed revision.
 *
 * @param method of the request; unknown after a restart.
 */
export function translatedReply(
  reply: Reply,
  { revision, hasTasks }: Omit<LegacyReader, "era">,
  method: string | undefined,
): Reply {
  if ("error" in reply) return reply;
  const reader = { revision, era: "legacy", hasTasks } as const;
  const { result } = reply;
  return { result: toLegacyResult(method ?? methodOf(result), result, reader) };
}

/** Recognises the methods whose results are translated, by members that no other result has. */
function methodOf(result: Result): string {
  const { tools, messages } = result;
  if (Array.isArray(tools)) return "tools/list";
  if (Array.isArray(messages)) return "prompts/get";
  return "content" in result || "structuredContent" in result ? "tools/call" : "";
}
