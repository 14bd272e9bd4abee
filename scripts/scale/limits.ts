/** Limits of the platform, and one of the gateway's own, each with the load that the model puts on it. Pure. */

import { allShards } from "../../src/auth/store/shards.ts";
import { LIMITS } from "../../src/policy/limits.ts";
import { REFRESH_CALLS, SIGN_IN_CALLS, SIGN_IN_CALLS_OF_KNOWN_CLIENT } from "./operations.ts";
import type { Mix } from "./mix.ts";
import { BRANCHES, busiestSecond, type Day } from "./model.ts";

const OBJECTS = "https://developers.cloudflare.com/durable-objects/platform/limits/";
const OBJECT_STATE = "https://developers.cloudflare.com/durable-objects/api/state/";
const WORKERS = "https://developers.cloudflare.com/workers/platform/limits/";

/** Requests of one object in a second. */
const REQUESTS = { of: "requests a second", most: 1000, source: OBJECTS };
const SOCKETS = { of: "WebSockets", most: 32_768, source: OBJECT_STATE };
const SUBREQUESTS = { of: "subrequests", most: 10_000, source: WORKERS };
const REGISTRATIONS = {
  of: "registrations a day",
  most: LIMITS.registrationsPerDay.default,
  source: "../configuration.md",
};
const GIGABYTES = { of: "GB", most: 10, source: OBJECTS };

const USER_SHARDS = allShards("u").length;
const ATTEMPT_SHARDS = allShards("t").length;

/** What a user's grants, tokens, browser sessions and last audit lines take: a guess that is high. */
const USER_BYTES = 50_000;
/** Subscriptions, with their topics. */
const SUBSCRIPTION_BYTES = 1000;
/** An isolate asks for the keys of session ids once in ten minutes. */
const KEYS_SECONDS = 600;
/** After a deploy, everybody is back within this time. */
const RECONNECT_SECONDS = 60;
/** Requests of a stream that is opened anew: the token, and its lease. */
const REOPENED_AT_USER = 3;
/** Calls of a branch by a stream that is opened anew. */
const REOPENED_AT_BRANCH = 2;
const HOUR_SECONDS = 3600;

export interface Limit {
  readonly name: string;
  readonly of: string;
  readonly most: number;
  readonly source: string;
  /** What comes to it, with the day of so many users. */
  readonly load: (day: Day, mix: Mix) => number;
}

export const PLACES: readonly Limit[] = [
  {
    ...REQUESTS,
    name: `One of ${USER_SHARDS} objects of users: tokens looked up`,
    load: ({ calls, sessions }, mix) => busiestSecond(calls + sessions, mix) / USER_SHARDS,
  },
  {
    ...REQUESTS,
    name: "The same, when all streams are opened anew within a minute",
    load: ({ held }) => (all(held) * REOPENED_AT_USER) / RECONNECT_SECONDS / USER_SHARDS,
  },
  {
    ...SOCKETS,
    name: "The same: leases of held streams",
    load: ({ held }) => all(held) / USER_SHARDS,
  },
  {
    ...GIGABYTES,
    name: "The same: records",
    load: ({ users }) => (users * USER_BYTES) / 1e9 / USER_SHARDS,
  },
  {
    ...REQUESTS,
    name: `One of ${ATTEMPT_SHARDS} objects of attempts: sign-ins`,
    load: ({ users }, mix) =>
      (busiestSecond(users * mix.signIns, mix) * SIGN_IN_CALLS.attempt) / ATTEMPT_SHARDS,
  },
  {
    ...REQUESTS,
    name: "The same, when everybody signs in within an hour",
    load: ({ users }) => ((users / HOUR_SECONDS) * SIGN_IN_CALLS.attempt) / ATTEMPT_SHARDS,
  },
  {
    ...REQUESTS,
    name: "The object of a client that everybody uses: sign-ins and refreshes",
    load: ({ users, sessions }, mix) =>
      busiestSecond(
        users * mix.signIns * SIGN_IN_CALLS_OF_KNOWN_CLIENT +
          sessions * mix.heldHours * REFRESH_CALLS.client,
        mix,
      ),
  },
  {
    ...REQUESTS,
    name: "The same, when everybody signs in within an hour",
    load: ({ users }) => (users / HOUR_SECONDS) * SIGN_IN_CALLS_OF_KNOWN_CLIENT,
  },
  {
    ...REGISTRATIONS,
    name: "`registrationsPerDay`, if every sign-in is that of a client nobody knows",
    load: ({ users }, mix) => users * mix.signIns,
  },
  {
    ...REQUESTS,
    name: "The registry: session keys, if each held stream had an isolate of its own",
    load: ({ held }) => all(held) / KEYS_SECONDS,
  },
  {
    ...REQUESTS,
    name: "The feed of a server that everybody uses: lists",
    load: ({ sessions }, mix) => busiestSecond(sessions, mix),
  },
  {
    ...SUBREQUESTS,
    name: "A branch: sessions that are told one change, of a server that all listen to",
    load: ({ held }) => held.legacy / BRANCHES,
  },
  {
    ...SOCKETS,
    name: "A branch: modern listeners",
    load: ({ held }) => held.modern / BRANCHES,
  },
  {
    ...REQUESTS,
    name: "A branch, when all streams are opened anew within a minute",
    load: ({ held }) => (all(held) * REOPENED_AT_BRANCH) / RECONNECT_SECONDS / BRANCHES,
  },
  {
    ...GIGABYTES,
    name: "A branch: subscriptions",
    load: ({ held }) => (all(held) * SUBSCRIPTION_BYTES) / 1e9 / BRANCHES,
  },
];

/** The users with whom a limit is met: every load grows as they do. */
export function metAt({ most, load }: Limit, day: Day, mix: Mix): number {
  return (day.users * most) / load(day, mix);
}

function all(held: Day["held"]): number {
  return held.legacy + held.modern;
}
