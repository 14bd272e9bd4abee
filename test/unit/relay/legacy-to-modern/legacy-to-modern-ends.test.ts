/** How the rounds of a call end that a modern server does not answer, and with which error. */

import { describe, test } from "vitest";

import type { JsonObject } from "../../../../src/protocol/json-rpc.ts";
import { ownError } from "../../../../src/protocol/own-error.ts";
import { until } from "../../../support/until.ts";
import { AskedPeer } from "../../protocol/revisions/asked-peer.ts";
import {
  ACCEPTED,
  asking,
  behind,
  CALL,
  completing,
  DONE,
  ELICIT,
  never,
} from "./legacy-to-modern-fixture.ts";

const accepting = (): AskedPeer => new AskedPeer(({ answer }) => answer({ result: ACCEPTED }));

const failed = (sentence: string): JsonObject => ({
  content: [{ type: "text", text: `Upstream "fake" ${sentence}` }],
  isError: true,
});

describe("rounds end", () => {
  test("after the eighth, and the client is not asked in vain", async ({ expect }) => {
    const { server, sent } = behind([asking({ q: ELICIT }, "s")]);
    const peer = accepting();
    expect(await server.request(CALL, peer, never)).toEqual({
      result: {
        content: [{ type: "text", text: 'Upstream "fake" still asks for more after 8 rounds' }],
        isError: true,
      },
    });
    expect(peer.questions).toHaveLength(8);
    expect(sent).toHaveLength(9);
  });

  test("with the result of the eighth", async ({ expect }) => {
    const questions = Array.from({ length: 8 }, () => asking({ q: ELICIT }));
    const { server } = behind([...questions, completing()]);
    expect(await server.request(CALL, accepting(), never)).toEqual({ result: DONE });
  });

  test("with the first that fails, which takes the others back", async ({ expect }) => {
    const { server, sent } = behind([asking({ a: ELICIT, b: ELICIT, c: ELICIT })]);
    const peer = new AskedPeer();
    const answered = server.request(CALL, peer, never);
    await until(() => peer.questions.length === 3, "three questions");
    peer.questions[0]?.answer({ result: ACCEPTED });
    peer.questions[1]?.answer({ error: { code: -1, message: "No\u202e,  never\n" } });
    expect(await answered).toEqual({
      result: failed("asked this client for elicitation/create, which failed: No, never"),
    });
    expect(peer.questions.map(({ withdrawn }) => withdrawn.aborted)).toEqual([true, true, true]);
    // No answer is made up.
    expect(sent).toHaveLength(1);
  });

  test.for(["prompts/get", "resources/read"])(
    "for %s in an error, since no model reads its result",
    async (method, { expect }) => {
      const { server } = behind([asking({ q: ELICIT })]);
      const peer = new AskedPeer(({ answer }) => answer({ error: { code: -1, message: "no" } }));
      expect(await server.request({ method, params: {} }, peer, never)).toEqual({
        error: {
          code: -32603,
          message: 'Upstream "fake" asked this client for elicitation/create, which failed: no',
        },
      });
    },
  );

  test.for([
    {
      name: "what the client cannot do",
      asked: { a: ELICIT, b: { method: "sampling/createMessage", params: { tools: [] } } },
      sentence: "needs sampling with tools, which this client does not have",
    },
    {
      name: "a method that no client is asked by",
      asked: { a: ELICIT, b: { method: "SECRET/ask", params: {} } },
      sentence: "needs requests of this kind, which this client does not have",
    },
    {
      name: "what is no request",
      asked: { a: ELICIT, b: { method: 7 } },
      sentence: "asks something that is no request",
    },
    {
      name: "what has no params",
      asked: { a: ELICIT, b: { method: "roots/list", params: [] } },
      sentence: "asks something that is no request",
    },
    { name: "nothing", asked: { a: null }, sentence: "asks something that is no request" },
    {
      name: "a hundred things",
      asked: Object.fromEntries(Array.from({ length: 100 }, (_, n) => [n, ELICIT])),
      sentence: "asks 100 questions at once; 32 are put to a client at most",
    },
  ])(
    "before the client is asked, when the server asks for $name",
    async ({ asked, sentence }, { expect }) => {
      const { server, sent } = behind([asking(asked)]);
      const peer = accepting();
      expect(await server.request(CALL, peer, never)).toEqual({ result: failed(sentence) });
      expect(peer.questions).toEqual([]);
      expect(sent).toHaveLength(1);
    },
  );

  test("not at 32 requests", async ({ expect }) => {
    const asked = Object.fromEntries(Array.from({ length: 32 }, (_, n) => [n, ELICIT]));
    const { server } = behind([asking(asked), completing()]);
    expect(await server.request(CALL, accepting(), never)).toEqual({ result: DONE });
  });

  const forbidden = "asks for input in a way that its revision forbids";
  test.for([
    { name: "nothing", result: {}, sentence: forbidden },
    { name: "no questions", result: { inputRequests: {} }, sentence: forbidden },
    { name: "a list", result: { inputRequests: [ELICIT] }, sentence: forbidden },
    { name: "a null", result: { inputRequests: null, requestState: "s" }, sentence: forbidden },
    {
      name: "a state that is no text",
      result: { inputRequests: { q: ELICIT }, requestState: { a: 1 } },
      sentence: forbidden,
    },
    {
      name: "an unknown type",
      result: { resultType: "task" },
      sentence: "answered with a result type nobody asked for",
    },
  ])(
    "in an error of the server's, when it asks with $name",
    async ({ result, sentence }, { expect }) => {
      const { server, sent } = behind([completing({ resultType: "input_required", ...result })]);
      const peer = accepting();
      expect(await server.request(CALL, peer, never)).toEqual(
        ownError(-32603, `Upstream "fake" ${sentence}`, { upstream: "fake", reason: "malformed" }),
      );
      expect(peer.questions).toEqual([]);
      expect(sent).toHaveLength(1);
    },
  );

  test.for(["tools/list", "completion/complete", "resources/list"])(
    "in an error, when the result of %s asks for anything",
    async (method, { expect }) => {
      const { server } = behind([asking({ q: ELICIT }, "s")]);
      const peer = accepting();
      expect(await server.request({ method }, peer, never)).toMatchObject({
        error: { code: -32603, data: { reason: "malformed" } },
      });
      expect(peer.questions).toEqual([]);
    },
  );
});
