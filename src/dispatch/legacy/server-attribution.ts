/**
 * Marks the messages of one server to the client of a session: the client sees which server asks, and
 * each reply, now or after a restart, finds the way back to the server.
 */

import type { Call, Peer } from "../../protocol/exchange.ts";
import type { Reply } from "../../protocol/json-rpc.ts";
import type { Unsolicited } from "../../sessions/dispatch.ts";
import { namingAsker } from "../guard/asker.ts";
import { markToken } from "./asker-token.ts";
import { resumeTokensIn, resumeTokenAmong, serverResumeToken } from "./server-resume-token.ts";

export interface ServerAttribution {
  readonly slug: string;
  /** False for the only server of an endpoint: the client knows which server asks. */
  readonly isNamed: boolean;
  /** False for a change that the client does not want, or receives through the fan-out. */
  readonly passes: (notice: Call) => boolean;
}

/** For the messages of a server while it runs a request. @param peer waits for that request. */
export function attributedPeer(peer: Peer, attribution: ServerAttribution): Peer {
  const { slug } = attribution;
  const resumeToken = (ticket: string | undefined): string | undefined =>
    ticket === undefined ? undefined : serverResumeToken(slug, ticket);
  return {
    notify: (notice, ticket) =>
      attribution.passes(notice) ? peer.notify(notice, resumeToken(ticket)) : Promise.resolve(),
    ask: (question, withdrawn, ticket, brought) =>
      peer.ask(askedBy(attribution, question), withdrawn, resumeToken(ticket), brought),
    primed: (ticket) => peer.primed?.(resumeToken(ticket)),
    released: () => peer.released?.(),
  };
}

/** For the messages that belong to no request. */
export function attributedUnsolicited(
  unsolicited: Unsolicited,
  attribution: ServerAttribution,
): Unsolicited {
  const { slug } = attribution;
  const resumeToken = (ticket: string | undefined): string | undefined =>
    ticket === undefined
      ? undefined
      : resumeTokenAmong(unsolicited.lastResumeToken(), slug, ticket);
  return {
    notify: (notice: Call, ticket): Promise<void> =>
      attribution.passes(notice)
        ? unsolicited.notify(notice, resumeToken(ticket))
        : Promise.resolve(),
    ask: (question: Call, withdrawn, ticket, brought): Promise<Reply> =>
      unsolicited.ask(askedBy(attribution, question), withdrawn, resumeToken(ticket), brought),
    primed(ticket) {
      const isFirst = !resumeTokensIn(unsolicited.lastResumeToken()).has(slug);
      unsolicited.primed(resumeToken(ticket), isFirst);
    },
    reopened: () => unsolicited.reopened(),
    lastResumeToken: () => resumeTokensIn(unsolicited.lastResumeToken()).get(slug),
    hasOpenStream: () => unsolicited.hasOpenStream(),
  };
}

function askedBy({ slug, isNamed }: ServerAttribution, question: Call): Call {
  const marked = markToken(question, slug);
  return isNamed ? namingAsker(marked, slug) : marked;
}
