/** A client of a session as the bridge sees it: it keeps its messages, and answers when the test lets it. */

import type { Call, Peer } from "../../../../src/protocol/exchange.ts";
import type { Reply } from "../../../../src/protocol/json-rpc.ts";

interface Question {
  readonly call: Call;
  readonly resumeToken: string | undefined;
  readonly withdrawn: AbortSignal;
  readonly answer: (reply: Reply) => void;
}

export class AskedPeer implements Peer {
  readonly notices: { readonly notice: Call; readonly resumeToken: string | undefined }[] = [];
  readonly questions: Question[] = [];
  /** Of the transport's own events, in order. */
  readonly events: string[] = [];
  readonly #onAsked: ((question: Question) => void) | undefined;

  /** @param onAsked answers at once, if it does. */
  constructor(onAsked?: (question: Question) => void) {
    this.#onAsked = onAsked;
  }

  notify(notice: Call, resumeToken?: string): Promise<void> {
    this.notices.push({ notice, resumeToken });
    return Promise.resolve();
  }

  /** As in a session: a question that is withdrawn is over at once. */
  ask(call: Call, withdrawn: AbortSignal, resumeToken?: string): Promise<Reply> {
    const { promise, resolve } = Promise.withResolvers<Reply>();
    const over = (): void => resolve({ error: { code: -32603, message: "withdrawn" } });
    withdrawn.addEventListener("abort", over, { once: true });
    const question = { call, resumeToken, withdrawn, answer: resolve };
    this.questions.push(question);
    this.#onAsked?.(question);
    return promise;
  }

  routed(resumeToken: string): void {
    this.events.push(`routed ${resumeToken}`);
  }

  primed(resumeToken?: string): void {
    this.events.push(`primed ${resumeToken ?? ""}`);
  }

  released(): void {
    this.events.push("released");
  }
}
