/** What the documentation says is lost where the limits of what a session keeps are small, and nothing more. */

import { type Call, isGivenUp, type Ledger } from "./ledger.ts";

/** The limits that differ from what is usual, by their names in the documentation. */
export interface Quotas {
  readonly keptEventsPerStream?: number;
  readonly keptBytesPerStream?: number;
  readonly keptBytesPerSession?: number;
  readonly keptStreamsPerSession?: number;
  readonly retentionMinutes?: number;
}

const OUTGREW = "its stream outgrew what the gateway keeps";
const GONE = "The events after this Last-Event-ID are gone";
const RESTARTED = "The gateway was restarted while this ran";

/** The most that is kept with an event beside its text: the message around it, and where it is taken up. */
const AROUND_CHARS = 400;
const LISTS = 3;
const MINUTE_MS = 60_000;
/** The gateway may notice a broken stream this much before its client does. */
const NOTICE_MS = 1000;

export class QuotaModel {
  readonly #limits: Quotas;
  readonly #now: () => number;
  readonly #ledger: Pick<Ledger, "calls" | "questions" | "changes" | "hasClockJumped">;
  /** Requests of each client whose answers may have been streams. */
  readonly #opened = new Map<string, number>();

  /** @param now in milliseconds since 1970. */
  constructor(
    limits: Quotas,
    now: () => number,
    ledger: Pick<Ledger, "calls" | "questions" | "changes" | "hasClockJumped">,
  ) {
    this.#limits = limits;
    this.#now = now;
    this.#ledger = ledger;
  }

  /** A client sends what may open a stream. */
  opens(client: string): void {
    this.#opened.set(client, (this.#opened.get(client) ?? 0) + 1);
  }

  /** @returns what is wrong with a call that ends in this error. */
  fault(call: Call, error: string): string | undefined {
    if (error.includes(OUTGREW) && !this.#hasOutgrown(call))
      return `${call.name} is said to have outgrown its quota`;
    if (error.includes(GONE) && !this.#mayBeGone(call.client, call.startedAt))
      return `the events of ${call.name} are said to be gone`;
    return undefined;
  }

  /** The error is one that the limits explain. */
  explains(call: Call): boolean {
    const { error = "" } = call;
    if (error.includes(OUTGREW)) return true;
    // A Worker whose stream broke with its object finds its place gone in the same way.
    const isGone = error.includes(GONE) || error.includes(RESTARTED);
    // A stream is pushed out when it has ended, and not before.
    return isGone && (call.hasAnswered || this.#hasOutgrown(call));
  }

  /** A client's place in its standalone stream is said to be gone. @param since when it had the place. */
  mayLosePlace(client: string, since: number, text: string): boolean {
    return text.includes(GONE) && this.#mayBeGone(client, since);
  }

  /** @param awayMs for which a client had no standalone stream: nothing is followed for it any more. */
  isForgotten(awayMs: number): boolean {
    const { retentionMinutes = Infinity } = this.#limits;
    return awayMs >= retentionMinutes * MINUTE_MS - NOTICE_MS;
  }

  #hasOutgrown(call: Call): boolean {
    const {
      keptEventsPerStream = Infinity,
      keptBytesPerStream = Infinity,
      keptBytesPerSession = Infinity,
    } = this.#limits;
    // What a client gave up may still run.
    const beside = [...this.#ledger.calls.values()].filter(
      ({ client, ends, endedAt = Infinity }) =>
        client === call.client && (isGivenUp(ends[0]) || endedAt >= call.startedAt),
    );
    return (
      this.#eventsOf(call) > keptEventsPerStream ||
      this.#charsOf(call) > keptBytesPerStream ||
      this.#newsChars +
        [...new Set([call, ...beside])].reduce((all, each) => all + this.#charsOf(each), 0) >
        keptBytesPerSession
    );
  }

  /** What the client's standalone stream keeps at most: a change of a list may be one of three. */
  get #newsChars(): number {
    return this.#ledger.changes.count * LISTS * AROUND_CHARS;
  }

  /** Something was pushed out of the session, or is over. */
  #mayBeGone(client: string, since: number): boolean {
    const {
      keptStreamsPerSession = Infinity,
      keptBytesPerSession = Infinity,
      retentionMinutes = Infinity,
    } = this.#limits;
    const its = [...this.#ledger.calls.values()].filter((each) => each.client === client);
    return (
      // What a clock that was set back has written is over by one that is right.
      this.#ledger.hasClockJumped ||
      (this.#opened.get(client) ?? 0) > keptStreamsPerSession ||
      its.reduce((all, each) => all + this.#charsOf(each), this.#newsChars) > keptBytesPerSession ||
      this.#now() - since >= retentionMinutes * MINUTE_MS
    );
  }

  /** With the record of the call, its question, and that the question is taken back. */
  #eventsOf({ name, sent, repeated }: Call): number {
    const isAsked = this.#ledger.questions.has(`${name}?`);
    return 1 + sent.length + repeated.length + (isAsked ? 2 : 0);
  }

  #charsOf(call: Call): number {
    const text = [...call.sent, ...call.repeated].join("");
    return text.length + this.#eventsOf(call) * AROUND_CHARS;
  }
}
