/** The questions of a legacy server to the client: every question is answered once, or withdrawn. */

import { describe, test, vi } from "vitest";

import type { OpenQuestion } from "../../../../src/protocol/exchange.ts";
import type { Exchanges } from "../../../../src/upstream/legacy/exchanges.ts";
import type { Recipient } from "../../../../src/upstream/legacy/resume-token.ts";
import {
  FakePeer,
  message,
  question,
  result,
  setUp,
  SESSION,
  sessionOf,
  settle,
  start,
} from "../../protocol/exchange-peers.ts";

describe("a question", () => {
  test.for([0, "", 7, "7", "s-1"])("with the id %j is answered with it", async (id, { expect }) => {
    const { exchanges, answers, peer } = setUp();
    await exchanges.receive(question(id), peer, SESSION);
    expect(peer.asked.map(({ request }) => request)).toEqual([
      { method: "elicitation/create", params: { message: `of ${id}` } },
    ]);
    expect(answers).toEqual([]);
    peer.asked[0]?.answer({ result: { action: "accept" } });
    await settle();
    expect(answers).toEqual([{ jsonrpc: "2.0", id, result: { action: "accept" } }]);
  });

  test("is put with its id and its position, by which it can be answered later", async ({
    expect,
  }) => {
    const { exchanges, peer } = setUp();
    await exchanges.receive(question(7), peer, SESSION, "e-4");
    await exchanges.receive(question("7"), peer, SESSION);
    expect(peer.asked.map(({ origin }) => origin)).toEqual([
      { lastEventId: "e-4", ask: 7 },
      { ask: "7" },
    ]);
  });

  test("of the same id in the other type is another question", async ({ expect }) => {
    const { exchanges, answers, peer } = setUp();
    await exchanges.receive(question(7), peer, SESSION);
    await exchanges.receive(question("7"), peer, SESSION);
    peer.asked[1]?.answer({ result: { n: 2 } });
    peer.asked[0]?.answer({ error: { code: -1, message: "no" } });
    await settle();
    expect(answers).toEqual([
      { jsonrpc: "2.0", id: "7", result: { n: 2 } },
      { jsonrpc: "2.0", id: 7, error: { code: -1, message: "no" } },
    ]);
  });

  test("of the same id in another session is another question, answered and taken back there", async ({
    expect,
  }) => {
    const { exchanges, answers, answeredIn, peer } = setUp();
    const [before, after] = [sessionOf("before"), sessionOf("after")];
    for (const session of [before, after]) await exchanges.receive(question(0), peer, session);
    expect(peer.asked.map(({ origin }) => origin)).toEqual([
      { ask: 0, session: "before" },
      { ask: 0, session: "after" },
    ]);
    const withdrawal = { method: "notifications/cancelled", params: { requestId: 0 } };
    await exchanges.receive(message(withdrawal), peer, after);
    expect(peer.asked.map(({ signal }) => signal.aborted)).toEqual([false, true]);
    peer.asked[0]?.answer({ result: { of: "before" } });
    await settle();
    expect(answers).toEqual([{ jsonrpc: "2.0", id: 0, result: { of: "before" } }]);
    expect(answeredIn).toEqual([before]);
  });

  test("of a session that the server has forgotten is not put to the client", async ({
    expect,
  }) => {
    const { exchanges, answers, peer } = setUp();
    await exchanges.receive(question(0), peer, undefined);
    await exchanges.receive(message({ method: "x/y" }), peer, undefined, "e-1");
    expect([peer.asked, answers]).toEqual([[], []]);
    expect([peer.notices, peer.origins]).toEqual([[{ method: "x/y" }], [{}]]);
  });

  test("of an earlier life is waited for in its own session alone", async ({ expect }) => {
    const { exchanges, answers, peer } = setUp();
    const open: OpenQuestion = {
      resumeToken: JSON.stringify({ ask: 0, session: "before" }),
      wait: () => Promise.resolve({ result: {} }),
    };
    exchanges.resumeAsk(open, peer, sessionOf("after"));
    await settle();
    expect(answers).toEqual([]);
    exchanges.resumeAsk(open, peer, sessionOf("before"));
    await settle();
    expect(answers).toEqual([{ jsonrpc: "2.0", id: 0, result: {} }]);
  });

  test("that is a ping is answered by the gateway", async ({ expect }) => {
    const { exchanges, answers, peer } = setUp();
    await exchanges.receive(message({ id: 0, method: "ping" }), peer, SESSION);
    expect(answers).toEqual([{ jsonrpc: "2.0", id: 0, result: {} }]);
    expect(peer.asked).toEqual([]);
  });

  test("that cannot be put is answered with an error, and nothing is left of it", async ({
    expect,
  }) => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const { exchanges, answers, peer } = setUp();
    const broken: Recipient = {
      notify: () => Promise.resolve(),
      ask: () => Promise.reject(new TypeError("SECRET")),
    };
    await exchanges.receive(question(1), broken, SESSION);
    await settle();
    expect(answers).toMatchObject([{ id: 1, error: { code: -32603 } }]);
    expect(JSON.stringify(answers)).not.toContain("SECRET");
    expect(logged).toHaveBeenCalledOnce();
    logged.mockRestore();
    await exchanges.receive(question(1), peer, SESSION);
    expect(peer.asked).toHaveLength(1);
  });

  test("of an id that is in use is refused, and the first one stays", async ({ expect }) => {
    const { exchanges, answers, peer } = setUp();
    await exchanges.receive(question(1), peer, SESSION);
    await exchanges.receive(question(1), peer, SESSION);
    await settle();
    expect(answers).toMatchObject([{ id: 1, error: { code: -32600 } }]);
    peer.asked[0]?.answer({ result: {} });
    await settle();
    expect(answers.slice(1)).toEqual([{ jsonrpc: "2.0", id: 1, result: {} }]);
    await exchanges.receive(question(1), peer, SESSION);
    expect(peer.asked).toHaveLength(2);
  });

  test("beyond the 64th is refused, until one is answered", async ({ expect }) => {
    const { exchanges, answers, peer } = setUp();
    for (let id = 1; id <= 65; id++) await exchanges.receive(question(id), peer, SESSION);
    await settle();
    expect(peer.asked).toHaveLength(64);
    expect(answers).toMatchObject([{ id: 65, error: { code: -32600 } }]);
    peer.asked[0]?.answer({ result: {} });
    await settle();
    await exchanges.receive(question(66), peer, SESSION);
    expect(peer.asked).toHaveLength(65);
  });

  /** An event that withdraws a question, and whether another exchange's question survives it. */
  const withdrawals: {
    name: string;
    withdraw: (exchanges: Exchanges, peer: Recipient, drop: () => void) => Promise<void> | void;
    othersStay: boolean;
  }[] = [
    {
      name: "the server takes back",
      withdraw: (exchanges, peer) =>
        exchanges.receive(
          message({ method: "notifications/cancelled", params: { requestId: 1 } }),
          peer,
          SESSION,
        ),
      othersStay: true,
    },
    { name: "loses its exchange", withdraw: (_exchanges, _peer, drop) => drop(), othersStay: true },
    {
      name: "loses its connection",
      withdraw: (exchanges) => exchanges.withdrawAllAsks(),
      othersStay: false,
    },
  ];
  test.for(withdrawals)(
    "that $name is not answered",
    async ({ withdraw, othersStay }, { expect }) => {
      const { exchanges, answers, peer } = setUp();
      const other = new FakePeer();
      const exchange = start(exchanges, { method: "a" }, peer);
      await exchanges.receive(question(1), peer, SESSION);
      await exchanges.receive(question("1"), other, SESSION);
      await withdraw(exchanges, peer, () => exchange.drop());
      expect(peer.asked[0]?.signal.aborted).toBe(true);
      expect(other.asked[0]?.signal.aborted).toBe(!othersStay);
      peer.asked[0]?.answer({ result: { late: true } });
      other.asked[0]?.answer({ result: {} });
      await settle();
      expect(answers).toEqual(othersStay ? [{ jsonrpc: "2.0", id: "1", result: {} }] : []);
    },
  );

  test("outlives its exchange while another runs, where nothing says of which it is", async ({
    expect,
  }) => {
    const { exchanges, answers, peer } = setUp({ isUnaddressed: true });
    const [first, second, last] = ["a", "b", "c"].map((method) =>
      start(exchanges, { method }, method === "a" ? peer : new FakePeer()),
    );
    await exchanges.receive(question(1), peer, SESSION);
    await exchanges.receive(question(2), peer, SESSION);
    first?.drop();
    second?.drop();
    peer.asked[0]?.answer({ result: {} });
    await settle();
    expect(answers).toEqual([{ jsonrpc: "2.0", id: 1, result: {} }]);
    expect(peer.asked[1]?.signal.aborted).toBe(false);
    last?.drop();
    expect(peer.asked[1]?.signal.aborted).toBe(true);
  });

  test("is withdrawn when its exchange is answered", async ({ expect }) => {
    const { exchanges, peer } = setUp();
    const exchange = start(exchanges, { method: "a" }, peer);
    await exchanges.receive(question(1), peer, SESSION);
    await exchanges.receive(result(exchange.message.id, 1), peer, SESSION);
    expect(peer.asked[0]?.signal.aborted).toBe(true);
  });
});
