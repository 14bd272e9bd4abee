/** What a person publishes: who has a name, who is gone, since when, and what is kept of it for how long. */

import { describe, test } from "vitest";

import { PublishClose } from "../../../src/protocol/publishing.ts";
import type { Json } from "../../support/scripted-upstream-script.ts";
import { type SqlFixture, START, withSql } from "../lib/sql-fixture.ts";
import { errorOf, Life, type Machine } from "./machine.ts";

const DAY_MS = 86_400_000;
const CALL = { id: 1, method: "tools/call", params: { name: "say" } };
const LOST = "The connection to the machine that publishes my-files was lost while the call ran";

function namesIn({ connector }: Life): readonly string[] {
  return connector.list().servers.map(({ name }) => name);
}

/** An older process that sleeps, and a newer one with another connection. */
function replaced(life: Life): { readonly newer: Machine } {
  const [asleep, newer] = [life.connect(), life.connect()];
  for (const name of ["files", "notes"]) life.hello(asleep, name, { generation: "older" });
  life.connector.closed(asleep.id);
  life.hello(newer, "files", { generation: "newer" });
  return { newer };
}

/** Two connections, of which neither has offered anything. */
function connectedInTurn(fixture: SqlFixture): {
  readonly life: Life;
  readonly older: Machine;
  readonly newer: Machine;
} {
  const life = new Life(fixture);
  const older = life.connect();
  fixture.clock.now += 1;
  return { life, older, newer: life.connect() };
}

describe("the name of a server", () => {
  test("is the newest process's, and the older one is told", ({ expect }) =>
    withSql((fixture) => {
      const life = new Life(fixture);
      const [older, newer] = [life.connect(), life.connect()];
      life.hello(older, "files");
      life.hello(newer, "files");
      expect(older.closed?.code).toBe(PublishClose.replaced);
      expect(newer.frames).toEqual([{ t: "welcome", name: "files", slug: "my-files" }]);
      // What the older one still says is of no use.
      life.says(older, { t: "bye", name: "files" });
      expect(life.connector.list().servers).toMatchObject([{ name: "files" }]);
      expect(life.connector.list().servers[0]).not.toHaveProperty("offlineSince");
      expect(life.heard.listed).toBe(1);
    }));

  test("stays the newer process's, when an older one offers it late, which keeps its others", ({
    expect,
  }) =>
    withSql((fixture) => {
      const { life, older, newer } = connectedInTurn(fixture);
      life.hello(newer, "files");
      life.hello(older, "files");
      life.hello(older, "notes");
      expect(older.frames).toMatchObject([
        { t: "refused", name: "files", code: "name" },
        { t: "welcome", name: "notes" },
      ]);
      expect([older.closed, newer.closed]).toEqual([undefined, undefined]);
      for (const server of life.connector.list().servers)
        expect(server).not.toHaveProperty("offlineSince");
      // It has heard it, and does not take the name when it has slept and dials again.
      const again = life.connect();
      life.hello(again, "files", { generation: older.id });
      expect(again.frames).toMatchObject([{ t: "refused", name: "files", code: "name" }]);
    }));

  test("stays the newest connection's, when an older one of the same process offers it late", ({
    expect,
  }) =>
    withSql((fixture) => {
      const { life, older, newer } = connectedInTurn(fixture);
      life.hello(newer, "files", { generation: "one" });
      life.hello(older, "files", { generation: "one" });
      expect([older.closed?.code, newer.closed]).toEqual([1000, undefined]);
      expect(older.frames).toEqual([]);
      expect(life.connector.list().servers[0]).not.toHaveProperty("offlineSince");
    }));

  test("stays the newer process's, when the older one has slept and dials again", ({ expect }) =>
    withSql((fixture) => {
      const life = new Life(fixture);
      const { newer } = replaced(life);
      fixture.clock.now += 1;
      const next = new Life(fixture, life.machines);
      const awake = next.connect();
      for (const name of ["files", "notes"]) next.hello(awake, name, { generation: "older" });
      expect(awake.frames).toMatchObject([
        { t: "refused", name: "files", code: "name" },
        { t: "welcome", name: "notes" },
      ]);
      expect([awake.closed, newer.closed]).toEqual([undefined, undefined]);
      for (const server of next.connector.list().servers)
        expect(server).not.toHaveProperty("offlineSince");
    }));

  test("is the older process's again when nothing is heard of the newer one, and stays that", ({
    expect,
  }) =>
    withSql((fixture) => {
      const life = new Life(fixture);
      const { newer } = replaced(life);
      fixture.clock.now += 60_001;
      const [again, late] = [life.connect(), life.connect()];
      life.hello(again, "files", { generation: "older" });
      expect(again.frames).toMatchObject([{ t: "welcome" }]);
      expect(newer.closed?.code).toBe(PublishClose.replaced);
      life.hello(late, "files", { generation: "newer" });
      expect(late.frames).toMatchObject([{ t: "refused" }]);
      const redialled = life.connect();
      life.hello(redialled, "files", { generation: "older" });
      expect(redialled.frames).toMatchObject([{ t: "welcome" }]);
    }));

  test("is all that a process loses that publishes others as well", ({ expect }) =>
    withSql((fixture) => {
      const life = new Life(fixture);
      const [older, newer] = [life.connect(), life.connect()];
      for (const name of ["files", "notes"]) life.hello(older, name, { generation: "older" });
      life.hello(newer, "files", { generation: "newer" });
      expect(older.frames.at(-1)).toMatchObject({ t: "refused", name: "files", code: "name" });
      expect(older.closed).toBeUndefined();
      life.hello(newer, "notes", { generation: "newer" });
      expect(older.closed?.code).toBe(PublishClose.replaced);
      for (const server of life.connector.list().servers)
        expect(server).not.toHaveProperty("offlineSince");
    }));

  test("that is ended is ended for the process of before, too", ({ expect }) =>
    withSql((fixture) => {
      const life = new Life(fixture);
      replaced(life);
      life.connector.end("files");
      const awake = life.connect();
      life.hello(awake, "files", { generation: "older" });
      expect(awake.frames).toMatchObject([{ t: "refused", code: "off" }]);
    }));

  test("that its person has ended is refused to a machine that was not told of it, and to no other one", ({
    expect,
  }) =>
    withSql((fixture) => {
      const life = new Life(fixture);
      const asleep = life.connect();
      life.hello(asleep, "files", { generation: "one" });
      life.connector.closed(asleep.id);
      expect(life.connector.end("files")).toBe(true);
      const next = new Life(fixture);
      const awake = next.connect();
      next.hello(awake, "files", { generation: "one" });
      expect(awake.frames).toMatchObject([{ t: "refused", name: "files", code: "off" }]);
      expect(namesIn(next)).toEqual([]);
      next.hello(awake, "notes", { generation: "one" });
      next.hello(next.connect(), "files", { generation: "two" });
      expect(namesIn(next)).toEqual(["notes", "files"]);
    }));

  test("stays that of a process that dials again", ({ expect }) =>
    withSql((fixture) => {
      const life = new Life(fixture);
      const [first, second] = [life.connect(), life.connect()];
      life.hello(first, "files", { generation: "one" });
      life.hello(second, "files", { generation: "one" });
      expect(first.closed?.code).toBe(1000);
    }));

  test("is one of sixteen", ({ expect }) =>
    withSql((fixture) => {
      const life = new Life(fixture);
      const machine = life.connect();
      for (let n = 1; n <= 17; n++) life.hello(machine, `server-${n}`);
      expect(machine.frames.filter(({ t }) => t === "welcome")).toHaveLength(16);
      expect(machine.frames.at(-1)).toMatchObject({ t: "refused", code: "limit" });
      life.hello(machine, "server-16");
      expect(machine.frames.at(-1)).toMatchObject({ t: "welcome" });
    }));

  test("is refused where publishing is off, and to another version of the command", ({ expect }) =>
    withSql((fixture) => {
      const off = new Life(fixture, [], false);
      const machine = off.connect();
      off.hello(machine, "files");
      expect(machine.frames).toMatchObject([{ t: "refused", code: "off" }]);
      const on = new Life(fixture);
      on.hello(machine, "files", { v: 2 });
      expect(machine.frames.at(-1)).toMatchObject({ t: "refused", code: "version" });
      expect(namesIn(on)).toEqual([]);
    }));
});

describe("a machine that is gone", () => {
  const ends: readonly {
    readonly how: string;
    readonly end: (life: Life, machine: ReturnType<Life["connect"]>) => void;
  }[] = [
    { how: "with its connection", end: ({ connector }, { id }) => connector.closed(id) },
    { how: "with a bye", end: (life, machine) => life.says(machine, { t: "bye", name: "files" }) },
  ];
  test.for(ends)("$how: what runs ends in one error, and calls are told", ({ end }, { expect }) =>
    withSql(async (fixture) => {
      const life = new Life(fixture);
      const machine = life.connect();
      life.hello(machine, "files");
      const session = await life.session(machine, "files");
      const running = await life.post("files", CALL, session);
      end(life, machine);
      expect(await errorOf(running)).toBe(`${LOST}; it may have run.`);
      const since = { offlineSince: START };
      expect(life.connector.list().servers).toMatchObject([{ name: "files", ...since }]);
      expect(life.heard.states).toMatchObject([{ slug: "my-files", offline: { since: START } }]);
      const asked = machine.messages.length;
      const after = await life.post("files", { id: 2, method: "initialize" });
      expect(await after.json()).toMatchObject({
        sentence: expect.stringContaining("is not connected since 2027-01-15 08:00 UTC") as string,
      });
      expect(machine.messages).toHaveLength(asked);
    }),
  );

  test("without a word is one after a minute of silence, and not before", ({ expect }) =>
    withSql(async (fixture) => {
      const life = new Life(fixture);
      const machine = life.connect();
      life.hello(machine, "files");
      const ask = { id: 1, method: "initialize" };
      fixture.clock.now += 60_000;
      expect((await life.post("files", ask)).status).toBe(200);
      fixture.clock.now += 1;
      expect((await life.post("files", ask)).status).toBe(503);
      expect(machine.closed?.code).toBe(PublishClose.restart);
      expect(life.connector.list().servers).toMatchObject([{ offlineSince: START + 60_001 }]);
    }));

  test("is listed for a day, and nothing is kept of its servers then", ({ expect }) =>
    withSql(async (fixture) => {
      const life = new Life(fixture);
      const machine = life.connect();
      life.hello(machine, "files");
      life.connector.closed(machine.id);
      expect(life.connector.sweep()).toBe(START + DAY_MS);
      fixture.clock.now += DAY_MS - 1;
      // Another life of the object, as the alarm begins one.
      const next = new Life(fixture);
      expect(next.connector.sweep()).toBe(START + DAY_MS);
      expect(namesIn(next)).toEqual(["files"]);
      expect(next.heard.gone).toEqual([]);
      fixture.clock.now += 1;
      const { version } = next.connector.list();
      next.connector.sweep();
      expect(namesIn(next)).toEqual([]);
      expect(next.connector.list().version).toBe(version + 1);
      expect(next.heard).toMatchObject({ listed: 1, gone: ["my-files"] });
      await next.settled();
      expect(next.connector.sweep()).toBeUndefined();
      expect((await next.post("files", CALL)).status).toBe(503);
    }));

  test("has its server back with a hello", ({ expect }) =>
    withSql((fixture) => {
      const life = new Life(fixture);
      const [before, after] = [life.connect(), life.connect()];
      life.hello(before, "files");
      life.connector.closed(before.id);
      fixture.clock.now += DAY_MS / 2;
      life.hello(after, "files");
      expect(life.connector.list().servers).toEqual([
        { name: "files", host: "laptop", since: START },
      ]);
      expect(life.heard.states.at(-1)).toEqual({ slug: "my-files", offline: undefined });
      expect(life.connector.sweep()).toBeUndefined();
    }));
});

describe("another life of the object", () => {
  test("knows the servers and sessions of the connections that are still there", ({ expect }) =>
    withSql(async (fixture) => {
      const life = new Life(fixture);
      const [stays, goes] = [life.connect(), life.connect()];
      life.hello(stays, "files");
      life.hello(goes, "notes");
      const session = await life.session(stays, "files");
      const next = new Life(fixture, [stays]);
      expect(next.connector.list().servers).toMatchObject([
        { name: "files" },
        { name: "notes", offlineSince: START },
      ]);
      expect((await next.post("files", CALL, session)).status).toBe(200);
      expect((await next.post("files", CALL, "another")).status).toBe(404);
    }));

  test("reads rows that know no leases yet", ({ expect }) =>
    withSql((fixture) => {
      const life = new Life(fixture);
      const machine = life.connect("key");
      life.hello(machine, "files");
      const stored = [...fixture.sql.exec<{ record: string }>("SELECT record FROM published_1")];
      const { leases, ...record } = JSON.parse(stored[0]?.record ?? "{}") as Json;
      expect(leases).toEqual(["key"]);
      fixture.sql.exec("UPDATE published_1 SET record = ?", JSON.stringify(record));
      const next = new Life(fixture);
      next.connector.leaseEnded("key");
      expect(namesIn(next)).toEqual(["files"]);
    }));
});

describe("nothing is kept of a server", () => {
  test("whose right ends, with its machine connected or gone", ({ expect }) =>
    withSql((fixture) => {
      const life = new Life(fixture);
      const [online, gone, other] = [
        life.connect("key", "ann"),
        life.connect("key", "ann"),
        life.connect("another", "ann"),
      ];
      life.hello(online, "online");
      life.hello(gone, "gone");
      life.hello(other, "other");
      life.connector.closed(gone.id);
      life.connector.revoked(online, "The access has ended");
      life.connector.leaseEnded("key");
      expect(online.closed?.code).toBe(PublishClose.revoked);
      expect(namesIn(life)).toEqual(["other"]);
      expect(life.heard.gone).toEqual(["my-online", "my-gone"]);
    }));

  test("that its person ends, and the command is told", ({ expect }) =>
    withSql((fixture) => {
      const life = new Life(fixture);
      const machine = life.connect();
      life.hello(machine, "files");
      life.hello(machine, "notes");
      expect(life.connector.end("none")).toBe(false);
      expect(life.connector.end("files")).toBe(true);
      expect(machine.frames.at(-1)).toMatchObject({ t: "refused", name: "files", code: "off" });
      expect(machine.closed).toBeUndefined();
      expect(life.connector.end("notes")).toBe(true);
      expect(machine.closed?.code).toBe(PublishClose.revoked);
      expect(life.heard.gone).toEqual(["my-files", "my-notes"]);
    }));

  test("even if its feed is out of reach at first: it is told again, in another life too", ({
    expect,
  }) =>
    withSql(async (fixture) => {
      const life = new Life(fixture);
      life.isFeedThere = false;
      const machine = life.connect();
      life.hello(machine, "files");
      life.connector.end("files");
      await life.settled();
      expect(life.connector.sweep()).toBe(START + 10_000);
      const next = new Life(fixture);
      next.connector.deleteKept();
      await next.settled();
      expect(next.heard.gone).toEqual(["my-files"]);
      expect(next.connector.sweep()).toBeUndefined();
    }));

  test("and is kept if it is published or resumed before that", ({ expect }) =>
    withSql(async (fixture) => {
      const life = new Life(fixture);
      life.isFeedThere = false;
      const machine = life.connect();
      for (const name of ["files", "notes"]) life.hello(machine, name);
      life.connector.end("files");
      life.connector.setPaused("notes", true);
      await life.settled();
      life.isFeedThere = true;
      life.hello(machine, "files", { generation: "anew" });
      life.connector.setPaused("notes", false);
      life.connector.deleteKept();
      await life.settled();
      expect(life.heard.gone).toEqual([]);
      expect(life.connector.sweep()).toBeUndefined();
    }));
});

test("a server that its person has paused is served nowhere, in another life and after days too", ({
  expect,
}) =>
  withSql(async (fixture) => {
    const life = new Life(fixture);
    const machine = life.connect();
    life.hello(machine, "files");
    const session = await life.session(machine, "files");
    const running = await life.post("files", CALL, session);
    expect(life.connector.setPaused("none", true)).toBe(false);
    expect(life.connector.setPaused("files", true)).toBe(true);
    expect(await errorOf(running)).toBe("my-files was paused while the call ran; it may have run.");
    expect(machine.frames.at(-1)).toEqual({ t: "close", name: "files", channel: session });
    expect(life.heard).toMatchObject({ listed: 2, gone: ["my-files"] });
    expect(life.connector.list()).toMatchObject({ servers: [], paused: [{ name: "files" }] });

    life.connector.closed(machine.id);
    fixture.clock.now += 2 * DAY_MS;
    const next = new Life(fixture);
    next.connector.sweep();
    const again = next.connect();
    next.hello(again, "files");
    expect(again.frames).toMatchObject([{ t: "welcome" }]);
    expect(await (await next.post("files", CALL)).text()).toContain("is paused");
    expect(again.messages).toEqual([]);
    expect(next.heard.states).toEqual([]);

    fixture.clock.now += 300;
    expect(next.connector.setPaused("files", false)).toBe(true);
    expect(next.connector.list()).toMatchObject({ servers: [{ name: "files" }], paused: [] });
    // Until every isolate can know of that, clients may be given the lists of before.
    expect(next.connector.list().changedAt).toBe(fixture.clock.now);
    expect((await next.post("files", { id: 1, method: "initialize" })).status).toBe(200);
  }));

test("a server that has crashed five times in a minute is offline, until the command offers it anew", ({
  expect,
}) =>
  withSql(async (fixture) => {
    const life = new Life(fixture);
    const machine = life.connect();
    life.hello(machine, "files");
    const session = await life.session(machine, "files");
    const running = await life.post("files", CALL, session);
    const closed = { t: "closed", name: "files", channel: session, code: 7 } as const;
    life.says(machine, { ...closed, reason: "crashing" });
    expect(await errorOf(running)).toContain("ended with exit code 7 while the call ran");
    const refused = await life.post("files", { id: 2, method: "initialize" });
    expect(await refused.text()).toContain("its process has crashed five times in a minute");
    life.hello(machine, "files");
    expect((await life.post("files", { id: 3, method: "initialize" })).status).toBe(200);
  }));

test("what is no frame ends the connection, and its servers are offline", ({ expect }) =>
  withSql((fixture) => {
    const life = new Life(fixture);
    const machine = life.connect();
    life.hello(machine, "files");
    life.connector.receive(machine, "[]");
    expect(machine.closed?.code).toBe(PublishClose.mistake);
    expect(life.connector.list().servers).toMatchObject([{ offlineSince: START }]);
  }));
