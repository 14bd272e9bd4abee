/** The states of an account at a server, and every way from one to another. */

export type AccountLife =
  /** Its credential is used. */
  | "connected"
  /** A request for a new token was written down and sent. Its answer is not known yet. */
  | "renewing"
  /**
   * A refresh had no answer, so the refresh token may be spent. The access token is used to its end, and
   * the refresh token is not sent before: where it was spent, that would end the access token too.
   */
  | "uncertain"
  /** The refresh token that may be spent was sent once more: nothing is left that it could end. */
  | "trying again"
  /** The authorization server did not process the request; it is asked again after a pause. */
  | "failing"
  /** The authorization server refuses what the operator has configured. The tokens are kept. */
  | "misconfigured"
  /** The server refuses a credential that is new. For a while it is not called with this account. */
  | "refused"
  /** The authorization server that the server names is not the account's any more. */
  | "moved"
  /** Only a person can connect it again. */
  | "ended";

export type AccountEvent =
  /** The request for a token was written down; it is sent when that is durable. */
  | "sent"
  | "renewed"
  /** It provably was not processed, or repeating it does no harm. */
  | "not processed"
  /** Whether it was processed is unknown; so it is when the object died in between. */
  | "unanswered"
  /** The grant is over (RFC 6749 section 5.2, `invalid_grant`). */
  | "denied"
  /** The answer means that the operator has to change something. */
  | "not accepted"
  /** The server has answered 401 to a new credential, or to one that cannot be renewed. */
  | "refused"
  /** The time is over for which a refused credential was not sent. */
  | "rested"
  | "moved"
  /** The credential has ended, and cannot be renewed. */
  | "expired";

type Ways = Readonly<Partial<Record<AccountEvent, AccountLife>>>;

const ANY = { moved: "moved", expired: "ended", denied: "ended" } as const;
const USED = { ...ANY, sent: "renewing", refused: "refused" } as const;

const TRANSITIONS: Readonly<Record<AccountLife, Ways>> = {
  connected: USED,
  renewing: {
    ...ANY,
    renewed: "connected",
    "not processed": "failing",
    "not accepted": "misconfigured",
    unanswered: "uncertain",
  },
  uncertain: { ...ANY, sent: "trying again" },
  "trying again": {
    ...ANY,
    renewed: "connected",
    // It may be spent as before, whatever became of this request.
    "not processed": "uncertain",
    "not accepted": "uncertain",
    unanswered: "uncertain",
  },
  failing: USED,
  misconfigured: USED,
  refused: { ...ANY, rested: "connected" },
  moved: {},
  ended: { moved: "moved" },
};

/** @returns `undefined` for an event that leads nowhere from there: it came too late. */
export function next(life: AccountLife, event: AccountEvent): AccountLife | undefined {
  return TRANSITIONS[life][event];
}
