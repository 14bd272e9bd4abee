/** What the tests of `Exchanges` have in common: a peer that listens, and messages to receive. */

import type { Call } from "../../../src/protocol/exchange.ts";
import {
  type JsonRpcRequest,
  type JsonRpcResponse,
  parseMessage,
  type Parsed,
  type Reply,
  type RequestId,
} from "../../../src/protocol/json-rpc.ts";
import {
  type Exchange,
  Exchanges,
  type ExchangesOptions,
} from "../../../src/upstream/legacy/exchanges.ts";
import type { MessageSession } from "../../../src/upstream/legacy/wire.ts";
import type { MessageOrigin, Recipient } from "../../../src/upstream/legacy/resume-token.ts";

interface Asked {
  readonly request: Call;
  readonly signal: AbortSignal;
  readonly origin: MessageOrigin;
  readonly answer: (reply: Reply) => void;
}

/** A recipient that keeps its messages, and answers questions when the test lets it. */
export class FakePeer implements Recipient {
  readonly notices: Call[] = [];
  /** Where each notice came from. */
  readonly origins: MessageOrigin[] = [];
  readonly asked: Asked[] = [];

  notify(notice: Call, origin: MessageOrigin): Promise<void> {
    this.notices.push(notice);
    this.origins.push(origin);
    return Promise.resolve();
  }

  ask(request: Call, signal: AbortSignal, origin: MessageOrigin): Promise<Reply> {
    const { promise, resolve } = Promise.withResolvers<Reply>();
    this.asked.push({ request, signal, origin, answer: resolve });
    return promise;
  }
}

/** Addresses a request and starts its exchange, as before sending it. */
export function start(
  exchanges: Exchanges,
  call: Call,
  recipient: Recipient,
): Exchange & { readonly message: JsonRpcRequest } {
  const { message, resumePoint } = exchanges.address(call);
  return { ...exchanges.start(resumePoint, recipient), message };
}

export const sessionOf = (sessionMark: string | undefined): MessageSession => ({
  ...{ sessionMark, post: () => Promise.resolve() },
});
/** The one of a server without sessions. */
export const SESSION = sessionOf(undefined);

/** Every request of a server may be put to the client. */
export const refuseNothing = (): undefined => undefined;

export function setUp(options?: ExchangesOptions): {
  exchanges: Exchanges;
  answers: JsonRpcResponse[];
  /** The sessions of the answers. */
  answeredIn: MessageSession[];
  peer: FakePeer;
} {
  const answers: JsonRpcResponse[] = [];
  const answeredIn: MessageSession[] = [];
  const answer = (session: MessageSession, response: JsonRpcResponse): Promise<boolean> => {
    answeredIn.push(session);
    answers.push(response);
    return Promise.resolve(true);
  };
  const exchanges = new Exchanges(answer, refuseNothing, options);
  return { exchanges, answers, answeredIn, peer: new FakePeer() };
}

export function message(members: object): Parsed {
  const parsed = parseMessage({ jsonrpc: "2.0", ...members });
  if (parsed === undefined) throw new Error("the test made something that is no message");
  return parsed;
}

export const result = (id: RequestId, from: unknown): Parsed => message({ id, result: { from } });
export const progress = (token: unknown): Parsed =>
  message({ method: "notifications/progress", params: { progressToken: token, progress: 1 } });
export const question = (id: string | number): Parsed =>
  message({ id, method: "elicitation/create", params: { message: `of ${id}` } });

/** Lets all promises that can settle do so. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
}
