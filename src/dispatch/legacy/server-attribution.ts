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
  const resumeToken = (own: string | undefined): string | undefined =>
    own === undefined ? undefined : serverResumeToken(slug, own);
  return {
    notify: (notice, own) =>
      attribution.passes(notice) ? peer.notify(notice, resumeToken(own)) : Promise.resolve(),
    ask: (question, withdrawn, own, brought) =>
      peer.ask(askedBy(attribution, question), withdrawn, resumeToken(own), brought),
    primed: (own) => peer.primed?.(resumeToken(own)),
    released: () => peer.released?.(),
  };
}

/** For the messages that belong to no request. */
export function attributedUnsolicited(
  unsolicited: Unsolicited,
  attribution: ServerAttribution,
): Unsolicited {
  const { slug } = attribution;
  const resumeToken = (own: string | undefined): string | undefined =>
    own === undefined ? undefined : resumeTokenAmong(unsolicited.lastResumeToken(), slug, own);
  return {
    notify: (notice: Call, own): Promise<void> =>
      attribution.passes(notice) ? unsolicited.notify(notice, resumeToken(own)) : Promise.resolve(),
    ask: (question: Call, withdrawn, own, brought): Promise<Reply> =>
      unsolicited.ask(askedBy(attribution, question), withdrawn, resumeToken(own), brought),
    primed(own) {
      const isFirst = !resumeTokensIn(unsolicited.lastResumeToken()).has(slug);
      unsolicited.primed(resumeToken(own), isFirst);
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
