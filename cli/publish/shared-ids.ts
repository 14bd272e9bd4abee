/**
 * Several channels at one process. Each end of a hop has ids of its own: those of the channels would meet here, so
 * that each request gets another one, and what answers it goes to the channel that asked. Pure.
 */

import { Meta } from "../../src/protocol/envelope.ts";
import { isObject, type JsonObject } from "../../src/protocol/json-rpc.ts";
import { memberText, withMember } from "../stdio/json-text.ts";
import {
  CANCELLED,
  cancellationText,
  LISTEN,
  type Message,
  readMessage,
  requestIdOf,
} from "../stdio/message.ts";

interface Asked {
  readonly channel: string;
  /** As JSON, with the digits of the channel. */
  readonly id: string;
  readonly method: string;
  /** As JSON. */
  readonly progressToken: string | undefined;
}

/** Where a message of the server goes. */
export type Destination =
  | {
      readonly kind: "one";
      readonly channel: string;
      readonly text: string;
      /** The method that this answers. */
      readonly answers?: string;
    }
  | { readonly kind: "all"; readonly text: string }
  /** To nobody, and the server waits for an answer. */
  | { readonly kind: "unclear"; readonly id: string }
  | { readonly kind: "none" };

const NONE: Destination = { kind: "none" };
/** A task reports progress after its call was answered, so that tokens are kept for a while. */
const MAX_TOKENS = 1000;

export class SharedIds {
  #last = 0;
  readonly #asked = new Map<string, Asked>();
  readonly #tokens = new Map<string, Asked>();
  /** The requests of the server, by id: each to the channel that is asked. */
  readonly #questions = new Map<string, string>();

  /** @returns what the server gets of a message of a channel; `undefined` for nothing. */
  toServer(channel: string, message: Message): string | undefined {
    const [part] = message.parts;
    if (part === undefined) return undefined;
    if (part.kind === "request") return this.#ask(channel, message, part);
    if (part.kind === "response") {
      // Only who was asked may answer.
      const isAsked = part.id !== undefined && this.#questions.get(part.id) === channel;
      if (!isAsked) return undefined;
      this.#questions.delete(part.id);
      return message.text;
    }
    if (part.method !== CANCELLED) return message.text;
    const wanted = requestIdOf(message);
    const found = [...this.#asked].find(
      ([, asked]) => asked.channel === channel && asked.id === wanted,
    );
    if (found === undefined) return undefined;
    this.#asked.delete(found[0]);
    return withMember(message.text, ["params", "requestId"], found[0]);
  }

  /** @returns whose a message of the server is, as that channel knows it. */
  fromServer(message: Message): Destination {
    const { text, parts } = message;
    const [part] = parts;
    if (part === undefined) return NONE;
    if (part.kind === "response") {
      const asked = this.#asked.get(part.id ?? "");
      if (asked === undefined) return NONE;
      this.#asked.delete(part.id ?? "");
      const { channel, id, method: answers } = asked;
      return { kind: "one", channel, text: withMember(text, ["id"], id), answers };
    }
    if (part.kind === "request") return this.#question(part.id, text);
    return this.#notification(message, part.method, part.params);
  }

  /** Forgets a channel. @returns what tells the server that its requests are of no interest any more. */
  forget(channel: string): readonly string[] {
    const open = [...this.#asked].filter(
      // "The `initialize` request MUST NOT be cancelled" (lifecycle), and its answer is for others too.
      ([, asked]) => asked.channel === channel && asked.method !== "initialize",
    );
    for (const [id] of open) this.#asked.delete(id);
    for (const [id, { channel: owner }] of this.#tokens) {
      if (owner === channel) this.#tokens.delete(id);
    }
    for (const [id, owner] of this.#questions) if (owner === channel) this.#questions.delete(id);
    return open.map(([id]) => cancellationText(id, "The client has gone"));
  }

  #ask(
    channel: string,
    { text }: Message,
    { id, method, params }: { id: string; method: string; params: JsonObject },
  ): string {
    const own = String(++this.#last);
    const meta = params["_meta"];
    const hasToken = isObject(meta) && meta["progressToken"] !== undefined;
    const progressToken = hasToken ? tokenText(text) : undefined;
    const asked = { channel, id, method, progressToken };
    this.#asked.set(own, asked);
    const named = withMember(text, ["id"], own);
    if (progressToken === undefined) return named;
    this.#tokens.set(own, asked);
    const [oldest] = this.#tokens.keys();
    if (this.#tokens.size > MAX_TOKENS && oldest !== undefined) this.#tokens.delete(oldest);
    return withMember(named, ["params", "_meta", "progressToken"], own);
  }

  /** Over stdio a question does not say which call it belongs to: it is clear while one channel has calls. */
  #question(id: string, text: string): Destination {
    const calls = [...this.#asked.values()].filter(({ method }) => method !== LISTEN);
    const [channel, ...others] = new Set(calls.map((asked) => asked.channel));
    if (channel === undefined || others.length > 0) return { kind: "unclear", id };
    this.#questions.set(id, channel);
    return { kind: "one", channel, text };
  }

  #notification(message: Message, method: string, params: JsonObject): Destination {
    const { text } = message;
    if (method === "notifications/progress") {
      const asked = this.#tokens.get(JSON.stringify(params["progressToken"]) ?? "");
      if (asked?.progressToken === undefined) return NONE;
      const named = withMember(text, ["params", "progressToken"], asked.progressToken);
      return { kind: "one", channel: asked.channel, text: named };
    }
    if (method === CANCELLED) {
      const channel = this.#questions.get(requestIdOf(message) ?? "");
      return channel === undefined ? NONE : { kind: "one", channel, text };
    }
    const meta = params["_meta"];
    const subscription = isObject(meta) ? meta[Meta.subscriptionId] : undefined;
    if (subscription === undefined) return { kind: "all", text };
    const asked = this.#asked.get(JSON.stringify(subscription));
    if (asked === undefined) return NONE;
    const named = withMember(text, ["params", "_meta", Meta.subscriptionId], asked.id);
    return { kind: "one", channel: asked.channel, text: named };
  }
}

function tokenText(text: string): string | undefined {
  const params = memberText(text, "params") ?? "{}";
  return memberText(memberText(params, "_meta") ?? "{}", "progressToken");
}

/** The result of the first `initialize`, for another one. @param text of the answer to the first. */
export function answerAgain(text: string, id: string): Message | undefined {
  return readMessage(withMember(text, ["id"], id));
}
