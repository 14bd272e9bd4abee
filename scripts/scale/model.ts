/** A day of the gateway with so many users: what it does, and what the platform charges for it. Pure. */

import { dollarsPerMillion } from "../../bench/bill.ts";
import { OBJECT_GB } from "../../bench/prices.ts";
import { LIMITS } from "../../src/policy/limits.ts";
import type { Mix } from "./mix.ts";
import {
  announcementOf,
  BEARER,
  callOf,
  type Cost,
  FEED_DAY,
  HELD_LEGACY,
  HELD_MODERN,
  LEASE,
  LEGACY_SESSION,
  listOf,
  NEWS,
  plus,
  REFRESH,
  SIGN_IN,
  streamOf,
  times,
} from "./operations.ts";

/** Those of `src/notifications/fan-out/branch.ts`. */
export const BRANCHES = 32;

const DAY_SECONDS = 86_400;
const HOURS = 24;
const DAYS_A_MONTH = 30;
/** The pricing page of Workers and of Durable Objects (`bench/prices.ts` has the prices of operations). */
const DOLLARS_PER_CPU_MS = 0.02 / 1e6;
const DOLLARS_PER_STORED_GB = 0.2;
/** A guess that is high: the benchmark measures about one, for gateway and server together. */
const CPU_MS_PER_REQUEST = 2;
/** What an empty database takes on the platform, and the row of a session. */
const SESSION_BYTES = 16_000;
/** Of a session: its `initialize`, its readiness and a list. */
const REQUESTS_BESIDE_CALLS = 3;

export interface Day {
  readonly users: number;
  readonly sessions: number;
  readonly calls: number;
  /** Streams that are held at the same time, in the busiest hour. */
  readonly held: { readonly legacy: number; readonly modern: number };
  /** What is done, with what it costs in a day. */
  readonly parts: readonly { readonly name: string; readonly cost: Cost }[];
  readonly total: Cost;
  readonly storedGb: number;
  readonly dollarsPerMonth: Bill;
}

export interface Bill {
  readonly requests: number;
  readonly cpu: number;
  readonly objectRequests: number;
  readonly objectDuration: number;
  readonly rows: number;
  readonly storage: number;
  readonly sum: number;
}

export function dayOf(users: number, mix: Mix): Day {
  const sessions = users * mix.sessions;
  const legacySessions = sessions * (1 - mix.modernShare);
  const modernSessions = sessions * mix.modernShare;
  const calls = sessions * mix.callsPerSession;
  const heldLegacy = legacySessions * mix.legacyHeldShare;
  const heldModern = modernSessions * mix.modernHeldShare;
  const heldAtOnce = (held: number): number => (held * mix.heldHours * mix.peak) / HOURS;
  const parts = [
    { name: "Calls", cost: callsOf(calls, mix) },
    { name: "Events of calls that stream", cost: streamedBy(calls, mix) },
    { name: "Tokens, looked up", cost: times(calls + REQUESTS_BESIDE_CALLS * sessions, BEARER) },
    {
      name: "Sessions and lists",
      cost: plus(
        times(legacySessions, LEGACY_SESSION),
        times(sessions, listOf(mix.serversPerPerson)),
      ),
    },
    {
      name: "Streams held",
      cost: plus(
        times(heldLegacy, HELD_LEGACY),
        times(heldModern, HELD_MODERN),
        times((heldLegacy + heldModern) * mix.heldHours, LEASE),
      ),
    },
    {
      name: "Changes",
      cost: plus(
        times(heldLegacy * mix.heldHours * mix.newsPerHeldHour, NEWS),
        times(mix.servers * HOURS * mix.newsPerServerHour, announcementOf(BRANCHES)),
      ),
    },
    {
      name: "Sign-ins and refreshes",
      cost: plus(times(users * mix.signIns, SIGN_IN), times(sessions * mix.heldHours, REFRESH)),
    },
    { name: "Feeds, awake", cost: times(mix.servers, FEED_DAY) },
  ];
  const total = plus(...parts.map(({ cost }) => cost));
  // No client deletes its session.
  const storedGb = (total.objectsMade * LIMITS.sessionDays.default * SESSION_BYTES) / 1e9;
  return {
    ...{ users, sessions, calls, parts, total, storedGb },
    held: { legacy: heldAtOnce(heldLegacy), modern: heldAtOnce(heldModern) },
    dollarsPerMonth: billOf(total, storedGb),
  };
}

function callsOf(calls: number, mix: Mix): Cost {
  const shareOf = { legacy: 1 - mix.modernShare, modern: mix.modernShare };
  const ofServers = { legacy: mix.legacyServerShare, modern: 1 - mix.legacyServerShare };
  const eras = ["legacy", "modern"] as const;
  return plus(
    ...eras.flatMap((client) =>
      eras.map((server) =>
        times(calls * shareOf[client] * ofServers[server], callOf(client, server, mix.callSeconds)),
      ),
    ),
  );
}

/** The streams of modern clients are in no log. */
function streamedBy(calls: number, mix: Mix): Cost {
  const streamed = calls * (1 - mix.modernShare) * mix.streamedShare;
  return times(streamed, streamOf(mix.eventsPerStream));
}

/** @param cost of a day. @returns dollars for a month of such days, at list prices, with nothing included. */
function billOf(cost: Cost, storedGb: number): Bill {
  const nothing = {
    ...{ workerRequests: 0, objectRequests: 0, webSocketMessagesIn: 0 },
    ...{ rowsRead: 0, rowsWritten: 0, alarmsSet: 0, objectSeconds: 0 },
  };
  // A million times what one costs is what a million cost.
  const dollars = (operations: Partial<typeof nothing>): number =>
    (dollarsPerMillion({ ...nothing, ...operations }) / 1e6) * DAYS_A_MONTH;
  const bill = {
    requests: dollars({ workerRequests: cost.requests }),
    cpu: cost.requests * CPU_MS_PER_REQUEST * DOLLARS_PER_CPU_MS * DAYS_A_MONTH,
    objectRequests: dollars({ objectRequests: cost.objectRequests }),
    objectDuration: dollars({ objectSeconds: cost.objectSeconds }),
    rows: dollars({ rowsRead: cost.rowsRead, rowsWritten: cost.rowsWritten }),
    storage: storedGb * DOLLARS_PER_STORED_GB,
  };
  return { ...bill, sum: Object.values(bill).reduce((sum, each) => sum + each, 0) };
}

export function gigabyteSeconds({ objectSeconds }: Cost): number {
  return objectSeconds * OBJECT_GB;
}

/** In the busiest second, of what happens so often in a day. */
export function busiestSecond(aDay: number, { peak }: Mix): number {
  return (aDay / DAY_SECONDS) * peak;
}
