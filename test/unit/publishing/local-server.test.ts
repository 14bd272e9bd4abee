/** A published server as a server of Streamable HTTP: its sessions, its bounds, and what it refuses. */

import { describe, test } from "vitest";

import { withSql } from "../lib/sql-fixture.ts";
import { errorOf, Life, type Machine, messagesOf } from "./machine.ts";

const INITIALIZE = { id: 0, method: "initialize", params: {} };
const DISCOVERED = { supportedVersions: ["2026-07-28"], capabilities: {} };
const call = (id: number) => ({ id, method: "tools/call", params: { name: "say" } });

function published(act: (life: Life, machine: Machine) => Promise<void>): Promise<void> {
  return withSql(async (fixture) => {
    const life = new Life(fixture);
    const machine = life.connect();
    life.hello(machine, "files");
    await act(life, machine);
  });
}

/** Has the modern era known: it is asked for once. */
async function discovered(life: Life, machine: Machine): Promise<void> {
  const response = await life.post("files", { id: 1, method: "server/discover" });
  life.answers(machine, "files", DISCOVERED);
  await response.text();
}

test.for(["tools/call", "subscriptions/listen"])(
  "%s that was given up while its process started is not sent",
  (method, { expect }) =>
    published(async (life, machine) => {
      const given = new AbortController();
      const posting = life.post("files", { id: 7, method }, undefined, given.signal);
      await expect.poll(() => machine.messages.length).toBe(1);
      given.abort();
      life.answers(machine, "files", DISCOVERED);
      expect((await posting).status).toBe(499);
      expect(machine.messages.map((message) => message["method"])).toEqual(["server/discover"]);
    }),
);

describe("at most", () => {
  test("64 connections are open, and one that ends makes room", ({ expect }) =>
    published(async (life, machine) => {
      const sessions: string[] = [];
      for (let n = 0; n < 64; n++) sessions.push(await life.session(machine, "files"));
      expect(new Set(sessions).size).toBe(64);
      const refused = await life.post("files", INITIALIZE);
      expect(refused.status).toBe(429);
      expect(await errorOf(refused)).toBe("64 connections are open already");
      expect((await life.request("files", "DELETE", sessions[0])).status).toBe(200);
      expect(machine.frames.at(-1)).toMatchObject({ t: "close", channel: sessions[0] });
      expect((await life.post("files", INITIALIZE)).status).toBe(200);
    }));

  test("32 calls run, over all sessions; streams that listen are none", ({ expect }) =>
    published(async (life, machine) => {
      const sessions = [await life.session(machine, "files"), await life.session(machine, "files")];
      await discovered(life, machine);
      const listening = await life.post("files", { id: 2, method: "subscriptions/listen" });
      expect(listening.status).toBe(200);
      for (let n = 1; n <= 32; n++) {
        expect((await life.post("files", call(n), sessions[n % 2])).status).toBe(200);
      }
      const refused = await life.post("files", call(33), sessions[0]);
      expect(refused.status).toBe(429);
      expect(await errorOf(refused)).toBe("32 calls are running already");
      // A notification is no call, and an answer makes room.
      const note = { method: "notifications/cancelled", params: { requestId: 1 } };
      expect((await life.post("files", note, sessions[0])).status).toBe(202);
      life.answers(machine, "files", {});
      life.says(machine, {
        ...{ t: "message", name: "files", channel: sessions[0] ?? "" },
        body: '{"jsonrpc":"2.0","id":32,"result":{}}',
      });
      expect((await life.post("files", call(34), sessions[0])).status).toBe(200);
    }));

  test("32 calls of those run that wait together for the era of the server", async ({ expect }) =>
    published(async (life, machine) => {
      const calls = Array.from({ length: 40 }, (_, n) => life.post("files", call(n)));
      await until(() => machine.messages.length === 1);
      life.answers(machine, "files", DISCOVERED);
      const statuses = (await Promise.all(calls)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(32);
      expect(statuses.filter((status) => status === 429)).toHaveLength(8);
    }));
});

describe("the process of a session that ends", () => {
  const ends = [
    [{ reason: "exit", code: 3 }, "ended with exit code 3 while the call ran; it may have run."],
    [
      { reason: "exit", signal: "SIGKILL" },
      "ended by the signal SIGKILL while the call ran; it may have run.",
    ],
    [{ reason: "spawn-failed" }, "could not be started."],
  ] as const;
  test.for(ends)("%j fails its calls and no other's", ([how, sentence], { expect }) =>
    published(async (life, machine) => {
      const [ending, other] = [
        await life.session(machine, "files"),
        await life.session(machine, "files"),
      ];
      const failing = await life.post("files", call(1), ending);
      const running = await life.post("files", call(1), other);
      life.says(machine, { t: "closed", name: "files", channel: ending, ...how });
      expect(await errorOf(failing)).toBe(`The process of my-files ${sentence}`);
      expect((await life.post("files", call(2), ending)).status).toBe(404);
      life.answers(machine, "files", { content: [] });
      expect(await messagesOf(running)).toMatchObject([{ id: 1, result: { content: [] } }]);
    }),
  );
});

describe("a process that ends at a discovery", () => {
  const ends = [
    ["exit", [{ id: 1, error: { code: -32601 } }]],
    ["spawn-failed", []],
    ["crashing", []],
  ] as const;
  test.for(ends)("by %s is answered with %j", ([reason, answers], { expect }) =>
    published(async (life, machine) => {
      const response = await life.post("files", { id: 1, method: "server/discover" });
      const [channel = ""] = machine.channels;
      life.says(machine, { t: "closed", name: "files", channel, reason });
      const messages = await messagesOf(response);
      expect(messages).toHaveLength(answers.length);
      expect(messages).toMatchObject(answers);
    }),
  );
});

describe("the modern era", () => {
  test("is asked for before a request of it is sent, once", ({ expect }) =>
    published(async (life, machine) => {
      const calling = life.post("files", call(7));
      await Promise.resolve();
      await until(() => machine.messages.length === 1);
      expect(machine.messages).toMatchObject([{ method: "server/discover" }]);
      life.answers(machine, "files", DISCOVERED);
      const response = await calling;
      expect(machine.messages.at(-1)).toMatchObject({ method: "tools/call" });
      life.answers(machine, "files", { content: [] });
      expect(await messagesOf(response)).toMatchObject([{ id: 7, result: { content: [] } }]);
      await life.post("files", call(8));
      expect(machine.messages.map(({ method }) => method)).toEqual([
        "server/discover",
        "tools/call",
        "tools/call",
      ]);
    }));

  test("of a process without it is refused, and the process never sees the request", ({ expect }) =>
    published(async (life, machine) => {
      const calling = life.post("files", call(7));
      await until(() => machine.messages.length === 1);
      const { id } = machine.messages[0] ?? {};
      const error = { code: -32601, message: "Method not found" };
      const [channel = ""] = machine.channels;
      const body = JSON.stringify({ jsonrpc: "2.0", id, error });
      life.says(machine, { t: "message", name: "files", channel, body });
      const response = await calling;
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { code: -32000 } });
      expect(machine.messages).toHaveLength(1);
      expect(machine.frames.at(-1)).toMatchObject({ t: "close", channel });
    }));

  test("is known of a channel of another life", ({ expect }) =>
    withSql(async (fixture) => {
      const life = new Life(fixture);
      const machine = life.connect();
      life.hello(machine, "files");
      await discovered(life, machine);
      const next = new Life(fixture, [machine]);
      await next.post("files", call(1));
      expect(machine.messages.map(({ method }) => method)).toEqual([
        "server/discover",
        "tools/call",
      ]);
    }));
});

describe("is refused", () => {
  test("a session that is not open, and a stream without one", ({ expect }) =>
    published(async (life) => {
      expect((await life.post("files", call(1), "none")).status).toBe(404);
      expect((await life.request("files", "GET", "none")).status).toBe(404);
      expect((await life.request("files", "DELETE", "none")).status).toBe(404);
      expect((await life.request("files", "GET")).status).toBe(405);
      expect((await life.request("files", "PUT")).status).toBe(405);
    }));

  test("a request that is too large, by its size", ({ expect }) =>
    published(async (life, machine) => {
      const session = await life.session(machine, "files");
      const asked = machine.messages.length;
      const params = { name: "say", arguments: { text: "x".repeat(1_048_576) } };
      const large = await life.post("files", { ...call(1), params }, session);
      expect(await errorOf(large)).toMatch(/^The message has 10486\d\d bytes/);
      const note = { method: "notifications/message", params };
      expect((await life.post("files", note, session)).status).toBe(413);
      expect(machine.messages).toHaveLength(asked);
    }));
});

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 0));
}
