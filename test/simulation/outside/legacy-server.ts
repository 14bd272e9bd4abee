/**
 * A server of the session era, over Streamable HTTP. It streams events before its answer, asks, lets its
 * client poll, forgets its sessions, and dies, as its habits say.
 */

import { connectionOf } from "../platform/network.ts";
import { IsolateResponse } from "../platform/request-response.ts";
import type { World } from "../platform/world.ts";
import { Actor, type Json } from "./actor.ts";
import { type ChangeHabits, Changing } from "./changing.ts";
import type { Ledger } from "./ledger.ts";
import { answersOf, type LieHabits, lieNowAndThen } from "./lies.ts";
import { formatEvent } from "./sse.ts";
import { formOf } from "./question.ts";
import { eventText, placeOfQuestion, refusalOf, type Work } from "./tool.ts";

export interface LegacyServerHabits extends ChangeHabits, LieHabits {
  readonly era: "legacy";
  /** Gives out session ids. */
  readonly hasSessions: boolean;
  /** Gives out event ids, and replays what came after one. */
  readonly hasEventIds: boolean;
  /** Sends an event without data first, which says that the stream can be resumed (2025-11-25). */
  readonly primes: boolean;
  /** Closes some streams before their answer, so that the client polls. */
  readonly letsPoll: boolean;
  /** Asks its client in some calls, or first of all in every call. */
  readonly asks: boolean | "first";
  /** It asks on the standalone stream of the session while that is open, and not on the stream of the call. */
  readonly asksBeside?: boolean;
  /** Sends some messages a second time when a stream is resumed. */
  readonly repeats: boolean;
  /** Speaks HTTP+SSE of 2024-11-05: one stream carries everything, and is the session. */
  readonly isSse?: boolean;
  /** Knows no session any more after a restart; without sessions, no subscription and no stream. */
  readonly forgets?: boolean;
  /** The longest pause before it does the next thing, in milliseconds. */
  readonly pauseMs: number;
}

interface Stream {
  readonly name: string;
  readonly events: { readonly id: string; readonly data: string }[];
  isOver: boolean;
  reader: ReadableStreamDefaultController<Uint8Array> | undefined;
}

/** What waits for answers: a server counts its requests in each session, and those without sessions together. */
class Questions {
  readonly #waiting: ((answer: Json) => void)[] = [];

  ask(): { readonly id: number; readonly answer: Promise<Json> } {
    const { promise: answer, resolve } = Promise.withResolvers<Json>();
    return { id: this.#waiting.push(resolve) - 1, answer };
  }

  take(answer: Json): void {
    this.#waiting[answer["id"] as number]?.(answer);
  }
}

interface Session {
  readonly questions: Questions;
  /** What its client has subscribed to. */
  readonly uris: Set<string>;
  /** The stream that belongs to no request. */
  standalone: Stream | undefined;
}

/** Where a call runs. */
interface Place {
  readonly stream: Stream;
  readonly questions: Questions;
  readonly session: Session | undefined;
}

function newSession(): Session {
  return { questions: new Questions(), uris: new Set(), standalone: undefined };
}

const encoder = new TextEncoder();

function isOwnCall(message: Json): boolean {
  return message["method"] === "tools/call" && refusalOf(message) === undefined;
}

export class LegacyServer extends Actor {
  readonly url: string;
  readonly habits: LegacyServerHabits;
  readonly #ledger: Ledger;
  readonly changing: Changing;
  readonly #sessions = new Map<string, Session>();
  readonly #streams = new Map<string, Stream>();
  readonly #questions = new Questions();
  /** What everybody has subscribed to where there are no sessions, and the streams that belong to no request. */
  readonly #shared = { uris: new Set<string>(), standalone: new Set<Stream>() };

  constructor(world: World, name: string, habits: LegacyServerHabits, ledger: Ledger) {
    super(world, name);
    this.habits = habits;
    this.#ledger = ledger;
    this.changing = new Changing(this, habits, ledger.changes, (method, uri) =>
      this.#announce(method, uri),
    );
    const host = `127.0.0.1:${9000 + world.scheduler.number("server")}`;
    this.url = `http://${host}/${habits.isSse === true ? "sse" : "mcp"}`;
    world.network.hosts.set(host, {
      context: () => this.context,
      serve: (request) => this.#serve(request),
    });
  }

  /** True when nothing that it began can be lost with a connection. */
  get isKept(): boolean {
    const { hasEventIds, primes, asksBeside = false } = this.habits;
    // A standalone stream has no place before its first event.
    return hasEventIds && primes && !asksBeside;
  }

  override restart(): void {
    super.restart();
    if (this.habits.forgets === true || this.habits.isSse === true) {
      this.#sessions.clear();
      this.#streams.clear();
      this.#shared.uris.clear();
      this.#shared.standalone.clear();
    }
    this.changing.start();
  }

  #serve(request: Request): Promise<Response> {
    if (this.habits.isSse !== true) return this.#serveStreamable(request);
    const name = new URL(request.url).searchParams.get("session");
    if (name !== null) return this.#serveSse(name, request);
    const isGet = request.method === "GET";
    return Promise.resolve(isGet ? this.#openSse() : new IsolateResponse(null, { status: 405 }));
  }

  /** The stream is the session: it ends with it. */
  #openSse(): Response {
    const stream = this.#newStream(`sse-${this.world.scheduler.number("session")}`);
    this.#sessions.set(stream.name, { ...newSession(), standalone: stream });
    const response = this.#open(stream, 0, () => this.#sessions.delete(stream.name));
    const endpoint = `event: endpoint\ndata: /sse?session=${stream.name}\n\n`;
    stream.reader?.enqueue(encoder.encode(endpoint));
    return response;
  }

  async #serveSse(name: string, request: Request): Promise<Response> {
    const session = this.#sessions.get(name);
    if (session?.standalone === undefined) return new IsolateResponse(null, { status: 404 });
    const message = (await request.json()) as Json;
    const stream = session.standalone;
    this.note(`gets ${JSON.stringify(message)}`);
    const { questions } = session;
    if (isOwnCall(message)) void this.#work(message, { stream, questions, session }, request);
    else {
      const reply =
        message["method"] === "initialize"
          ? this.#introduction(message)
          : this.#reply(message, session);
      if (reply !== undefined) this.#emit(stream, reply);
    }
    return new IsolateResponse("Accepted", { status: 202 });
  }

  async #serveStreamable(request: Request): Promise<Response> {
    const session = request.headers.get("mcp-session-id");
    const isKnown = !this.habits.hasSessions || (session !== null && this.#sessions.has(session));
    if (request.method === "DELETE") {
      if (session !== null) this.#sessions.delete(session);
      return new IsolateResponse(null, { status: isKnown ? 200 : 404 });
    }
    if (request.method === "GET") {
      return isKnown ? this.#get(request) : new IsolateResponse(null, { status: 404 });
    }
    const message = (await request.json()) as Json;
    this.note(`gets ${JSON.stringify(message)}`);
    if (message["method"] === "initialize") return this.#initialize(message);
    if (!isKnown) return new IsolateResponse(null, { status: session === null ? 400 : 404 });
    if (isOwnCall(message)) return this.#call(message, request);
    const reply = this.#reply(message, this.#sessions.get(session ?? ""));
    return reply === undefined
      ? new IsolateResponse(null, { status: 202 })
      : IsolateResponse.json(reply);
  }

  /** @returns the answer to a request. */
  #reply(message: Json, session: Session | undefined): Json | undefined {
    const { id, method, params = {} } = message;
    if (method === "tools/call") {
      this.#ledger.misdirected(this.name, message);
      return refusalOf(message);
    }
    if (method === undefined) (session?.questions ?? this.#questions).take(message);
    if (method === undefined || id === undefined) return undefined;
    if (this.changing.isForeign(method, params as Json)) {
      const error = { code: -32002, message: "Resource not found" };
      return { jsonrpc: "2.0", id, error };
    }
    const { uri = "" } = params as { readonly uri?: string };
    const { uris } = session ?? this.#shared;
    if (method === "resources/subscribe") uris.add(uri);
    if (method === "resources/unsubscribe") uris.delete(uri);
    return { jsonrpc: "2.0", id, result: this.changing.answer(method, params as Json) ?? {} };
  }

  #introduction({ id, params }: Json): Json {
    const { protocolVersion } = params as { protocolVersion: string };
    const result = {
      protocolVersion,
      capabilities: {
        ...{ tools: { listChanged: true }, logging: {} },
        ...this.changing.capabilities,
      },
      serverInfo: { name: this.name, version: "1" },
    };
    return { jsonrpc: "2.0", id, result };
  }

  #initialize(message: Json): Response {
    const headers: Record<string, string> = {};
    if (this.habits.hasSessions) {
      const session = `${this.name}-${this.world.scheduler.number("session")}`;
      this.#sessions.set(session, newSession());
      headers["mcp-session-id"] = session;
    }
    return IsolateResponse.json(this.#introduction(message), { headers });
  }

  /** The stream that belongs to no request, or the rest of one that broke. */
  #get(request: Request): Response {
    const after = request.headers.get("last-event-id");
    if (after === null) {
      const stream = this.#newStream(`get-${this.world.scheduler.number("get stream")}`);
      const session = this.#sessions.get(request.headers.get("mcp-session-id") ?? "");
      if (session !== undefined) session.standalone = stream;
      else this.#shared.standalone.add(stream);
      return this.#open(stream, 0, () => {
        if (!this.habits.hasEventIds) this.#shared.standalone.delete(stream);
      });
    }
    const [name = "", seq = ""] = after.split("/");
    const stream = this.#streams.get(name);
    if (stream === undefined) return new IsolateResponse(null, { status: 404 });
    const isRepeated = this.habits.repeats && this.world.random.chance(0.3);
    const from = Math.max(0, Number(seq) - (isRepeated ? 1 : 0));
    for (const { data } of stream.events.slice(from, Number(seq))) {
      const { params } = JSON.parse(data || "{}") as { params?: { message?: string } };
      if (params?.message !== undefined) this.#ledger.sentAgain(params.message);
    }
    return this.#open(stream, from);
  }

  #announce(method: string, uri?: string): void {
    const message = { jsonrpc: "2.0", method, ...(uri !== undefined && { params: { uri } }) };
    for (const { uris, standalone } of this.#sessions.values()) {
      if (standalone === undefined) continue;
      if (uri === undefined || uris.has(uri)) this.#emit(standalone, message);
    }
    const { uris, standalone } = this.#shared;
    if (uri !== undefined && !uris.has(uri)) return;
    for (const stream of standalone) this.#emit(stream, message);
  }

  #newStream(name: string): Stream {
    const stream: Stream = { name, events: [], isOver: false, reader: undefined };
    this.#streams.set(name, stream);
    return stream;
  }

  #open(stream: Stream, after: number, onGone?: () => void): Response {
    this.#close(stream);
    let own: Stream["reader"];
    const body = new ReadableStream<Uint8Array>({
      start: (reader) => {
        own = reader;
        stream.reader = reader;
        for (const event of stream.events.slice(after)) this.#write(stream, event);
        if (stream.isOver) this.#close(stream);
      },
      cancel: () => {
        // The late end of a reader is that reader's alone.
        if (stream.reader === own) stream.reader = undefined;
        onGone?.();
      },
    });
    return new IsolateResponse(body, { headers: { "content-type": "text/event-stream" } });
  }

  #call(message: Json, request: Request): Response {
    const stream = this.#newStream(`call-${this.world.scheduler.number("call stream")}`);
    const response = this.#open(stream, 0);
    if (this.habits.primes) this.#emit(stream, "");
    const session = this.#sessions.get(request.headers.get("mcp-session-id") ?? "");
    const questions = session?.questions ?? this.#questions;
    void this.#work(message, { stream, questions, session }, request);
    return response;
  }

  #work({ id, params }: Json, place: Place, request: Request): Promise<void> {
    const { arguments: work, _meta } = params as { arguments: Work; _meta?: Json };
    this.#ledger.ran(work.call, connectionOf(request));
    return this.#run({ id, work, token: _meta?.["progressToken"], ...place });
  }

  async #run(
    run: Place & { readonly id: unknown; readonly work: Work; readonly token: unknown },
  ): Promise<void> {
    const { id, work, token, stream } = run;
    const { call, events } = work;
    const askAt = placeOfQuestion(this.habits.asks, events, this.world.random);
    for (let count = 0; count <= events; count += 1) {
      await this.sleep(this.upTo(this.habits.pauseMs));
      if (count === askAt) await this.#ask(call, run);
      lieNowAndThen(this.habits, this.world.random, (lie) => this.#emit(stream, lie));
      if (this.habits.letsPoll && this.world.random.chance(0.2)) this.#close(stream);
      if (count === events) break;
      const message = eventText(work, count);
      this.#ledger.sent(call, message);
      const params = { progressToken: token, progress: count + 1, message };
      this.#emit(stream, { jsonrpc: "2.0", method: "notifications/progress", params });
    }
    const result = { content: [{ type: "text", text: call }] };
    stream.isOver = this.habits.isSse !== true;
    this.#ledger.sentResult(call);
    for (let left = answersOf(this.habits, this.world.random); left > 0; left -= 1)
      this.#emit(stream, { jsonrpc: "2.0", id, result });
    if (stream.isOver) this.#close(stream);
  }

  async #ask(call: string, { stream, questions, session }: Place): Promise<void> {
    const { name } = this.#ledger.question(`${call}?`);
    const { id, answer } = questions.ask();
    const beside = this.habits.asksBeside === true ? session?.standalone : undefined;
    this.#emit(beside?.reader === undefined ? stream : beside, {
      jsonrpc: "2.0",
      id,
      method: "elicitation/create",
      params: formOf(name),
    });
    this.#ledger.answered(name, await answer);
  }

  #emit(stream: Stream, message: Json | ""): void {
    const id = `${stream.name}/${stream.events.length + 1}`;
    const event = { id, data: message === "" ? "" : JSON.stringify(message) };
    stream.events.push(event);
    this.#write(stream, event);
  }

  #write({ reader }: Stream, { id, data }: { readonly id: string; readonly data: string }): void {
    const event = this.habits.hasEventIds ? { id, data } : { data };
    reader?.enqueue(encoder.encode(formatEvent(event)));
  }

  #close(stream: Stream): void {
    const { reader } = stream;
    stream.reader = undefined;
    reader?.close();
  }
}
