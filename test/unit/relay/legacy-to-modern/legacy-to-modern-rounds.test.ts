/** A modern server asks a legacy client: in results there, by real requests here, round by round. */

import { describe, test } from "vitest";

import type { JsonObject } from "../../../../src/protocol/json-rpc.ts";
import { until } from "../../../support/until.ts";
import { AskedPeer } from "../../protocol/revisions/asked-peer.ts";
import { settle } from "../../protocol/exchange-peers.ts";
import {
  ACCEPTED,
  asking,
  behind,
  CALL,
  CLIENT,
  completing,
  DONE,
  ELICIT,
  FORM,
  metaIn,
  never,
  paramsOf,
  requiring,
  REVISION_KEY,
} from "./legacy-to-modern-fixture.ts";

const accepting = (): AskedPeer => new AskedPeer(({ answer }) => answer({ result: ACCEPTED }));
const STATE = ' {"b":1,"a":"é\u0000\ud83d\ude00"}+/= \n';

describe("a round", () => {
  test("brings the answers by the server's keys, and its state byte for byte", async ({
    expect,
  }) => {
    const { server, sent } = behind([asking({ q: ELICIT }, STATE), completing()]);
    const peer = accepting();
    expect(await server.request(CALL, peer, never)).toEqual({ result: DONE });
    expect(peer.questions.map(({ call }) => call)).toEqual([ELICIT]);
    const [first, second] = sent;
    expect(paramsOf(first)).not.toHaveProperty("inputResponses");
    expect(paramsOf(first)).not.toHaveProperty("requestState");
    expect(paramsOf(second)).toMatchObject({
      ...CALL.params,
      inputResponses: { q: ACCEPTED },
      requestState: STATE,
    });
    // It is a request like any other, and another one.
    expect(metaIn(second)[REVISION_KEY]).toBe("2026-07-28");
    expect(second?.headers.get("Mcp-Name")).toBe("work");
    expect(second?.body["id"]).not.toBe(first?.body["id"]);
  });

  test("has its own answers and its own state, and none of those before", async ({ expect }) => {
    const { server, sent } = behind([
      asking({ a: ELICIT }, "one"),
      asking({ b: ELICIT }),
      requiring({ requestState: "three" }),
      completing(),
    ]);
    await server.request(CALL, accepting(), never);
    const rounds = sent.map((seen) => {
      const { inputResponses, requestState } = paramsOf(seen);
      return { inputResponses, requestState };
    });
    expect(rounds).toEqual([
      { inputResponses: undefined, requestState: undefined },
      { inputResponses: { a: ACCEPTED }, requestState: "one" },
      { inputResponses: { b: ACCEPTED }, requestState: undefined },
      { inputResponses: undefined, requestState: "three" },
    ]);
    expect(new Set(sent.map(({ body }) => body["id"])).size).toBe(4);
  });

  test("begins without answers that the client made up", async ({ expect }) => {
    const { server, sent } = behind([requiring({ requestState: "s" }), completing()]);
    const params = { ...CALL.params, inputResponses: { x: {} }, requestState: "forged" };
    await server.request({ ...CALL, params }, accepting(), never);
    expect(paramsOf(sent[0])).not.toHaveProperty("requestState");
    for (const seen of sent) expect(paramsOf(seen)).not.toHaveProperty("inputResponses");
    expect(paramsOf(sent[1])["requestState"]).toBe("s");
  });

  test.for(["prompts/get", "resources/read"])("%s has rounds too", async (method, { expect }) => {
    const { server, sent } = behind([asking({ q: ELICIT }), completing({ contents: [] })]);
    const reply = await server.request({ method, params: {} }, accepting(), never);
    expect(reply).toEqual({ result: { contents: [] } });
    expect(paramsOf(sent[1])["inputResponses"]).toEqual({ q: ACCEPTED });
  });

  test("sends all requests at once, and waits for all answers", async ({ expect }) => {
    const inputRequests = {
      form: ELICIT,
      roots: { method: "roots/list" },
      model: { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } },
    };
    const { server, sent } = behind([asking(inputRequests), completing()]);
    const peer = new AskedPeer();
    const answered = server.request(CALL, peer, never);
    await until(() => peer.questions.length === 3, "three questions");
    expect(peer.questions.map(({ call }) => call.method)).toEqual([
      "elicitation/create",
      "roots/list",
      "sampling/createMessage",
    ]);
    for (const [n, question] of peer.questions.entries()) {
      expect(sent).toHaveLength(1);
      question.answer({ result: { n, _meta: { "io.modelcontextprotocol/related-task": {} } } });
      await settle();
    }
    await answered;
    expect(paramsOf(sent[1])["inputResponses"]).toEqual({
      form: { n: 0 },
      roots: { n: 1 },
      model: { n: 2 },
    });
  });

  test("accepts any key", async ({ expect }) => {
    const keys = ["__proto__", "constructor", "", "a b"];
    const inputRequests = Object.fromEntries(keys.map((key) => [key, ELICIT]));
    const { server, sent } = behind([asking(inputRequests), completing()]);
    await server.request(CALL, accepting(), never);
    expect(Object.keys(paramsOf(sent[1])["inputResponses"] as JsonObject).toSorted()).toEqual(
      keys.toSorted(),
    );
  });

  test("without a request is not retried at once", async ({ expect }) => {
    const at: number[] = [];
    const { server } = behind([
      (seen) => {
        at.push(Date.now());
        const answer = at.length < 3 ? requiring({ requestState: "s" }) : completing();
        return answer(seen);
      },
    ]);
    await server.request(CALL, new AskedPeer(), never);
    const [first = 0, second = 0, third = 0] = at;
    // Timers may fire early.
    expect(second - first).toBeGreaterThanOrEqual(245);
    expect(third - second).toBeGreaterThanOrEqual(245);
  });
});

describe("questions are those of the client's revision", () => {
  test("an older client is asked in the terms of its revision", async ({ expect }) => {
    const capabilities = { elicitation: {} };
    const client = { ...CLIENT, revision: "2025-06-18", capabilities } as const;
    const params = { ...FORM, mode: "form", task: { ttl: 1 }, _meta: { progressToken: 1 } };
    const { server } = behind([asking({ q: { ...ELICIT, params } }), completing()], { client });
    const peer = accepting();
    await server.request(CALL, peer, never);
    expect(peer.questions.map(({ call }) => call)).toEqual([ELICIT]);
  });

  test("a URL elicitation has an id of its own", async ({ expect }) => {
    const page = { mode: "url", message: "?", url: "https://x.test/" };
    const asked = { method: "elicitation/create", params: page };
    const { server } = behind([asking({ a: asked, b: asked }), completing()]);
    const peer = new AskedPeer(({ answer }) => answer({ result: { action: "accept" } }));
    await server.request(CALL, peer, never);
    const ids = peer.questions.map(({ call }) => call.params?.["elicitationId"]);
    expect(ids.every((id) => typeof id === "string" && id.length > 20)).toBe(true);
    expect(new Set(ids).size).toBe(2);
  });
});
