/**
 * The client's side of one call of 2026-07-28, by hand: each round is a request of its own, with the
 * answers to the last one and its state. So a test decides what is answered when, and to whom.
 */

import type { Json } from "./clients-face.ts";
import { MODERN_REVISION } from "./revisions.ts";

export type Turn =
  | {
      readonly kind: "asked";
      readonly state: string;
      readonly questions: Readonly<Record<string, Json>>;
    }
  | { readonly kind: "over"; readonly result: Json }
  | { readonly kind: "failed"; readonly error: Json }
  /** Nobody answered, or not to the end. */
  | { readonly kind: "broken" }
  /** A person is there, and gives no answer. */
  | { readonly kind: "silent" };

const PATIENCE_MS = 30_000;

/** What a client says to the questions of a round, by their keys. */
export type Answers = Readonly<Record<string, Json>>;

export class ModernCaller {
  readonly #url: string;
  readonly #name: string;
  readonly #arguments: object;
  #id = 0;

  constructor(url: string, name: string, args: object) {
    this.#url = url;
    this.#name = name;
    this.#arguments = args;
  }

  /** The first round. */
  begin(): Promise<Turn> {
    return this.#send({});
  }

  /** The next round; or the same once more, by a client that does not know its outcome. */
  answer(state: string, inputResponses: Answers): Promise<Turn> {
    return this.#send({ requestState: state, inputResponses });
  }

  async #send(round: Json): Promise<Turn> {
    const tooLong = AbortSignal.timeout(PATIENCE_MS);
    let response: Response;
    let text: string;
    try {
      response = await fetch(this.#url, {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          Accept: "application/json, text/event-stream",
          "MCP-Protocol-Version": MODERN_REVISION,
          ...{ "Mcp-Method": "tools/call", "Mcp-Name": this.#name },
        },
        body: JSON.stringify(this.#request(round)),
        signal: tooLong,
      });
      text = await response.text();
    } catch {
      return { kind: tooLong.aborted ? "silent" : "broken" };
    }
    return readTurn(text) ?? { kind: "broken" };
  }

  #request(round: Json): Json {
    this.#id += 1;
    return {
      jsonrpc: "2.0",
      id: this.#id,
      method: "tools/call",
      params: {
        ...{ name: this.#name, arguments: this.#arguments, ...round },
        _meta: {
          "io.modelcontextprotocol/protocolVersion": MODERN_REVISION,
          "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
        },
      },
    };
  }
}

/** @returns `undefined` for a body that ends before its answer. */
function readTurn(text: string): Turn | undefined {
  const isStream = /^(?:event|data|id|:)/.test(text);
  const lines = isStream
    ? [...text.matchAll(/^data: ?(\{.*\})$/gm)].map(([, data]) => data)
    : [text];
  const replies = lines.map((line) => parse(line ?? "")).filter((message) => message?.["id"]);
  const { result, error } = replies.at(-1) ?? {};
  if (typeof error === "object") return { kind: "failed", error: error as Json };
  if (typeof result !== "object") return undefined;
  const { resultType, requestState, inputRequests } = result as Json;
  return resultType === "input_required"
    ? { kind: "asked", state: String(requestState), questions: inputRequests as Answers }
    : { kind: "over", result: result as Json };
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined; // the page of a proxy, or half a message
  }
}
