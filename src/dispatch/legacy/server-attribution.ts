/**
 * How one server speaks to the client of a session: as if it were the only one, but that the client
 * is shown who asks, and that whatever comes back, now or after a restart, finds the way to it.
 */

import type { Call, Peer } from "../../protocol/exchange.ts";
import type { Reply } from "../../protocol/json-rpc.ts";
import type { Unsolicited } from "../../sessions/dispatch.ts";
import { namingAsker } from "../guard/asker.ts";
import { markToken } from "./asker-token.ts";
import { resumeTokensIn, resumeTokenAmong, serverResumeToken } from "./server-resume-token.ts";

export interface ServerAttribution {
  readonly slug: string;
  /** Where it is the only one, everybody knows who asks. */
  readonly isNamed: boolean;
  /** Whether the client is to hear this: of a change it may hear by another way, or not want to. */
  readonly passes: (notice: Call) => boolean;
}

/** For what a server says while it runs a request. @param peer waits for that request. */
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

/** For what belongs to no request. */
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
