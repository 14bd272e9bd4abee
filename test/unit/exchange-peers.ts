/** What the tests of `Exchanges` have in common: a peer that listens, and messages to receive. */

import type { Call, Peer } from "../../src/protocol/exchange.ts";
import {
  type JsonRpcResponse,
  parseMessage,
  type Parsed,
  type Reply,
  type RequestId,
} from "../../src/protocol/json-rpc.ts";
import { Exchanges } from "../../src/upstream/legacy/exchanges.ts";

/** A peer that keeps what it is told, and answers questions when the test says so. */
export class FakePeer implements Peer {
  readonly notices: Call[] = [];
  readonly asked: { request: Call; signal: AbortSignal; answer: (reply: Reply) => void }[] = [];

  notify(notice: Call): Promise<void> {
    this.notices.push(notice);
    return Promise.resolve();
  }

  ask(request: Call, signal: AbortSignal): Promise<Reply> {
    const { promise, resolve } = Promise.withResolvers<Reply>();
    this.asked.push({ request, signal, answer: resolve });
    return promise;
  }
}

export function setUp(): { exchanges: Exchanges; answers: JsonRpcResponse[]; peer: FakePeer } {
  const answers: JsonRpcResponse[] = [];
  const exchanges = new Exchanges((response) => {
    answers.push(response);
    return Promise.resolve();
  });
  return { exchanges, answers, peer: new FakePeer() };
}

export function message(members: object): Parsed {
  const parsed = parseMessage({ jsonrpc: "2.0", ...members });
  if (parsed === undefined) throw new Error("the test made something that is no message");
  return parsed;
}

export const result = (id: RequestId, from: unknown): Parsed => message({ id, result: { from } });
export const progress = (token: unknown): Parsed =>
  message({ method: "notifications/progress", params: { progressToken: token, progress: 1 } });
export const question = (id: RequestId): Parsed =>
  message({ id, method: "elicitation/create", params: { message: `of ${id}` } });

/** Lets everything that waits for nothing but promises happen. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
}
