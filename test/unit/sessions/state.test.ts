/** The states of a session: where each event leads, and that nothing leads back from the end. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import {
  type SessionEvent,
  SessionLife,
  type SessionState,
  TRANSITIONS,
} from "../../../src/sessions/state.ts";

const STATES = Object.keys(TRANSITIONS) as SessionState[];
const EVENTS = [
  ...new Set(Object.values(TRANSITIONS).flatMap((ways) => Object.keys(ways))),
] as SessionEvent[];

const CLIENT = { client: {} };
const STORED = {
  nothing: { deletedUntil: undefined, known: undefined },
  "a session": { deletedUntil: undefined, known: CLIENT },
  "a session over HTTP+SSE before its initialize": {
    deletedUntil: undefined,
    known: { client: undefined },
  },
  "a tombstone": { deletedUntil: 1, known: undefined },
};

function after(
  events: readonly SessionEvent[],
  stored: keyof typeof STORED = "nothing",
): SessionState {
  const life = new SessionLife(STORED[stored]);
  for (const event of events) life.take(event);
  return life.state;
}

describe("a session", () => {
  test.for([
    ["nothing", "new"],
    ["a session", "offline"],
    ["a session over HTTP+SSE before its initialize", "uninitialized"],
    ["a tombstone", "deleted"],
  ] as const)("of which %s is stored begins its next life %s", ([stored, state], { expect }) => {
    expect(after([], stored)).toBe(state);
  });

  test.for<[events: readonly SessionEvent[], state: SessionState]>([
    [["begun"], "offline"],
    [["connected"], "uninitialized"],
    [["connected", "initialize"], "initializing"],
    [["connected", "initialize", "refused"], "uninitialized"],
    [["connected", "initialize", "initialized"], "offline"],
    [["connected", "initialize", "initialized", "listening"], "online"],
    [["begun", "listening"], "online"],
    [["begun", "listening", "stirred"], "online"],
    [["begun", "listening", "quiet"], "handing over"],
    [["begun", "listening", "quiet", "stirred"], "online"],
    [["begun", "listening", "quiet", "kept"], "online"],
    [["begun", "listening", "quiet", "handed over"], "handed over"],
    [["begun", "listening", "quiet", "handed over", "stirred"], "handed over"],
    [["begun", "listening", "quiet", "handed over", "listening"], "online"],
    [["begun", "found"], "handed over"],
    [["begun", "listening", "left"], "lingering"],
    [["begun", "found", "left"], "lingering"],
    [["begun", "listening", "left", "listening"], "online"],
    [["begun", "listening", "left", "lingered"], "offline"],
    [["begun", "deleted"], "deleted"],
    [["begun", "deleted", "closed"], "closed"],
    [["connected", "closed"], "closed"],
  ])("%j is %s", ([events, state], { expect }) => {
    expect(after(events)).toBe(state);
  });

  test.for<[events: readonly SessionEvent[], state: SessionState]>([
    [["initialize"], "new"],
    [["begun", "initialize"], "offline"],
    [["connected", "listening"], "uninitialized"],
    [["connected", "initialize", "initialize"], "initializing"],
    [["begun", "quiet"], "offline"],
    [["begun", "listening", "handed over"], "online"],
    [["connected", "initialize", "closed", "initialized"], "closed"],
  ])("%j changes nothing at its end: it stays %s", ([events, state], { expect }) => {
    const last = events.at(-1) as SessionEvent;
    const life = new SessionLife(STORED.nothing);
    for (const event of events.slice(0, -1)) life.take(event);
    expect([life.take(last), life.state]).toEqual([false, state]);
  });
});

describe("whatever happens in whatever order", () => {
  const anyEvents = fc.array(fc.constantFrom(...EVENTS), { maxLength: 40 });
  const anyStored = fc.constantFrom(...(Object.keys(STORED) as (keyof typeof STORED)[]));

  test("a session is in one of its states, and only by a way in the table", ({ expect }) => {
    fc.assert(
      fc.property(anyStored, anyEvents, (stored, events) => {
        const life = new SessionLife(STORED[stored]);
        for (const event of events) {
          const before = life.state;
          const isTaken = life.take(event);
          expect(STATES).toContain(life.state);
          expect(TRANSITIONS[before][event]).toBe(isTaken ? life.state : undefined);
          if (!isTaken) expect(life.state).toBe(before);
        }
      }),
    );
  });

  test("nothing follows the end", ({ expect }) => {
    fc.assert(
      fc.property(anyStored, anyEvents, anyEvents, (stored, before, later) => {
        const life = new SessionLife(STORED[stored]);
        for (const event of [...before, "begun", "connected", "closed"] as const) life.take(event);
        expect(life.isOver).toBe(true);
        for (const event of later) expect(life.take(event)).toBe(false);
        expect(life.state).toBe("closed");
      }),
    );
  });

  test("every state is reached, and every open one may end", ({ expect }) => {
    const reached = new Set<SessionState>(["new"]);
    for (const state of reached) {
      for (const next of Object.values(TRANSITIONS[state])) reached.add(next);
    }
    expect([...reached].toSorted()).toEqual(STATES.toSorted());
    for (const state of STATES) {
      const { closed, deleted } = TRANSITIONS[state];
      const isOver = state === "closed" || state === "deleted";
      if (!isOver && state !== "new") expect([closed, deleted]).toEqual(["closed", "deleted"]);
    }
  });
});

describe("the end by time", () => {
  const HOUR = 3_600_000;

  test("is the expiry of the id, over Streamable HTTP", ({ expect }) => {
    const life = new SessionLife(STORED["a session"]);
    expect(life.endsAt("streamable-http", HOUR, 1000)).toBe(HOUR);
  });

  test("is the end of the stream, over HTTP+SSE, unless the client reconnects soon", ({
    expect,
  }) => {
    const life = new SessionLife(STORED["a session over HTTP+SSE before its initialize"]);
    const expiresAt = Date.now() + HOUR;
    expect(life.endsAt("http+sse", expiresAt, 1000)).toBe((life.awaySince ?? 0) + 1000);
    life.readersChanged(1);
    expect(life.endsAt("http+sse", expiresAt, 1000)).toBe(expiresAt);
    life.readersChanged(0);
    expect(life.endsAt("http+sse", expiresAt, 1000)).toBe((life.awaySince ?? 0) + 1000);
    expect(life.endsAt("http+sse", expiresAt, 2 * HOUR)).toBe(expiresAt);
  });
});
