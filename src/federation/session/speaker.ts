/**
 * How one server speaks to the client of a session: as if it were the only one, but that the client
 * is shown who asks, and that whatever comes back, now or after a restart, finds the way to it.
 */

import type { Call, Peer } from "../../protocol/exchange.ts";
import type { Reply } from "../../protocol/json-rpc.ts";
import type { Unsolicited } from "../../sessions/dispatch.ts";
import { namingAsker } from "../calls/asker.ts";
import { markToken } from "./asker-token.ts";
import { placesIn, ticketAmong, ticketOf } from "./ticket.ts";

export interface Speaker {
  readonly slug: string;
  /** Where it is the only one, everybody knows who asks. */
  readonly isNamed: boolean;
  /** Whether the client is to hear this: of a change it may hear by another way, or not want to. */
  readonly passes: (notice: Call) => boolean;
}

/** For what a server says while it runs a request. @param peer waits for that request. */
export function speakingOn(peer: Peer, speaker: Speaker): Peer {
  const { slug } = speaker;
  const lead = (ticket: string | undefined): string | undefined =>
    ticket === undefined ? undefined : ticketOf(slug, ticket);
  return {
    notify: (notice, ticket) =>
      speaker.passes(notice) ? peer.notify(notice, lead(ticket)) : Promise.resolve(),
    ask: (question, withdrawn, ticket, brought) =>
      peer.ask(askedBy(speaker, question), withdrawn, lead(ticket), brought),
    primed: (ticket) => peer.primed?.(lead(ticket)),
    released: () => peer.released?.(),
  };
}

/** For what belongs to no request. */
export function speakingUnasked(unsolicited: Unsolicited, speaker: Speaker): Unsolicited {
  const { slug } = speaker;
  const lead = (ticket: string | undefined): string | undefined =>
    ticket === undefined ? undefined : ticketAmong(unsolicited.lastTicket(), slug, ticket);
  return {
    notify: (notice: Call, ticket): Promise<void> =>
      speaker.passes(notice) ? unsolicited.notify(notice, lead(ticket)) : Promise.resolve(),
    ask: (question: Call, withdrawn, ticket, brought): Promise<Reply> =>
      unsolicited.ask(askedBy(speaker, question), withdrawn, lead(ticket), brought),
    primed(ticket) {
      const isFirst = !placesIn(unsolicited.lastTicket()).has(slug);
      unsolicited.primed(lead(ticket), isFirst);
    },
    reopened: () => unsolicited.reopened(),
    lastTicket: () => placesIn(unsolicited.lastTicket()).get(slug),
    isHeard: () => unsolicited.isHeard(),
  };
}

function askedBy({ slug, isNamed }: Speaker, question: Call): Call {
  const marked = markToken(question, slug);
  return isNamed ? namingAsker(marked, slug) : marked;
}
