/** Tools of a modern server: which arguments go into headers, and what their output is. */

import { describe, test } from "vitest";

import type { ToolFacts } from "../../../../src/catalog/cache/tool-facts.ts";
import { AskedPeer } from "../../protocol/revisions/asked-peer.ts";
import { behind, CALL, completing, DONE, failing, never } from "./legacy-to-modern-fixture.ts";

describe("the facts of a tool", () => {
  const facts: ToolFacts = {
    bindings: [{ header: "mcp-param-n", path: ["n"] }],
    outputSchema: { anyOf: [{ type: "object" }, { type: "array" }] },
  };

  test("put arguments into headers, in every round, and are read once", async ({ expect }) => {
    const asked: [string, boolean][] = [];
    const toolFacts = (...question: [string, boolean]): Promise<ToolFacts> => {
      asked.push(question);
      return Promise.resolve(facts);
    };
    const wants = completing({ resultType: "input_required", requestState: "s" });
    const { server, sent } = behind([wants, completing()], { toolFacts });
    await server.request(CALL, new AskedPeer(), never);
    expect(sent.map(({ headers }) => headers.get("Mcp-Param-N"))).toEqual(["1", "1"]);
    expect(asked).toEqual([["work", false]]);
  });

  test("contain whether its output was shown wrapped", async ({ expect }) => {
    const result = { ...DONE, structuredContent: { n: 1 } };
    const answerWith = async (known: ToolFacts | undefined): Promise<unknown> => {
      const toolFacts = (): Promise<ToolFacts | undefined> => Promise.resolve(known);
      const { server } = behind([completing(result)], { toolFacts });
      const reply = await server.request(CALL, new AskedPeer(), never);
      return "result" in reply ? reply.result["structuredContent"] : reply;
    };
    expect(await answerWith(facts)).toEqual({ result: { n: 1 } });
    expect(await answerWith({ bindings: [], outputSchema: { type: "object" } })).toEqual({ n: 1 });
    expect(await answerWith({ bindings: [] })).toEqual({ n: 1 });
    expect(await answerWith(undefined)).toEqual({ n: 1 });
  });

  test.for(["prompts/get", "tools/list"])("are not read for %s", async (method, { expect }) => {
    let asked = 0;
    const toolFacts = (): Promise<undefined> => {
      asked += 1;
      return Promise.resolve(undefined);
    };
    const { server } = behind([completing()], { toolFacts });
    await server.request({ method, params: { name: "work" } }, new AskedPeer(), never);
    expect(asked).toBe(0);
  });

  const mismatch = failing({ code: -32020, message: "SECRET" }, 400);
  const stale = async (
    ...answers: Parameters<typeof behind>[0]
  ): Promise<{ reply: unknown; sent: (string | null)[]; doubts: boolean[] }> => {
    const doubts: boolean[] = [];
    const toolFacts = (_name: string, isDoubted: boolean): Promise<ToolFacts> => {
      doubts.push(isDoubted);
      return Promise.resolve(isDoubted ? facts : { bindings: [] });
    };
    const { server, sent } = behind(answers, { toolFacts });
    const reply = await server.request(CALL, new AskedPeer(), never);
    return { reply, doubts, sent: sent.map(({ headers }) => headers.get("Mcp-Param-N")) };
  };

  test("are read again when the server refuses a header, once", async ({ expect }) => {
    expect(await stale(mismatch, completing())).toEqual({
      ...{ reply: { result: DONE }, doubts: [false, true], sent: [null, "1"] },
    });
    expect(await stale(mismatch)).toEqual({
      reply: {
        error: {
          code: -32603,
          message: `Upstream "fake" refused the gateway's request (error -32020)`,
          data: { upstream: "fake" },
        },
      },
      ...{ doubts: [false, true], sent: [null, "1"] },
    });
  });

  test("are not read again when no tool was called", async ({ expect }) => {
    const { server, sent } = behind([mismatch]);
    const call = { method: "prompts/get", params: { name: "work" } };
    expect(await server.request(call, new AskedPeer(), never)).toMatchObject({
      error: { code: -32603 },
    });
    expect(sent).toHaveLength(1);
  });

  test("are not read again when the call may have run", async ({ expect }) => {
    const { doubts, sent } = await stale(failing({ code: -32020, message: "m" }), completing());
    expect({ doubts, sent }).toEqual({ doubts: [false], sent: [null] });
  });
});
