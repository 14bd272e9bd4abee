/**
 * A host of 2026-07-28 at the gateway: each request is a POST of its own, and closing its stream cancels it
 * (Streamable HTTP). Nothing can be taken up again, so a listen stream that breaks is asked for anew.
 */

import { sleep } from "../../src/lib/sleep.ts";
import { ErrorCode } from "../../src/protocol/error-codes.ts";
import { readEvents } from "../http/event-stream.ts";
import { Broken, LoginNeeded, reasonOf } from "../http/failures.ts";
import { type Gateway, readBody } from "../http/gateway.ts";
import { isModern, modernHeaders } from "../http/modern-headers.ts";
import { memberText } from "../stdio/json-text.ts";
import {
  LISTEN,
  type Message,
  type Notification,
  readMessage,
  type Request,
  requestText,
} from "../stdio/message.ts";
import { answerWith, failWith, isStream, onlyAnswer, POST_HEADERS } from "./answers.ts";
import type { Call, Calls } from "./calls.ts";
import { SIGNED_OUT_PAUSE_MS } from "./legacy-streams.ts";
import { deadlineOf, type RelayOptions } from "./options.ts";
import { repeated } from "./repeatable.ts";
import { Subscription } from "./subscription.ts";
import { ToolHeaders } from "./tool-headers.ts";

const LISTEN_PAUSE_MS = 500;
/** More pages than any list has. */
const MAX_PAGES = 1000;

export class ModernRequests {
  readonly #gateway: Gateway;
  readonly #calls: Calls;
  readonly #options: RelayOptions;
  readonly #tools = new ToolHeaders();
  readonly #closed = new AbortController();

  constructor(gateway: Gateway, calls: Calls, options: RelayOptions) {
    this.#gateway = gateway;
    this.#calls = calls;
    this.#options = options;
  }

  request(message: Message, request: Request): void {
    const call = this.#calls.begin(request);
    const deadline = deadlineOf(this.#options);
    const running =
      request.method === LISTEN
        ? this.#listen(message, call, deadline)
        : repeated([call], call.over, () => this.#run(message, call, deadline));
    running
      .catch((error: unknown) => failWith(this.#calls, [call], error, this.#gateway.url))
      .catch(() => undefined);
  }

  /** This revision has no notification that a client sends over HTTP, but extensions may. */
  notify({ text }: Message, { method, params }: Notification): void {
    const headers = modernHeaders(method, params);
    this.#post(text, headers, this.#closed.signal, deadlineOf(this.#options))
      .then((response) => response.body?.cancel())
      .catch((error: unknown) =>
        this.#options.notice(`${method} was not taken (${reasonOf(error)})`),
      );
  }

  /** Closing the stream of each request takes it back. */
  close(): void {
    for (const { request } of this.#calls.open) {
      if (isModern(request)) this.#calls.cancel(request.id);
    }
    this.#closed.abort();
  }

  async #run(message: Message, call: Call, deadline: number): Promise<void> {
    const { method, params } = call.request;
    const take = async (delivering: Promise<Message | undefined>): Promise<void> => {
      const answer = await delivering;
      if (method === "tools/list" && answer !== undefined) this.#tools.learn(answer);
    };
    const send = (): Promise<Response> => {
      const mirrored = method === "tools/call" ? this.#tools.of(params) : {};
      const headers = { ...modernHeaders(method, params), ...mirrored };
      return this.#post(message.text, headers, call.over, deadline);
    };
    let response = await send();
    if (!isStream(response)) {
      let text = await readBody(response);
      if (method === "tools/call" && isMismatch(response, text)) {
        // It did not run. Its schema is new, or was never listed (client behavior: SHOULD).
        await this.#learn(message, call, deadline);
        response = await send();
        if (!isStream(response)) text = await readBody(response);
      }
      if (!isStream(response)) {
        await take(answerWith(this.#calls, [call], response, text));
        return;
      }
    }
    for await (const text of readEvents(response, {})) {
      await take(this.#calls.deliver(text));
    }
    if (!call.isOver) throw new Broken("the stream ended");
  }

  /** The stream is the subscription: it is opened until the host ends it, or the gateway does with an answer. */
  async #listen(message: Message, call: Call, deadline: number): Promise<void> {
    const { method, params } = call.request;
    const subscription = new Subscription(call.request);
    const headers = modernHeaders(method, params);
    for (let until = deadline; !call.isOver; until = Infinity) {
      try {
        const response = await this.#post(message.text, headers, call.over, until);
        if (!isStream(response)) {
          await answerWith(this.#calls, [call], response, await readBody(response));
          return;
        }
        for await (const text of readEvents(response, {})) {
          for (const passed of subscription.receive(text)) await this.#calls.deliver(passed);
        }
        await sleep(LISTEN_PAUSE_MS, call.over);
      } catch (error) {
        const isSignedOut = error instanceof LoginNeeded && until === Infinity;
        if (!(error instanceof Broken) && !isSignedOut) throw error;
        await sleep(isSignedOut ? SIGNED_OUT_PAUSE_MS : LISTEN_PAUSE_MS, call.over);
      }
    }
  }

  /** Lists the tools for their schemas, in the name of the call that lacked a header. */
  async #learn({ text }: Message, call: Call, deadline: number): Promise<void> {
    const meta = memberText(memberText(text, "params") ?? "{}", "_meta") ?? "{}";
    const headers = modernHeaders("tools/list", call.request.params);
    let cursor: unknown;
    for (let page = 0; page < MAX_PAGES; page++) {
      const at = cursor === undefined ? "" : `,"cursor":${JSON.stringify(cursor)}`;
      const body = requestText("tools/list", `{"_meta":${meta}${at}}`);
      const response = await this.#post(body, headers, call.over, deadline);
      const list = readMessage(await onlyAnswer(response));
      if (list === undefined) return;
      this.#tools.learn(list);
      const [part] = list.parts;
      cursor = part?.kind === "response" ? part.result?.["nextCursor"] : undefined;
      if (cursor === undefined) return;
    }
  }

  #post(
    body: string,
    mirrored: Readonly<Record<string, string>>,
    over: AbortSignal,
    deadline: number,
  ): Promise<Response> {
    const headers = { ...POST_HEADERS, ...mirrored };
    const signal = AbortSignal.any([over, this.#closed.signal]);
    return this.#gateway.send({ method: "POST", headers, body, signal }, { deadline });
  }
}

/** The server refused the call for a header of its arguments. */
function isMismatch({ status }: Response, text: string): boolean {
  if (status !== 400) return false;
  const [part] = readMessage(text)?.parts ?? [];
  return part?.kind === "response" && part.code === ErrorCode.HeaderMismatch;
}
