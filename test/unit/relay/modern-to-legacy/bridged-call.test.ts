/** One request of a modern client at a legacy server, and what may happen while it runs or waits. */

import { afterEach, beforeEach, describe, test, vi } from "vitest";

import type { JsonObject } from "../../../../src/protocol/json-rpc.ts";
import { accept, DONE, form, parkCall, pass, startCall, Visitor } from "./bridged-call-world.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const log = (level: unknown): object => ({
  method: "notifications/message",
  params: { level, data: 1 },
});

describe("a call that is not asked anything", () => {
  test("gets the server's answer, and no question is stored", async ({ expect }) => {
    const { server, journal, turn } = startCall();
    server.end();
    expect(await turn).toEqual({ kind: "over", reply: DONE });
    expect(journal.parked).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("gets the server's notifications, with its own token and from its own level on", async ({
    expect,
  }) => {
    const visitor = new Visitor({ progressToken: 0, logLevel: "warning" });
    const { server } = startCall(visitor);
    const said = [
      { method: "notifications/progress", params: { progressToken: "x", progress: 1 } },
      log("info"),
      log("warning"),
      log("error"),
      log("loud"),
      { method: "notifications/tools/list_changed" },
      { method: "notifications/elicitation/complete", params: { elicitationId: "1" } },
    ];
    for (const notice of said) await server.peer.notify(notice as never);
    expect(visitor.notices).toEqual([
      { method: "notifications/progress", params: { progressToken: 0, progress: 1 } },
      log("warning"),
      log("error"),
    ]);
  });

  test("gets neither progress nor logs that it did not ask for", async ({ expect }) => {
    const visitor = new Visitor();
    const { server } = startCall(visitor);
    await server.peer.notify({ method: "notifications/progress", params: { progressToken: 1 } });
    await server.peer.notify({ method: "notifications/message", params: { level: "emergency" } });
    expect(visitor.notices).toEqual([]);
  });

  test("is cancelled when its client hangs up", async ({ expect }) => {
    const visitor = new Visitor();
    const { call, server, turn } = startCall(visitor);
    call.leave(visitor);
    await pass(0);
    expect(server.cancelled).toEqual(new Error("The client closed the stream"));
    expect(await turn).toMatchObject({ kind: "over", reply: { error: { code: -32603 } } });
  });
});

describe("while a call is parked", () => {
  test("the server's notifications are dropped, and after that go to the client that came back", async ({
    expect,
  }) => {
    const before = new Visitor({ progressToken: "a" });
    const { call, server } = await parkCall([form()], before);
    const progress = { method: "notifications/progress", params: { progress: 1 } };
    await server.peer.notify(progress);
    const after = new Visitor({ progressToken: 7 });
    void call.answer(1, { r1: accept() }, after);
    await server.peer.notify(progress);
    expect(before.notices).toEqual([]);
    expect(after.notices).toMatchObject([{ params: { progressToken: 7 } }]);
  });

  test("the request that was answered cannot cancel it by hanging up", async ({ expect }) => {
    const visitor = new Visitor();
    const { call, server } = await parkCall([form()], visitor);
    call.leave(visitor);
    await pass();
    expect(call.isParked).toBe(true);
    expect(server.cancelled).toBeUndefined();
  });

  test("and ends, a client that comes back gets its result", async ({ expect }) => {
    const { call, server, journal } = await parkCall([form()]);
    server.end();
    await pass(0);
    expect(journal.reply).toEqual(DONE);
    for (const responses of [{ r1: accept() }, {}, { r1: null }] as JsonObject[]) {
      const turn = await call.answer(1, responses, new Visitor());
      expect(turn).toEqual({ kind: "over", reply: DONE });
    }
  });

  test("and is stopped, the server gets errors first, and then the cancellation", async ({
    expect,
  }) => {
    const { call, server } = await parkCall([form(), form()]);
    call.stop(new Error("Too late"), DONE);
    const order: string[] = [];
    await Promise.resolve();
    await Promise.resolve();
    for (const { replies } of server.questions) {
      expect(replies).toEqual([{ error: { code: -32603, message: "Too late" } }]);
      order.push("answered");
    }
    expect(server.cancelled).toBeUndefined();
    await pass(0);
    expect(server.cancelled).toEqual(new Error("Too late"));
    expect(vi.getTimerCount()).toBe(0);
  });
});
