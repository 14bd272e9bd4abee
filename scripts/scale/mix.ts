/**
 * Who uses the gateway that the model computes: assumptions, each in one place. They are on the side of what
 * costs more. Pure.
 */

/** Daily users. */
export const USERS = [1000, 100_000, 1_000_000] as const;

export interface Mix {
  /** Of one user a day, each with one endpoint. */
  readonly sessions: number;
  /** Servers behind that endpoint. */
  readonly serversPerPerson: number;
  /** Servers behind the gateway in all. */
  readonly servers: number;
  readonly callsPerSession: number;
  readonly callSeconds: number;
  /** Of all sessions; the others are those of legacy clients. */
  readonly modernShare: number;
  /** Of all calls: those to servers of legacy revisions. */
  readonly legacyServerShare: number;
  /** Of all calls: those that stream, with so many events. */
  readonly streamedShare: number;
  readonly eventsPerStream: number;
  /** Of all sessions: those that hold a stream, legacy clients and modern ones, and for how long. */
  readonly legacyHeldShare: number;
  readonly modernHeldShare: number;
  readonly heldHours: number;
  /** Changes of a resource or a list that one held stream is told in an hour. */
  readonly newsPerHeldHour: number;
  /** Changes that a server announces in an hour. */
  readonly newsPerServerHour: number;
  /** New sign-ins of one user, in a day. A token is refreshed every hour while a client is at work. */
  readonly signIns: number;
  /** The busiest second of a day, by the average one. */
  readonly peak: number;
}

export const MIX: Mix = {
  sessions: 4,
  serversPerPerson: 5,
  servers: 50,
  callsPerSession: 25,
  callSeconds: 1,
  modernShare: 0.3,
  legacyServerShare: 0.7,
  streamedShare: 0.1,
  eventsPerStream: 20,
  legacyHeldShare: 1,
  modernHeldShare: 0.5,
  heldHours: 1,
  newsPerHeldHour: 2,
  newsPerServerHour: 10,
  signIns: 1 / 15,
  peak: 3,
};

const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** As rows of a table: what is assumed, and how much of it. */
export function mixInWords(mix: Mix): readonly (readonly [string, string])[] {
  return [
    ["Sessions of a user in a day", String(mix.sessions)],
    ["Servers of a user; of all users", `${mix.serversPerPerson}; ${mix.servers}`],
    ["Calls in a session; each takes", `${mix.callsPerSession}; ${mix.callSeconds} s`],
    ["Sessions of modern clients", percent(mix.modernShare)],
    ["Calls that go to legacy servers", percent(mix.legacyServerShare)],
    ["Calls that stream; events of one", `${percent(mix.streamedShare)}; ${mix.eventsPerStream}`],
    [
      "Sessions that hold a stream: legacy clients, modern ones",
      `${percent(mix.legacyHeldShare)}, ${percent(mix.modernHeldShare)}; for ${mix.heldHours} h`,
    ],
    ["Changes that a held stream is told in an hour", String(mix.newsPerHeldHour)],
    ["Changes that a server announces in an hour", String(mix.newsPerServerHour)],
    [
      "Sign-ins of a user; refreshes of a token",
      `every ${Math.round(1 / mix.signIns)} days; one an hour in a session`,
    ],
    ["The busiest second, by the average one", `${mix.peak} ×`],
  ];
}
