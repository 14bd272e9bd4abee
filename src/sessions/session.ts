/**
 * A legacy session, from `initialize` to DELETE. It takes a client's messages, runs the requests, and
 * puts every message of the servers on the one stream where it belongs.
 */

import type { EventLog } from "./log/event-log.ts";
import { settleWithin } from "../lib/time-out.ts";
import type { Limits } from "../policy/limits.ts";
import { ErrorCode } from "../protocol/error-codes.ts";
import { type JsonRpcRequest, type Parsed, respond } from "../protocol/json-rpc.ts";
import { Asks, placeOfQuestion } from "./asks.ts";
import { Calls, EndedEarly } from "./calls.ts";
import { type Core, type ClientTransport, peerOn, readPost, streamRefusal } from "./core.ts";
import type {
  ClientFacts,
  Connect,
  Dispatch,
  Forgotten,
  Introduce,
  Listening,
  Watched,
} from "./dispatch.ts";
import type { Channel, StreamReader } from "./stream-reader.ts";
import { HandOver } from "./hand-over.ts";
import { initialize } from "./initialize.ts";
import { type SessionOutcome, refuseRequest, type RefusedRequest } from "./session-outcome.ts";
import { type Post, receive } from "./receive.ts";
import { revive } from "./revive.ts";
import type { SessionLife } from "./state.ts";
import { type StreamPosition, Streams } from "./streams.ts";
import type { EndedAccount } from "../upstream/credentials.ts";

/** The longest time for the last answers to go out. */
const MAX_ANSWERING_MS = 5000;

export interface SessionOptions {
  readonly life: SessionLife;
  readonly transport: ClientTransport;
  /** The client as `initialize` described it; with HTTP+SSE the session exists before that. */
  readonly client: ClientFacts | undefined;
  readonly connect: Connect;
  readonly introduce: Introduce;
  readonly log: EventLog;
  /** Resolves when everything that the log has written is durable. */
  readonly synced: () => Promise<void>;
  readonly limits: Limits;
  /** Called once, after an `initialize` over HTTP+SSE. */
  readonly onInitialized: (client: ClientFacts) => void;
  /** Called when the first call starts or the last one has ended. */
  readonly onBusy: (isBusy: boolean) => void;
  /** Called when the client has opened or resumed its standalone GET stream. */
  readonly onListen: (listening: Listening) => void;
  /** Called when a stream has lost its reader. */
  readonly onDetach: () => void;
}

export class Session {
  readonly #options: SessionOptions;
  readonly #core: { -readonly [Part in keyof Core]: Core[Part] };
  readonly #handOver: HandOver;

  constructor(options: SessionOptions) {
    const { life, transport, client, log, synced, limits, onBusy, onDetach } = options;
    this.#options = options;
    const streams = new Streams({
      log,
      hasAnswers: transport === "http+sse",
      synced,
      stallMs: limits.stallSeconds * 1000,
      onReaders: (count) => {
        if (!this.#handOver.isOver) life.readersChanged(count);
      },
      onDetach: ({ id }) => {
        if (id.kind === "standalone") this.#handOver.left();
        onDetach();
      },
    });
    this.#handOver = new HandOver({
      life,
      streams,
      limits,
      dispatch: () => this.#core.open?.dispatch,
      isBusy: () => !this.#core.calls.isIdle || !this.#core.asks.isIdle,
    });
    this.#core = {
      transport,
      limits,
      log,
      streams,
      open: undefined,
      asks: new Asks(limits.askSeconds * 1000, (id) => {
        const position = placeOfQuestion(id);
        if (position !== undefined) log.closeQuestion(position);
      }),
      calls: new Calls(limits.requestsInFlightPerSession, onBusy),
    };
    if (client !== undefined) this.#begin(client);
  }

  get isIdle(): boolean {
    return this.#core.calls.isIdle;
  }

  /**
   * Takes the messages of one POST.
   */
  receive(messages: readonly Parsed[], post: Post): Promise<SessionOutcome> {
    const [first] = messages;
    if (!post.isBatch && first?.kind === "request" && first.message.method === "initialize") {
      return this.#initialize(first.message);
    }
    return receive(this.#core, messages, post);
  }

  /** Finds the place where a client's stream begins: a new stream, or one that is resumed. */
  placeFor(lastEventId: string | undefined): StreamPosition | RefusedRequest {
    const { streams } = this.#core;
    const refusal = streamRefusal(this.#core);
    if (lastEventId === undefined) return refusal ?? streams.openStandalone();
    const located = streams.locate(lastEventId);
    switch (located.kind) {
      case "place":
        // A reader that replaces an older one adds no open stream.
        if (streams.readerOf(located.place.meta) !== undefined) return located.place;
        return refusal ?? located.place;
      case "malformed":
        return refuseRequest(
          400,
          ErrorCode.Transport,
          "Last-Event-ID is not one of this session's",
        );
      case "gone":
        return refuseRequest(
          400,
          ErrorCode.Transport,
          "The events after this Last-Event-ID are gone",
        );
    }
  }

  /**
   * Attaches a reader to a stream.
   *
   * @param isAgain the client reads the stream already, or did.
   */
  attach(place: StreamPosition, channel: Channel, isAgain: boolean): StreamReader {
    if (place.meta.id.kind === "post") return readPost(this.#core, place, channel);
    const { asks, streams } = this.#core;
    const reader = streams.attach(place, channel);
    reader.pump();
    const hasMissed = streams.carryBacklog((from, to) => asks.move(from, to));
    this.#handOver.takeOver();
    this.#options.onListen({ isAgain, hasMissed });
    return reader;
  }

  /** Attaches a reader that was connected before this life of the session's object. */
  reattach(place: StreamPosition, channel: Channel): StreamReader {
    const reader = this.#core.streams.attach(place, channel, { isKnown: true });
    if (place.meta.id.kind === "standalone") this.#handOver.found(reader);
    return reader;
  }

  /** The newest standalone stream lost its reader while the session's object slept. */
  leftAsleep(): void {
    this.#handOver.leftAsleep();
  }

  /** Resumes or ends the calls that an earlier life of the session's object left open. */
  revive(): void {
    revive(this.#core);
  }

  /** Takes a message from a watch that runs in the Worker that holds the client's stream. */
  async receiveWatched(watched: Watched): Promise<void> {
    if (watched.isOpen === true) this.#handOver.watchedElsewhere(watched.slug);
    else if (watched.isRepeated !== true) await this.#dispatch?.receive(watched);
    // An earlier life may have written it, and this one what followed it on a stream of its own.
    else {
      const known = this.#core.streams.recentUnsolicited();
      await this.#dispatch?.receive({ ...watched, known });
    }
  }

  /** Such a watch found that the server no longer knows its session. */
  async upstreamForgotten(lost: Forgotten): Promise<void> {
    await this.#dispatch?.forgotten(lost);
  }

  /** Ends what was opened with this account at a server, wherever its streams are held. */
  async accountEnded(ended: EndedAccount): Promise<void> {
    const ending = this.#dispatch?.accountEnded(ended);
    this.#handOver.takeOver();
    await ending;
  }

  /** The servers of the endpoint are others now, or are configured in another way. */
  serversChanged(): void {
    this.#dispatch?.serversChanged();
  }

  /** The endpoint has no server any more: the calls in flight end with an error, before their streams close. */
  async serversGone(): Promise<void> {
    this.#handOver.end();
    const message =
      "The only server of this endpoint was switched off or removed while it ran this; the result is unknown";
    await settleWithin(this.#core.calls.cancelAll(new EndedEarly(message)), MAX_ANSWERING_MS);
    await this.close();
  }

  /** Cancels the calls in flight, closes the streams and the upstream sessions. */
  async close(): Promise<void> {
    void this.#core.calls.cancelAll(new Error("The client ended the session"));
    this.#handOver.end();
    this.#core.streams.closeAll();
    await this.#dispatch?.close();
  }

  get #dispatch(): Dispatch | undefined {
    return this.#core.open?.dispatch;
  }

  #begin(client: ClientFacts): void {
    const { streams } = this.#core;
    const { unsolicited } = streams;
    const carrier = {
      nextId: () => unsolicited.nextId(),
      send: (...message: Parameters<typeof unsolicited.send>) => {
        this.#handOver.stirred();
        return unsolicited.send(...message);
      },
    };
    const dispatch = this.#options.connect(client, {
      ...peerOn(this.#core, carrier),
      primed: (resumeToken, isMore) => streams.noteUnsolicited(resumeToken, isMore),
      reopened: () => this.#handOver.takeOver(false),
      lastResumeToken: () => streams.lastUnsolicited(),
      hasOpenStream: () => streams.standalone() !== undefined,
    });
    this.#core.open = { client, dispatch };
  }

  /** Only over HTTP+SSE: Streamable HTTP answers `initialize` before there is a session. */
  async #initialize({ id, params }: JsonRpcRequest): Promise<SessionOutcome> {
    const { life } = this.#options;
    if (!life.take("initialize")) {
      return refuseRequest(400, ErrorCode.InvalidRequest, "The session is initialized already", id);
    }
    const { reply, client } = await initialize(params, this.#options.introduce).catch((error) => {
      life.take("refused");
      throw error;
    });
    if (client === undefined) life.take("refused");
    // The session may have ended meanwhile.
    else if (life.take("initialized")) {
      this.#begin(client);
      this.#options.onInitialized(client);
      this.#handOver.takeOver();
      // With HTTP+SSE, the stream is older than `initialize`.
      if (this.#core.streams.standalone() !== undefined) this.#options.onListen({});
    }
    await this.#core.streams.unsolicited.send(respond(id, reply));
    return { kind: "accepted" };
  }
}
