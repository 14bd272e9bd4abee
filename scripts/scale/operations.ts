/**
 * What one of each costs in the units that the platform bills, as the gateway's own counters say: in the tests of
 * costs, and in the row `bill` of the benchmark. Pure.
 */

import { LIMITS } from "../../src/policy/limits.ts";

export interface Cost {
  /** Requests of clients to the Worker. */
  readonly requests: number;
  /** Calls of objects, WebSockets to them and alarms that go off. */
  readonly objectRequests: number;
  /** Deletes and alarms that are set are among them. */
  readonly rowsWritten: number;
  readonly rowsRead: number;
  /** How long an object is at work, or kept from sleeping. */
  readonly objectSeconds: number;
  /** Objects that are made, and stay. */
  readonly objectsMade: number;
}

export const FREE: Cost = {
  requests: 0,
  objectRequests: 0,
  rowsWritten: 0,
  rowsRead: 0,
  objectSeconds: 0,
  objectsMade: 0,
};

/** For a call of an object that only looks something up. */
const LOOK_UP_SECONDS = 0.01;
/** A timer keeps an object awake for so long after the last message, before it lets a stream go. */
const QUIET_SECONDS = LIMITS.quietSeconds.default;
const DAY_SECONDS = 86_400;

/** @param seconds that the call takes at its server. */
export function callOf(client: Era, server: Era, seconds: number): Cost {
  if (client === "legacy") {
    return { ...FREE, requests: 1, objectRequests: 1, objectSeconds: seconds };
  }
  if (server === "modern") return { ...FREE, requests: 1 };
  // The stream that the session at the server listens on is closed when it was quiet.
  return { ...FREE, requests: 1, objectRequests: 1, objectSeconds: seconds + QUIET_SECONDS };
}

type Era = "legacy" | "modern";

/**
 * Rows that an event takes in the log of its session, where a hundred come in a burst: as `npm run bench -- --only
 * bill` says. An event that comes alone takes a whole row.
 */
const ROWS_PER_EVENT = 0.08;

/** What a call costs more when it streams: its opening, its events and its answer, and their deletion. */
export function streamOf(events: number): Cost {
  return { ...FREE, rowsWritten: 2 * (2 + events * ROWS_PER_EVENT) };
}

/** Every request brings a token. After `bearerCacheSeconds` it is looked up anew, as most are. */
export const BEARER: Cost = { ...FREE, rowsRead: 3, ...asked(1) };

/** `initialize` and `notifications/initialized` cost no object. The first call makes one, with a row and an alarm. */
export const LEGACY_SESSION: Cost = { ...FREE, requests: 2, rowsWritten: 2, objectsMade: 1 };

/** The feed of each server is asked for its tools. */
export function listOf(servers: number): Cost {
  return { ...FREE, requests: 1, ...asked(servers) };
}

/** A legacy client's stream, with a subscription: what the session and its branch write, and an alarm. */
export const HELD_LEGACY: Cost = {
  ...{ requests: 2, objectRequests: 3.2, rowsWritten: 7.8, rowsRead: 4.8 },
  ...{ objectSeconds: QUIET_SECONDS, objectsMade: 0 },
};

/** A modern client's, the same. */
export const HELD_MODERN: Cost = { ...FREE, requests: 1, rowsWritten: 2, ...asked(1) };

/** A stream that lasts longer than `leaseSeconds`: a WebSocket to the user's object, and a look at the token. */
export const LEASE: Cost = { ...FREE, ...asked(2) };

/** A change, told to a session: a call, and a row that is deleted later. A listener gets it for nothing. */
export const NEWS: Cost = {
  ...{ ...FREE, objectRequests: 1, rowsWritten: 2, rowsRead: 4 },
  objectSeconds: 0.05,
};

/** A change, on its way through the branches. */
export function announcementOf(branches: number): Cost {
  return {
    ...{ ...FREE, objectRequests: branches, rowsWritten: 3 * branches },
    objectSeconds: branches * 0.1,
  };
}

/** Calls of the objects of sign-in: of the user's, of the client's, and of what lives for minutes. */
export const SIGN_IN_CALLS = { user: 8, client: 7, attempt: 18 };
/** The first sign-in of a client registers it. */
export const SIGN_IN_CALLS_OF_KNOWN_CLIENT = SIGN_IN_CALLS.client - 1;
export const REFRESH_CALLS = { user: 1, client: 2 };

/** From a client that nobody knows to its token, with the pages between. */
export const SIGN_IN: Cost = {
  ...{ ...FREE, requests: 6, rowsWritten: 119, rowsRead: 83 },
  ...asked(SIGN_IN_CALLS.user + SIGN_IN_CALLS.client + SIGN_IN_CALLS.attempt),
};

export const REFRESH: Cost = {
  ...{ ...FREE, requests: 1, rowsWritten: 7, rowsRead: 17 },
  ...asked(REFRESH_CALLS.user + REFRESH_CALLS.client),
};

/** Of one server, in a day: its feed stays awake, and an alarm looks after it twice a minute. */
export const FEED_DAY: Cost = {
  ...{ ...FREE, objectRequests: DAY_SECONDS / 30, rowsWritten: DAY_SECONDS / 30 },
  objectSeconds: DAY_SECONDS,
};

/** What so many calls of objects take that only look something up, or write it down. */
function asked(calls: number): Pick<Cost, "objectRequests" | "objectSeconds"> {
  return { objectRequests: calls, objectSeconds: calls * LOOK_UP_SECONDS };
}

export function plus(...costs: readonly Cost[]): Cost {
  return costs.reduce((sum, each) => combine(sum, each, (a, b) => a + b), FREE);
}

export function times(count: number, cost: Cost): Cost {
  return combine(cost, FREE, (a) => a * count);
}

function combine(first: Cost, second: Cost, by: (a: number, b: number) => number): Cost {
  return {
    requests: by(first.requests, second.requests),
    objectRequests: by(first.objectRequests, second.objectRequests),
    rowsWritten: by(first.rowsWritten, second.rowsWritten),
    rowsRead: by(first.rowsRead, second.rowsRead),
    objectSeconds: by(first.objectSeconds, second.objectSeconds),
    objectsMade: by(first.objectsMade, second.objectsMade),
  };
}
