/**
 * A host of 2024-11-05 to 2025-11-25 at the gateway: one session of Streamable HTTP, which the host does not
 * see. Streams that break are taken up after their last event; a session that the gateway no longer knows is
 * begun anew with the host's own `initialize`.
 */

import { isObject, type JsonObject } from "../../src/protocol/json-rpc.ts";
import { Broken, NotReached, reasonOf } from "../http/failures.ts";
import { type Gateway, type GatewayRequest, readBody } from "../http/gateway.ts";
import { isModern } from "../http/modern-headers.ts";
import {
  cancellationText,
  INITIALIZED,
  type Message,
  readMessage,
  requestsOf,
} from "../stdio/message.ts";
import { answerWith, failWith, isStream, onlyAnswer, POST_HEADERS } from "./answers.ts";
import type { Call, Calls } from "./calls.ts";
import { LegacyStreams } from "./legacy-streams.ts";
import { deadlineOf, type RelayOptions } from "./options.ts";
import { repeated } from "./repeatable.ts";
import { SessionState } from "./session-state.ts";

/** The session at the gateway; another one takes its place when the gateway has forgotten it. */
interface Session {
  /** Of each request in it. */
  readonly headers: Readonly<Record<string, string>>;
  /** Those of the server. */
  readonly capabilities: JsonObject;
  /** Aborted when it is over. */
  readonly end: AbortController;
}

/** What one message of the host has on its way. */
interface Sending {
  readonly message: Message;
  readonly asked: readonly Call[];
  readonly deadline: number;
}

/** The first revision that has `MCP-Protocol-Version` on the requests of a session. */
const SINCE_HEADER = "2025-06-18";
const MOST_RENEWALS = 3;
const NO_SESSION: Session = { headers: {}, capabilities: {}, end: new AbortController() };

export class LegacySession {
  readonly #gateway: Gateway;
  readonly #calls: Calls;
  readonly #options: RelayOptions;
  readonly #streams: LegacyStreams;
  readonly #state = new SessionState();
  readonly #closed = new AbortController();
  #isWanted = false;
  #session = NO_SESSION;
  #renewal: Promise<void> | undefined;
  /** What comes later waits for it: messages without an answer arrive in the order of the host. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(gateway: Gateway, calls: Calls, options: RelayOptions) {
    this.#gateway = gateway;
    this.#calls = calls;
    this.#options = options;
    this.#streams = new LegacyStreams(gateway, calls);
  }

  /** True once the host has sent `initialize`. */
  get isWanted(): boolean {
    return this.#isWanted;
  }

  take(message: Message): void {
    const asked = requestsOf(message).map((request) => this.#calls.begin(request));
    const sending = { message, asked, deadline: deadlineOf(this.#options) };
    const isFirst = asked.some(({ request }) => request.method === "initialize");
    this.#isWanted ||= isFirst;
    const send = (): Promise<void> => (isFirst ? this.#initialize(sending) : this.#relay(sending));
    const sent = this.#turn
      .then(() => repeated(asked, waitOf(asked) ?? this.#closed.signal, send))
      .catch((error: unknown) => this.#fail(sending, error));
    // Requests run side by side; everything after `initialize` needs its session.
    if (asked.length === 0 || isFirst) this.#turn = sent;
  }

  /** Takes back what runs, and deletes the session. */
  async close(): Promise<void> {
    const open = this.#calls.open.filter(({ request }) => !isModern(request));
    const told = open.map(({ request }) =>
      this.#tell(cancellationText(request.id, "The host has gone"), this.#session, 0),
    );
    await Promise.allSettled(told);
    await this.#leave(this.#session);
    this.#closed.abort();
  }

  /** "Clients that no longer need a particular session SHOULD send an HTTP DELETE" (Streamable HTTP, sessions). */
  async #leave({ headers, end }: Session): Promise<void> {
    end.abort();
    if (!("mcp-session-id" in headers)) return;
    const request = { method: "DELETE", headers, signal: this.#closed.signal } as const;
    await this.#gateway.send(request, { deadline: 0 }).catch(() => undefined);
  }

  async #initialize({ message, asked, deadline }: Sending): Promise<void> {
    // A host that begins anew does not wait for the end of what was before.
    void this.#leave(this.#session);
    this.#session = NO_SESSION;
    const { response, text, session } = await this.#introduce(message, deadline, waitOf(asked));
    if (session !== undefined) {
      this.#session = session;
      this.#state.begin(message);
    }
    await answerWith(this.#calls, asked, response, text);
  }

  /** Opens a session. @returns it, with its answer; `undefined` with the refusal. */
  async #introduce(
    { text: body }: Message,
    deadline: number,
    waiting?: AbortSignal,
  ): Promise<{
    readonly response: Response;
    readonly text: string;
    readonly session: Session | undefined;
  }> {
    const request = this.#post(body, NO_SESSION);
    const response = await this.#gateway.send(request, { deadline, waiting });
    const text = await onlyAnswer(response);
    const [part] = readMessage(text)?.parts ?? [];
    const result = part?.kind === "response" ? part.result : undefined;
    return { response, text, session: result && sessionOf(response, result) };
  }

  async #relay({ message, asked, deadline }: Sending): Promise<void> {
    for (let renewals = 0; ; renewals++) {
      const session = this.#session;
      const request = this.#post(message.text, session);
      const response = await this.#gateway.send(request, { deadline, waiting: waitOf(asked) });
      const isForgotten = response.status === 404 && session !== NO_SESSION;
      if (!isForgotten || renewals === MOST_RENEWALS) {
        await this.#receive(message, asked, response);
        return;
      }
      // It did not run: the gateway does not know the session.
      await response.body?.cancel();
      await this.#renew(session, deadline);
      // An answer to a question of the old session means nothing in another one.
      if (message.parts.some(({ kind }) => kind === "response")) return;
    }
  }

  async #receive(message: Message, asked: readonly Call[], response: Response): Promise<void> {
    if (isStream(response)) {
      await this.#streams.follow(response, asked, this.#session.headers, this.#closed.signal);
      if (asked.some(({ isOver }) => !isOver)) throw new Broken("the stream ended");
    } else {
      const text = await readBody(response);
      await answerWith(this.#calls, asked, response, text);
      if (!response.ok && asked.length === 0) {
        throw new Error(`status ${response.status}${text === "" ? "" : `: ${text}`}`);
      }
    }
    if (response.ok) this.#note(message);
  }

  /** After `notifications/initialized` the standalone stream is opened (Streamable HTTP, listening). */
  #note(message: Message): void {
    this.#state.note(message);
    for (const part of message.parts) {
      if (part.kind === "notification" && part.method === INITIALIZED) this.#listen(this.#session);
    }
  }

  #listen(session: Session, hasMissed = false): void {
    const signal = AbortSignal.any([session.end.signal, this.#closed.signal]);
    const onMissed = async (): Promise<void> => {
      for (const text of this.#state.missedIn(session.capabilities))
        await this.#calls.deliver(text);
    };
    this.#streams
      .listen(session.headers, signal, onMissed, hasMissed)
      .then((end) => (end === "unknown session" ? this.#renew(session, Infinity) : undefined))
      // The next request of the host finds out for itself.
      .catch(() => undefined);
  }

  /** Opens another session in place of one that the gateway has forgotten, once for all who found out. */
  async #renew(forgotten: Session, deadline: number): Promise<void> {
    if (this.#session !== forgotten) return;
    const open = (): Promise<void> => this.#openAnew(forgotten, deadline);
    this.#renewal ??= repeated([], this.#closed.signal, open).finally(() => {
      this.#renewal = undefined;
    });
    await this.#renewal;
  }

  /** The session takes the place of the forgotten one once it is whole: until then, requests wait for it. */
  async #openAnew(forgotten: Session, deadline: number): Promise<void> {
    const { introduction, later } = this.#state;
    if (introduction === undefined) return;
    forgotten.end.abort();
    this.#options.notice("the gateway has forgotten the session; opening another one");
    const { response, session } = await this.#introduce(introduction, deadline);
    if (session === undefined) {
      throw new NotReached(
        `${this.#gateway.url.href} opens no session (status ${response.status})`,
      );
    }
    try {
      for (const text of later) await this.#tell(text, session, deadline);
      // The host may have begun anew meanwhile.
      if (this.#session === forgotten) {
        this.#session = session;
        this.#listen(session, true);
      }
    } finally {
      if (this.#session !== session) void this.#leave(session);
    }
  }

  /** Sends a message of the command's own, whose answer is no news to the host. */
  async #tell(text: string, session: Session, deadline: number): Promise<void> {
    const response = await this.#gateway.send(this.#post(text, session), { deadline });
    await response.body?.cancel();
  }

  #post(body: string, session: Session): GatewayRequest {
    const headers = { ...POST_HEADERS, ...session.headers };
    return { method: "POST", headers, body, signal: this.#closed.signal };
  }

  async #fail({ message, asked }: Sending, error: unknown): Promise<void> {
    if (this.#closed.signal.aborted) return;
    await failWith(this.#calls, asked, error, this.#gateway.url);
    if (asked.length > 0) return;
    const names = message.parts.map((part) => ("method" in part ? part.method : "an answer"));
    this.#options.notice(`${names.join(", ")} was not taken (${reasonOf(error)})`);
  }
}

/** Ends a wait of the request, but not of a batch: what is cancelled in it is cancelled when it has arrived. */
function waitOf(asked: readonly Call[]): AbortSignal | undefined {
  const [only, ...others] = asked;
  return others.length === 0 ? only?.over : undefined;
}

function sessionOf({ headers }: Response, result: JsonObject): Session {
  const id = headers.get("mcp-session-id");
  const { protocolVersion: revision, capabilities } = result;
  const isNamed = typeof revision === "string" && revision >= SINCE_HEADER;
  return {
    headers: {
      ...(id !== null && { "mcp-session-id": id }),
      ...(isNamed && { "mcp-protocol-version": revision }),
    },
    capabilities: isObject(capabilities) ? capabilities : {},
    end: new AbortController(),
  };
}
