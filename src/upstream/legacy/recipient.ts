/** The recipient of a server's messages on our side of the hop, with the place that each came from. */

import type { Call, Peer } from "../../protocol/exchange.ts";
import type { Reply } from "../../protocol/json-rpc.ts";
import { type ResumePoint, writeResumeToken } from "./resume-token.ts";

/** The place in a stream, or the server request, that a message came from. */
export type MessageOrigin = Pick<ResumePoint, "lastEventId" | "ask">;

export interface Recipient {
  notify(notice: Call, origin: MessageOrigin): Promise<void>;
  /** @param brought resolves when the server has received the answer. */
  ask(
    request: Call,
    withdrawn: AbortSignal,
    origin: MessageOrigin,
    brought?: Promise<void>,
  ): Promise<Reply>;
}

/** Gives each message the token that resumes its exchange after it. */
export function withResumeTokens(peer: Peer, base: ResumePoint = {}): Recipient {
  let { lastEventId } = base;
  const tokenOf = (origin: MessageOrigin): string | undefined => {
    lastEventId = origin.lastEventId ?? lastEventId;
    return writeResumeToken({
      ...base,
      ...(lastEventId === undefined ? {} : { lastEventId }),
      ...(origin.ask === undefined ? {} : { ask: origin.ask }),
    });
  };
  return {
    notify: (notice, origin) => peer.notify(notice, tokenOf(origin)),
    ask: (request, withdrawn, origin, brought) =>
      peer.ask(request, withdrawn, tokenOf(origin), brought),
  };
}
