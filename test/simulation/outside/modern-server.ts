/** A server of 2026-07-28: each request stands alone, and a question ends the round that asks it. */

import { connectionOf } from "../platform/network.ts";
import { IsolateResponse } from "../platform/request-response.ts";
import type { World } from "../platform/world.ts";
import { Actor, type Json } from "./actor.ts";
import { type ChangeHabits, Changing } from "./changing.ts";
import type { Ledger } from "./ledger.ts";
import { answersOf, type LieHabits, lieNowAndThen } from "./lies.ts";
import { formatEvent } from "./sse.ts";
import { inputRequired } from "./question.ts";
import { eventText, refusalOf, type Work } from "./tool.ts";

export interface ModernServerHabits extends ChangeHabits, LieHabits {
  readonly era: "modern";
  /** Asks its client in some calls. */
  readonly asks: boolean;
  /** The longest pause before it does the next thing, in milliseconds. */
  readonly pauseMs: number;
}

const encoder = new TextEncoder();
const CACHE = { ttlMs: 60_000, cacheScope: "public" };

/** A stream of `subscriptions/listen`. */
interface Listener {
  readonly id: unknown;
  readonly notifications: Json;
  readonly reader: ReadableStreamDefaultController<Uint8Array>;
}

export class ModernServer extends Actor {
  readonly url: string;
  readonly habits: ModernServerHabits;
  /** A stream that broke cannot be taken up in this revision. */
  readonly isKept = false;
  readonly changing: Changing;
  readonly #ledger: Ledger;
  readonly #listeners = new Set<Listener>();

  constructor(world: World, name: string, habits: ModernServerHabits, ledger: Ledger) {
    super(world, name);
    this.habits = habits;
    this.#ledger = ledger;
    this.changing = new Changing(this, habits, ledger.changes, (method, uri) =>
      this.#announce(method, uri),
    );
    const host = `127.0.0.1:${9000 + world.scheduler.number("server")}`;
    this.url = `http://${host}/mcp`;
    world.network.hosts.set(host, {
      context: () => this.context,
      serve: (request) => this.#serve(request),
    });
  }

  override restart(): void {
    super.restart();
    this.#listeners.clear();
    this.changing.start();
  }

  async #serve(request: Request): Promise<Response> {
    if (request.method !== "POST") return new IsolateResponse(null, { status: 405 });
    const message = (await request.json()) as Json;
    this.note(`gets ${JSON.stringify(message)}`);
    const { id, method } = message;
    const result = (fields: Json): Response =>
      IsolateResponse.json({ jsonrpc: "2.0", id, result: { resultType: "complete", ...fields } });
    if (id === undefined) return new IsolateResponse(null, { status: 202 });
    switch (method) {
      case "server/discover":
        return result({
          ...CACHE,
          supportedVersions: ["2026-07-28"],
          capabilities: { tools: { listChanged: true }, ...this.changing.capabilities },
          serverInfo: { name: this.name, version: "1" },
        });
      case "tools/call": {
        const refusal = refusalOf(message);
        if (refusal === undefined) return this.#call(message, request);
        this.#ledger.misdirected(this.name, message);
        return IsolateResponse.json(refusal);
      }
      case "subscriptions/listen":
        return this.#listen(message);
      default: {
        const params = (message["params"] ?? {}) as Json;
        if (this.changing.isForeign(method, params)) {
          const error = { code: -32602, message: "Resource not found" };
          return IsolateResponse.json({ jsonrpc: "2.0", id, error });
        }
        const fields = this.changing.answer(method, params);
        if (fields !== undefined) return result({ ...CACHE, ...fields });
        const error = { code: -32601, message: "Method not found" };
        return IsolateResponse.json({ jsonrpc: "2.0", id, error }, { status: 404 });
      }
    }
  }

  #listen({ id, params }: Json): Response {
    const asked = (params as { notifications: Json }).notifications;
    const uris = (asked["resourceSubscriptions"] ?? []) as readonly string[];
    const own = uris.filter((uri) => this.changing.uris.includes(uri));
    const notifications = { ...asked, ...(uris.length > 0 && { resourceSubscriptions: own }) };
    const _meta = { "io.modelcontextprotocol/subscriptionId": id };
    const acknowledged = {
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: { _meta, notifications },
    };
    let listener: Listener | undefined;
    const body = new ReadableStream<Uint8Array>({
      start: (reader) => {
        reader.enqueue(encoder.encode(formatEvent({ data: JSON.stringify(acknowledged) })));
        listener = { id, notifications, reader };
        this.#listeners.add(listener);
      },
      cancel: () => {
        if (listener !== undefined) this.#listeners.delete(listener);
      },
    });
    return new IsolateResponse(body, { headers: { "content-type": "text/event-stream" } });
  }

  #announce(method: string, uri?: string): void {
    let times = 0;
    for (const { id, notifications, reader } of this.#listeners) {
      const uris = (notifications["resourceSubscriptions"] ?? []) as readonly string[];
      const isAsked =
        uri === undefined ? notifications["toolsListChanged"] === true : uris.includes(uri);
      if (!isAsked) continue;
      const _meta = { "io.modelcontextprotocol/subscriptionId": id };
      const message = {
        jsonrpc: "2.0",
        method,
        params: { ...(uri !== undefined && { uri }), _meta },
      };
      reader.enqueue(encoder.encode(formatEvent({ data: JSON.stringify(message) })));
      times += 1;
    }
    if (times > 1) this.#ledger.changes.toldTwice(uri ?? this.changing.tools);
  }

  #call({ id, params }: Json, request: Request): Response {
    const {
      arguments: given,
      _meta,
      inputResponses,
    } = params as {
      readonly arguments: Work;
      readonly _meta?: Json;
      readonly inputResponses?: Json;
    };
    const question = `${given.call}?`;
    const isAnswered = inputResponses?.["question"] !== undefined;
    if (isAnswered) this.#ledger.answered(question, inputResponses);
    else {
      this.#ledger.ran(given.call, connectionOf(request));
      if (this.habits.asks && this.world.random.chance(0.5)) {
        return IsolateResponse.json({ jsonrpc: "2.0", id, result: inputRequired(given.call) });
      }
    }
    const body = new ReadableStream<Uint8Array>({
      start: (reader) => {
        void this.#run(reader, { id, work: given, token: _meta?.["progressToken"] });
      },
    });
    return new IsolateResponse(body, { headers: { "content-type": "text/event-stream" } });
  }

  async #run(
    reader: ReadableStreamDefaultController<Uint8Array>,
    run: {
      readonly id: unknown;
      readonly work: Work;
      readonly token: unknown;
    },
  ): Promise<void> {
    const { id, work, token } = run;
    const { call, events } = work;
    const send = (message: Json): void => {
      try {
        reader.enqueue(encoder.encode(formatEvent({ data: JSON.stringify(message) })));
      } catch {
        // The client has gone, and with it the call.
      }
    };
    for (let count = 0; count < events; count += 1) {
      await this.sleep(this.upTo(this.habits.pauseMs));
      lieNowAndThen(this.habits, this.world.random, send);
      const message = eventText(work, count);
      this.#ledger.sent(call, message);
      const params = { progressToken: token, progress: count + 1, message };
      send({ jsonrpc: "2.0", method: "notifications/progress", params });
    }
    await this.sleep(this.upTo(this.habits.pauseMs));
    const result = { resultType: "complete", content: [{ type: "text", text: call }] };
    this.#ledger.sentResult(call);
    for (let left = answersOf(this.habits, this.world.random); left > 0; left -= 1)
      send({ jsonrpc: "2.0", id, result });
    try {
      reader.close();
    } catch {
      // The client has gone.
    }
  }
}
