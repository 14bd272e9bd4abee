/** 2026-07-28: a resource that no server lists is looked for, in the operator's order. */

import { beforeAll, beforeEach, describe, test } from "vitest";

import type { Json, Reaction, Script } from "../support/scripted-upstream-script.ts";
import { modern } from "./client.ts";
import { responseIn, type Message } from "./event-reader.ts";
import { takeSeveral } from "./several-servers.ts";
import { jsonOf, type Upstream } from "./upstream.ts";

const URI = "file:///hidden";
const HERE = jsonOf({ result: { contents: [{ uri: URI, text: "here" }] } });
const error = (code: number, status = 200): Reaction =>
  jsonOf({ error: { code, message: "No." } }, status);

/** A server without lists of resources, that has something to read all the same. */
function script(read?: Reaction): Script {
  const none = { ...jsonOf({ result: { resources: [], resourceTemplates: [] } }), isLasting: true };
  return {
    server: "modern",
    capabilities: { resources: {} },
    reactions: {
      "resources/list": [none as Reaction],
      "resources/templates/list": [none as Reaction],
      ...(read === undefined ? {} : { "resources/read": [{ ...read, isLasting: true }] }),
    },
  };
}

let servers: readonly Upstream[];

beforeAll(async () => {
  servers = await takeSeveral([{ script: script() }, { script: script() }, { script: script() }]);
});

async function stage(...reads: readonly Reaction[]): Promise<void> {
  await Promise.all(servers.map((server, n) => server.script(script(reads[n]))));
}

async function read(params: Json = {}): Promise<Message> {
  return responseIn(await modern({ mcp: "/mcp" }, "resources/read", { uri: URI, ...params }));
}

/** How many reads each server has been sent since the last time. */
let seen: readonly number[] = [0, 0, 0];
async function asked(): Promise<readonly number[]> {
  const sent = await Promise.all(servers.map((server) => server.sent("resources/read")));
  const counts = sent.map(({ length }) => length);
  const fresh = counts.map((count, n) => count - (seen[n] ?? 0));
  seen = counts;
  return fresh;
}

beforeEach(async () => {
  await asked();
});

describe("a resource that nobody lists is", () => {
  test.for<{ name: string; reads: readonly Reaction[]; asked: readonly number[] }>([
    { name: "of the first", reads: [HERE, HERE, HERE], asked: [1, 0, 0] },
    { name: "not of the first", reads: [error(-32602), HERE, HERE], asked: [1, 1, 0] },
    { name: "of the last", reads: [error(-32002), error(-32601, 404), HERE], asked: [1, 1, 1] },
    { name: "behind one that is down", reads: [{ status: 503 }, HERE], asked: [1, 1, 0] },
    { name: "behind one that fails", reads: [error(-32603), HERE], asked: [1, 1, 0] },
  ])("found when it is $name", async ({ reads, asked: expected }, { expect }) => {
    await stage(...reads);
    expect((await read()).result).toMatchObject({
      resultType: "complete",
      contents: [{ uri: URI, text: "here" }],
    });
    expect(await asked()).toEqual(expected);
  });

  test("not found when nobody has it", async ({ expect }) => {
    await stage(error(-32602), { status: 503 }, error(-32002));
    expect((await read()).error).toMatchObject({ code: -32602, data: { uri: URI } });
    expect(await asked()).toEqual([1, 1, 1]);
  });

  test("what the first had to say that knows of it", async ({ expect }) => {
    await stage(error(-32602), error(-32021, 400), error(-1));
    expect((await read()).error?.code).toBe(-32021);
  });

  test("asked for again at whoever asked back", async ({ expect }) => {
    const inputRequests = { q: { method: "roots/list" } };
    const ask = jsonOf({
      result: { resultType: "input_required", inputRequests, requestState: "mine" },
    });
    await stage(error(-32602), ask, HERE);
    const { result } = await read();
    expect(result).toMatchObject({ resultType: "input_required" });
    await asked();
    await stage(HERE, HERE, HERE);
    const { requestState } = result ?? {};
    const again = await read({ requestState, inputResponses: { q: { roots: [] } } });
    expect(again.result).toMatchObject({ resultType: "complete" });
    expect(await asked()).toEqual([0, 1, 0]);
    const record = (await servers[1]?.sent("resources/read"))?.at(-1);
    expect(record?.body?.params).toMatchObject({ requestState: "mine", uri: URI });
  });
});
