/**
 * The ports of `src` over the Durable Objects of `Env`. Each says which object is called; the calls
 * themselves are those of the typed stub. A stub that has failed stays failed, so each stub is for
 * one call.
 */

import type { Feed, Feeds } from "../src/catalog/feeds.ts";
import type { Sessions } from "../src/http/front-door.ts";
import { branchName, branchOf } from "../src/notifications/fan-out/branch.ts";
import { count } from "../src/observability/costs.ts";

/** There is one feed for each server that all users share, and one for each account elsewhere. */
const FEED_PREFIX = "shared ";
const REGISTRY_NAME = "registry";

/** Counts the call that a stub is for. */
export function called<Stub>(stub: Stub): Stub {
  count("objectRequests");
  return stub;
}

export function sessionsIn({ SESSIONS }: Pick<Env, "SESSIONS">): Sessions {
  return {
    // Creates only an id: the object comes to life with the session's first message.
    create: () => SESSIONS.newUniqueId().toString(),
    at: (object) => called(SESSIONS.get(SESSIONS.idFromString(object))),
  };
}

/** @param key of the server (`serverKey`). */
export function feedName(key: string): string {
  return FEED_PREFIX + key;
}

/** The reverse of `feedName`. */
export function feedKeyOf({ name = FEED_PREFIX }: DurableObjectId): string {
  return name.slice(FEED_PREFIX.length);
}

export function feedsIn(env: Pick<Env, "FEEDS">): Feeds {
  return { of: (key): Feed => feedAt(env, key) };
}

export function feedAt(
  { FEEDS }: Pick<Env, "FEEDS">,
  key: string,
): ReturnType<Env["FEEDS"]["get"]> {
  return called(FEEDS.getByName(feedName(key)));
}

/** @param branch 0 to `BRANCHES` - 1. */
export function branchAt(
  { FAN_OUT }: Pick<Env, "FAN_OUT">,
  branch: number,
): ReturnType<Env["FAN_OUT"]["get"]> {
  return called(FAN_OUT.getByName(branchName(branch)));
}

/** @param subscriber the id of a session's object, or of a listener. */
export function branchFor(
  env: Pick<Env, "FAN_OUT">,
  subscriber: string,
): ReturnType<typeof branchAt> {
  return branchAt(env, branchOf(subscriber));
}

/** The gateway has one. */
export function registryIn({
  REGISTRY,
}: Pick<Env, "REGISTRY">): ReturnType<Env["REGISTRY"]["get"]> {
  return called(REGISTRY.getByName(REGISTRY_NAME));
}

/** As `registryIn`, for what an isolate asks by the clock, however many requests it has. */
export function registryByClock({
  REGISTRY,
}: Pick<Env, "REGISTRY">): ReturnType<Env["REGISTRY"]["get"]> {
  count("renewals");
  return REGISTRY.getByName(REGISTRY_NAME);
}
