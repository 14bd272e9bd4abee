/** A tool that its legacy server runs as a task alone: a modern client, which has none, gets its result. */

import { abortAllDurableObjects } from "cloudflare:test";
import { describe, test } from "vitest";

import type { Json, Reaction } from "../../support/scripted-upstream-script.ts";
import { BridgeClient } from "./bridge-client.ts";
import { ANSWER, event, jsonOf, RESULT, streamOf, Upstream } from "../upstream.ts";

const TASKS = { requests: { tools: { call: {} } } };
const inputSchema = { type: "object" };
const TOOLS: readonly Json[] = [
  { name: "work", inputSchema, execution: { taskSupport: "required" } },
  { name: "either", inputSchema, execution: { taskSupport: "optional" } },
  { name: "plain", inputSchema },
];
const MADE = jsonOf({ result: { task: { taskId: "t-1", status: "working" } } });
const ELICIT = { id: "s1", method: "elicitation/create", params: { message: "Sure?" } };
const RELATED = { "io.modelcontextprotocol/related-task": { taskId: "t-1" } };

function take(
  reactions: Readonly<Record<string, readonly Reaction[]>>,
  capabilities: Json = { tools: {}, tasks: TASKS },
): Promise<Upstream> {
  return Upstream.take({ server: "legacy", capabilities, tools: TOOLS, reactions });
}

const status = (name: string): Reaction =>
  jsonOf({ result: { taskId: "t-1", status: name, pollInterval: 1 } });

describe("a tool that is run as a task alone", () => {
  test("is run as one, and its result is that of the call", async ({ expect }) => {
    const upstream = await take({
      "tools/call": [MADE],
      "tasks/result": [jsonOf({ result: { ...RESULT, _meta: RELATED } })],
    });
    const { result } = await new BridgeClient(upstream).call();
    expect(result).toMatchObject({ ...RESULT, resultType: "complete" });
    expect(result?._meta).not.toHaveProperty(Object.keys(RELATED));
    const [call] = await upstream.sent("tools/call");
    expect(call?.body?.params).toEqual({ name: "work", arguments: {}, task: {} });
    const [waiting] = await upstream.sent("tasks/result");
    expect(waiting?.body?.params).toEqual({ taskId: "t-1" });
  });

  test("may ask questions while the task runs", async ({ expect }) => {
    const upstream = await take({
      "tools/call": [MADE],
      "tasks/result": [
        streamOf(
          event({ ...ELICIT, params: { ...ELICIT.params, _meta: RELATED } }),
          {
            gate: "go-on",
          },
          event(ANSWER),
        ),
      ],
    });
    const client = new BridgeClient(upstream);
    const asked = await client.asked();
    expect(asked.inputRequests).toEqual({
      r1: { method: ELICIT.method, params: ELICIT.params },
    });
    const done = client.retry(asked, { r1: { action: "decline" } });
    expect(await upstream.receivesAnswer("s1")).toMatchObject({
      result: { action: "decline", _meta: RELATED },
    });
    await upstream.open("go-on");
    expect((await done).result).toMatchObject(RESULT);
    expect(await upstream.sent("tools/call")).toHaveLength(1);
  });

  test("is polled when the stream of its result breaks, and does not run again", async ({
    expect,
  }) => {
    const upstream = await take({
      "tools/call": [MADE],
      "tasks/result": [streamOf(), jsonOf({ result: RESULT })],
      "tasks/get": [status("working"), status("working"), status("completed")],
    });
    expect((await new BridgeClient(upstream).call()).result).toMatchObject(RESULT);
    const polled = await upstream.sent("tasks/get");
    expect(polled.map(({ body }) => body?.params)).toEqual([
      { taskId: "t-1" },
      { taskId: "t-1" },
      { taskId: "t-1" },
    ]);
    expect(await upstream.sent("tasks/result")).toHaveLength(2);
    expect(await upstream.sent("tools/call")).toHaveLength(1);
  });

  test("asks its question although the stream broke that was to carry it", async ({ expect }) => {
    const upstream = await take({
      "tools/call": [MADE],
      "tasks/result": [streamOf(), streamOf(event(ELICIT), { gate: "go-on" }, event(ANSWER))],
      "tasks/get": [status("input_required")],
    });
    const client = new BridgeClient(upstream);
    const asked = await client.asked();
    const done = client.retry(asked, { r1: { action: "decline" } });
    await upstream.receivesAnswer("s1");
    await upstream.open("go-on");
    expect((await done).result).toMatchObject(RESULT);
  });

  test("is lost when the stream keeps breaking, or the server knows no task", async ({
    expect,
  }) => {
    const upstream = await take({
      "tools/call": [MADE, MADE],
      "tasks/result": Array<Reaction>(5).fill(streamOf()),
      "tasks/get": [
        ...Array<Reaction>(3).fill(status("completed")),
        jsonOf({ error: { code: -32602, message: "No such task" } }),
      ],
    });
    const client = new BridgeClient(upstream);
    const data = { upstream: upstream.slug, reason: "lost" };
    expect((await client.call()).error?.data).toEqual(data);
    expect(await upstream.sent("tasks/result")).toHaveLength(4);
    expect(await upstream.sent("tasks/get")).toHaveLength(3);
    expect((await client.call()).error?.data).toEqual(data);
    expect(await upstream.sent("tasks/result")).toHaveLength(5);
  });

  test("is cancelled at its server when the client hangs up", async ({ expect }) => {
    const upstream = await take({
      "tools/call": [MADE],
      "tasks/result": [streamOf({ gate: "never" })],
    });
    const sent = new BridgeClient(upstream).send("tools/call", { name: "work" });
    await upstream.receives("tasks/result");
    sent.hangUp();
    await expect(sent.answered).rejects.toThrow("gone");
    const [ended] = await upstream.receives("tasks/cancel");
    expect(ended?.body?.params).toEqual({ taskId: "t-1" });
  });

  test("is cancelled at its server when the client hangs up before the task exists", async ({
    expect,
  }) => {
    const upstream = await take({ "tools/call": [{ ...MADE, heldBy: "making" }] });
    const sent = new BridgeClient(upstream).send("tools/call", { name: "work" });
    await upstream.receives("tools/call");
    sent.hangUp();
    await expect(sent.answered).rejects.toThrow("gone");
    await upstream.open("making");
    const [ended] = await upstream.receives("tasks/cancel");
    expect(ended?.body?.params).toEqual({ taskId: "t-1" });
  });

  test("is answered and cancelled as a task also after the loss of its object", async ({
    expect,
  }) => {
    const upstream = await take({
      "tools/call": [MADE],
      "tasks/result": [streamOf(event(ELICIT, { id: "e-1" }), { gate: "never" })],
      resume: [streamOf({ gate: "never" })],
    });
    const client = new BridgeClient(upstream);
    const { requestState } = await client.asked();
    await abortAllDurableObjects();
    const inputResponses = { r1: { action: "decline" } };
    const back = { name: "work", arguments: {}, requestState, inputResponses };
    const sent = client.send("tools/call", back);
    expect(await upstream.receivesAnswer("s1")).toMatchObject({
      result: { action: "decline", _meta: RELATED },
    });
    sent.hangUp();
    await expect(sent.answered).rejects.toThrow("gone");
    const [ended] = await upstream.receives("tasks/cancel");
    expect(ended?.body?.params).toEqual({ taskId: "t-1" });
  });

  test("is lost when its server has become a modern one", async ({ expect }) => {
    const upstream = await take({
      "tools/call": [MADE],
      "tasks/result": [{ status: 404, heldBy: "turn" }],
    });
    const sent = new BridgeClient(upstream).send("tools/call", { name: "work" });
    await upstream.receives("tasks/result");
    await upstream.script({ server: "modern" });
    await upstream.open("turn");
    const { error } = await sent.answered;
    // Whoever reads that it did not run would send it again.
    expect(error?.data).toEqual({ upstream: upstream.slug, reason: "lost" });
    expect(await upstream.sent("tools/call")).toHaveLength(1);
  });

  test("ends in one error when its server creates no task", async ({ expect }) => {
    const upstream = await take({ "tools/call": [jsonOf({ result: RESULT })] });
    const { error } = await new BridgeClient(upstream).call();
    expect(error?.data).toEqual({ upstream: upstream.slug, reason: "malformed" });
  });

  test("gets the error of a server that refuses it", async ({ expect }) => {
    const error = { code: -32602, message: "No" };
    const upstream = await take({ "tools/call": [jsonOf({ error })] });
    expect((await new BridgeClient(upstream).call()).error).toEqual(error);
    expect(await upstream.sent("tasks/result")).toEqual([]);
  });
});

describe("a tool is called as it is", () => {
  const call = { name: "work", arguments: {} };

  test.for(["either", "plain", "unlisted"])("that can be: %s", async (name, { expect }) => {
    const upstream = await take({});
    const client = new BridgeClient(upstream);
    for (let n = 0; n < 2; n++) expect((await client.call({ name })).result).toBeDefined();
    expect((await upstream.sent("tools/call")).at(-1)?.body?.params).toEqual({ ...call, name });
    // The list is good for a while.
    expect(await upstream.sent("tools/list")).toHaveLength(1);
  });

  test("at a server without tasks, whose list is not read", async ({ expect }) => {
    const upstream = await take({}, { tools: {}, tasks: { list: {} } });
    await new BridgeClient(upstream).call();
    expect((await upstream.sent("tools/call"))[0]?.body?.params).toEqual(call);
    expect(await upstream.sent("tools/list")).toEqual([]);
  });

  test("when its list cannot be read", async ({ expect }) => {
    const upstream = await take({ "tools/list": [jsonOf({ error: { code: -1, message: "No" } })] });
    expect((await new BridgeClient(upstream).call()).result).toBeDefined();
  });

  test("after it is found in a list of several pages", async ({ expect }) => {
    const pages = [
      jsonOf({ result: { tools: [7, { name: "a" }], nextCursor: "2" } }),
      jsonOf({ result: { tools: TOOLS } }),
    ];
    const upstream = await take({
      "tools/list": pages,
      "tools/call": [MADE],
      "tasks/result": [jsonOf({ result: RESULT })],
    });
    expect((await new BridgeClient(upstream).call()).result).toMatchObject(RESULT);
    expect((await upstream.sent("tools/list"))[1]?.body?.params).toEqual({ cursor: "2" });
  });
});
