/** A day of the gateway, computed from a mix of clients. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { metAt, PLACES } from "../../../../scripts/scale/limits.ts";
import { MIX, type Mix } from "../../../../scripts/scale/mix.ts";
import { BRANCHES, dayOf } from "../../../../scripts/scale/model.ts";
import { type Cost, plus } from "../../../../scripts/scale/operations.ts";
import { BRANCHES as REAL_BRANCHES } from "../../../../src/notifications/fan-out/branch.ts";

/** Modern clients that call modern servers, without sign-in, streams and changes. */
const BARE: Mix = {
  ...MIX,
  modernShare: 1,
  legacyServerShare: 0,
  streamedShare: 0,
  modernHeldShare: 0,
  newsPerServerHour: 0,
  servers: 0,
};

const partOf = (users: number, mix: Mix, part: string): Cost => {
  const found = dayOf(users, mix).parts.find(({ name }) => name === part);
  if (found === undefined) throw new Error(`There is no part ${part}`);
  return found.cost;
};

const EVENTS = "Events of calls that stream";

/** Of the calls of a thousand users. */
const objectRequests = (mix: Partial<Mix>): number =>
  partOf(1000, { ...BARE, ...mix }, "Calls").objectRequests;

/** Of one call of two seconds. */
const seconds = (mix: Partial<Mix>): number =>
  partOf(1, { ...BARE, ...{ sessions: 1, callsPerSession: 1, callSeconds: 2 }, ...mix }, "Calls")
    .objectSeconds;

/** Of one call that streams. */
const rows = (mix: Partial<Mix>): number =>
  partOf(1, { ...BARE, ...mix, sessions: 1, callsPerSession: 1, streamedShare: 1 }, EVENTS)
    .rowsWritten;

describe("a day", () => {
  test("is the sum of its parts", ({ expect }) => {
    const { parts, total } = dayOf(1000, MIX);
    expect(plus(...parts.map(({ cost }) => cost))).toEqual(total);
  });

  test("of more users costs as much more, but for what each server costs", ({ expect }) => {
    const noServers = { ...MIX, servers: 0 };
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1e6 }),
        fc.integer({ min: 2, max: 100 }),
        (users, by) => {
          const [one, more] = [dayOf(users, noServers), dayOf(users * by, noServers)];
          expect(more.dollarsPerMonth.sum / one.dollarsPerMonth.sum).toBeCloseTo(by, 6);
          expect(more.held.legacy / one.held.legacy).toBeCloseTo(by, 6);
          const both = [dayOf(users, MIX), dayOf(users * by, MIX)].map(
            ({ dollarsPerMonth }) => dollarsPerMonth.sum,
          );
          expect(both[1]).toBeLessThan((both[0] ?? 0) * by);
        },
      ),
    );
  });

  test("has as many calls of objects as the counters say", ({ expect }) => {
    const calls = 1000 * MIX.sessions * MIX.callsPerSession;
    expect(objectRequests({})).toBe(0);
    expect(objectRequests({ legacyServerShare: 1 })).toBe(calls);
    expect(objectRequests({ modernShare: 0 })).toBe(calls);
    expect(objectRequests({ modernShare: 0.5 })).toBe(calls / 2);
  });

  test("a modern client keeps a session at a legacy server awake after its call", ({ expect }) => {
    expect(seconds({ legacyServerShare: 1 })).toBe(7);
    expect(seconds({ modernShare: 0 })).toBe(2);
    expect(seconds({})).toBe(0);
  });

  test("the events of a legacy client's stream are written, and deleted later", ({ expect }) => {
    expect(rows({ modernShare: 0, eventsPerStream: 100 })).toBeCloseTo(2 * 10);
    expect(rows({ modernShare: 1, eventsPerStream: 100 })).toBe(0);
  });

  test("a session that nobody deletes is stored for as long as it may live", ({ expect }) => {
    const mix = { ...BARE, modernShare: 0, sessions: 1 };
    expect(dayOf(1_000_000, mix).storedGb).toBeCloseTo(365 * 16, 6);
    expect(dayOf(1_000_000, BARE).storedGb).toBe(0);
  });

  test("is charged at the list prices", ({ expect }) => {
    const day = dayOf(1_000_000, BARE);
    expect(day.dollarsPerMonth.requests).toBeCloseTo((day.total.requests / 1e6) * 0.3 * 30, 6);
    const { sum, ...parts } = day.dollarsPerMonth;
    expect(Object.values(parts).reduce((all, each) => all + each, 0)).toBeCloseTo(sum, 6);
  });
});

describe("a limit", () => {
  test.for(PLACES)(
    "$name: is met by the users that it says, and by no fewer",
    (limit, { expect }) => {
      const users = metAt(limit, dayOf(1000, MIX), MIX);
      expect(limit.load(dayOf(users, MIX), MIX) / limit.most).toBeCloseTo(1, 6);
      expect(limit.load(dayOf(users * 0.99, MIX), MIX)).toBeLessThan(limit.most);
    },
  );

  test("of the branches counts those that there are", ({ expect }) => {
    expect(BRANCHES).toBe(REAL_BRANCHES);
  });
});
