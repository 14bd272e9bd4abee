/** The requests in flight on one legacy connection: everything finds its own way back. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { metaOf } from "../../../../src/protocol/envelope.ts";
import type { Recipient } from "../../../../src/upstream/legacy/resume-token.ts";
import {
  FakePeer,
  message,
  progress,
  result,
  setUp,
  SESSION,
  settle,
  start,
} from "../../protocol/exchange-peers.ts";

describe("address()", () => {
  test("mints ids that are never used again, on this connection or the next", ({ expect }) => {
    const ids = [setUp(), setUp()].flatMap(({ exchanges, peer }) =>
      Array.from({ length: 100 }, () => {
        const exchange = start(exchanges, { method: "ping" }, peer);
        exchange.drop();
        return exchange.message.id;
      }),
    );
    expect(new Set(ids).size).toBe(200);
  });

  test("passes method and params on, and nothing of the client's id", ({ expect }) => {
    const { exchanges, peer } = setUp();
    const params = { name: "t", _meta: { traceparent: "x" } };
    const { message } = start(exchanges, { method: "tools/call", params }, peer);
    expect(message).toEqual({ jsonrpc: "2.0", id: message.id, method: "tools/call", params });
    expect(start(exchanges, { method: "ping" }, peer).message).not.toHaveProperty("params");
  });

  test("puts a progress token of its own for the client's, beside the rest of _meta", ({
    expect,
  }) => {
    const { exchanges, peer } = setUp();
    const params = { name: "t", _meta: { progressToken: "mine", traceparent: "x" } };
    const { message } = start(exchanges, { method: "tools/call", params }, peer);
    const meta = metaOf(message.params);
    expect(meta).toEqual({ progressToken: expect.anything(), traceparent: "x" });
    expect(meta["progressToken"]).not.toBe("mine");
    expect(params._meta.progressToken).toBe("mine");
  });
});

describe("an answer", () => {
  test("settles its exchange, with result or error", async ({ expect }) => {
    const { exchanges, peer } = setUp();
    const [one, two] = [
      start(exchanges, { method: "a" }, peer),
      start(exchanges, { method: "b" }, peer),
    ];
    const error = { code: -32000, message: "m", data: { d: 1 } };
    await exchanges.receive(message({ id: two.message.id, error }), peer, SESSION);
    expect([one.isSettled(), two.isSettled()]).toEqual([false, true]);
    expect(await two.reply).toEqual({ error });
    await exchanges.receive(result(one.message.id, 1), peer, SESSION);
    expect(await one.reply).toEqual({ result: { from: 1 } });
  });

  test("that is doubled changes nothing", async ({ expect }) => {
    const { exchanges, peer } = setUp();
    const { message, reply } = start(exchanges, { method: "a" }, peer);
    await exchanges.receive(result(message.id, "first"), peer, SESSION);
    await exchanges.receive(result(message.id, "second"), peer, SESSION);
    expect(await reply).toEqual({ result: { from: "first" } });
  });

  test("that is late, unknown or without id is dropped", async ({ expect }) => {
    const { exchanges, answers, peer } = setUp();
    const dropped = start(exchanges, { method: "a" }, peer);
    const open = start(exchanges, { method: "b" }, peer);
    dropped.drop();
    let isAnswered = false;
    void dropped.reply.then(() => (isAnswered = true));
    for (const id of [dropped.message.id, "unknown", 1, 0, ""])
      await exchanges.receive(result(id, 0), peer, SESSION);
    await exchanges.receive(message({ error: { code: 1, message: "m" } }), peer, SESSION);
    await settle();
    expect({ isAnswered, isOpenSettled: open.isSettled(), notices: peer.notices, answers }).toEqual(
      {
        isAnswered: false,
        isOpenSettled: false,
        notices: [],
        answers: [],
      },
    );
  });

  test("finds its own exchange, in any order, among any others", async ({ expect }) => {
    const order = fc.integer({ min: 1, max: 20 }).chain((count) => {
      const each = Array.from({ length: count }, (_, index) => index);
      return fc.shuffledSubarray([...each, ...each], {
        minLength: 2 * count,
        maxLength: 2 * count,
      });
    });
    await fc.assert(
      fc.asyncProperty(order, async (order) => {
        const { exchanges } = setUp();
        const started = Array.from({ length: order.length / 2 }, (_, index) => {
          const peer = new FakePeer();
          const params = { _meta: { progressToken: index } };
          return { peer, exchange: start(exchanges, { method: "a", params }, peer) };
        });
        // Each makes progress and is answered twice, all on the stream of another exchange.
        const stream = new FakePeer();
        for (const [turn, index] of order.entries()) {
          const id = started[index]?.exchange.message.id ?? "";
          const isFirst = order.indexOf(index) === turn;
          await exchanges.receive(progress(id), stream, SESSION);
          await exchanges.receive(result(id, isFirst ? index : "doubled"), stream, SESSION);
        }
        for (const [index, { peer, exchange }] of started.entries()) {
          expect(await exchange.reply).toEqual({ result: { from: index } });
          expect(peer.notices).toEqual([
            { method: "notifications/progress", params: { progressToken: index, progress: 1 } },
          ]);
        }
        expect(stream.notices).toEqual([]);
      }),
    );
  });
});

describe("a notification", () => {
  test.for([5, 0, "5", "", "token"])(
    "of progress gets its token %j back",
    async (token, { expect }) => {
      const { exchanges, peer } = setUp();
      const { message } = start(
        exchanges,
        { method: "a", params: { _meta: { progressToken: token } } },
        peer,
      );
      const stream = new FakePeer();
      const minted = metaOf(message.params)["progressToken"];
      await exchanges.receive(progress(minted), stream, SESSION);
      expect(peer.notices).toEqual([
        { method: "notifications/progress", params: { progressToken: token, progress: 1 } },
      ]);
      expect(stream.notices).toEqual([]);
    },
  );

  test("of progress that no client asked for is dropped", async ({ expect }) => {
    const { exchanges, peer } = setUp();
    const silent = start(exchanges, { method: "a" }, peer);
    const done = start(exchanges, { method: "a", params: { _meta: { progressToken: 1 } } }, peer);
    await exchanges.receive(result(done.message.id, 0), peer, SESSION);
    for (const token of [
      silent.message.id,
      done.message.id,
      "unknown",
      1,
      0,
      null,
      undefined,
      {},
    ]) {
      await exchanges.receive(progress(token), peer, SESSION);
    }
    expect(peer.notices).toEqual([]);
  });

  test.for([
    { method: "notifications/message", params: { level: "info", data: 1 } },
    { method: "x/y" },
  ])("of anything else goes to the peer of its stream: $method", async (notice, { expect }) => {
    const { exchanges, peer } = setUp();
    start(exchanges, { method: "a" }, new FakePeer());
    await exchanges.receive(message(notice), peer, SESSION);
    expect(peer.notices).toEqual([notice]);
  });

  test("is passed on with its position, unless it came on another exchange's stream", async ({
    expect,
  }) => {
    const { exchanges, peer } = setUp();
    const call = { method: "a", params: { _meta: { progressToken: 1 } } };
    const { id } = start(exchanges, call, peer);
    const stream = new FakePeer();
    await exchanges.receive(progress(id), peer, SESSION, "e-1");
    await exchanges.receive(progress(id), stream, SESSION, "other-9");
    await exchanges.receive(message({ method: "x/y" }), peer, SESSION, "e-2");
    await exchanges.receive(message({ method: "x/y" }), peer, SESSION);
    expect(peer.origins).toEqual([{ lastEventId: "e-1" }, {}, { lastEventId: "e-2" }, {}]);
  });

  test("of progress finds a request of an earlier life", async ({ expect }) => {
    const { exchanges, peer } = setUp();
    const exchange = exchanges.start({ request: "earlier-1", progressToken: 0 }, peer);
    await exchanges.receive(progress("earlier-1"), peer, SESSION, "e-3");
    await exchanges.receive(result("earlier-1", "then"), peer, SESSION);
    expect(peer.notices).toMatchObject([{ params: { progressToken: 0 } }]);
    expect(await exchange.reply).toEqual({ result: { from: "then" } });
  });

  test("waits until its receiver has room", async ({ expect }) => {
    const { exchanges } = setUp();
    const { promise: room, resolve: makeRoom } = Promise.withResolvers<void>();
    const slow: Recipient = { notify: () => room, ask: () => Promise.resolve({ result: {} }) };
    let isDone = false;
    const received = exchanges
      .receive(message({ method: "x" }), slow, SESSION)
      .then(() => (isDone = true));
    await settle();
    expect(isDone).toBe(false);
    makeRoom();
    await received;
  });
});
