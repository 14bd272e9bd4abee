/** 2026-07-28: a resource that no server lists is looked for at all that may have it. */

import { beforeAll, describe, test } from "vitest";

import type { Json, Reaction, Script } from "../../support/scripted-upstream-script.ts";
import { modern } from "../client.ts";
import { responseIn, type Message } from "../event-reader.ts";
import { takeSeveral } from "../several-servers.ts";
import { jsonOf, type Upstream } from "../upstream.ts";

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

/** What each server has been sent of what a user has answered. */
async function answered(): Promise<readonly Json[][]> {
  const sent = await Promise.all(servers.map((server) => server.sent("resources/read")));
  return sent.map((records) =>
    records.flatMap(({ body }) =>
      body?.params?.["inputResponses"] === undefined ? [] : [body.params],
    ),
  );
}

describe("a resource that nobody lists is", () => {
  test.for<{ name: string; reads: readonly Reaction[] }>([
    { name: "of the first", reads: [HERE, HERE, HERE] },
    { name: "not of the first", reads: [error(-32602), HERE, HERE] },
    { name: "of the last", reads: [error(-32002), error(-32601, 404), HERE] },
    { name: "behind one that is down", reads: [{ status: 503 }, HERE] },
    { name: "behind one that fails", reads: [error(-32603), HERE] },
  ])("found when it is $name", async ({ reads }, { expect }) => {
    await stage(...reads);
    expect((await read()).result).toMatchObject({
      resultType: "complete",
      contents: [{ uri: URI, text: "here" }],
    });
  });

  test("not found when nobody has it", async ({ expect }) => {
    await stage(error(-32602), { status: 503 }, error(-32002));
    expect((await read()).error).toMatchObject({ code: -32602, data: { uri: URI } });
  });

  test("what the first had to say that knows of it", async ({ expect }) => {
    await stage(error(-32602), error(-32021, 400), error(-1));
    expect((await read()).error?.code).toBe(-32021);
  });

  test("anybody's when the first stalls", async ({ expect }) => {
    await stage({ heldBy: "never" }, error(-32602), HERE);
    expect((await read()).result).toMatchObject({ contents: [{ uri: URI, text: "here" }] });
  });

  test("not asked about for whom another had an answer", async ({ expect }) => {
    const before = await answered();
    const params = { message: "Which?", requestedSchema: { type: "object", properties: {} } };
    const inputRequests = { q: { method: "elicitation/create", params } };
    const asks = { resultType: "input_required", inputRequests, requestState: "mine" };
    await stage({ heldBy: "never" }, HERE, jsonOf({ result: asks }));
    expect((await read()).result).toMatchObject({ contents: [{ uri: URI, text: "here" }] });
    const inputResponses = { q: { action: "cancel" } };
    await expect
      .poll(async () => (await answered()).map((all, n) => all.slice(before[n]?.length)))
      .toMatchObject([[], [], [{ uri: URI, inputResponses, requestState: "mine" }]]);
  });

  // A server is free to give no state with its questions.
  test.for([{ given: { requestState: "mine" } }, { given: {} }])(
    "asked for again at whoever asked back, with $given",
    async ({ given }, { expect }) => {
      const before = await answered();
      const inputRequests = { q: { method: "roots/list" } };
      const ask = jsonOf({ result: { resultType: "input_required", inputRequests, ...given } });
      await stage(error(-32602), ask, error(-32602));
      const { result } = await read();
      expect(result).toMatchObject({ resultType: "input_required" });
      await stage(HERE, HERE, HERE);
      const inputResponses = { q: { roots: [] } };
      const { requestState } = result ?? {};
      const again = await read({ requestState, inputResponses });
      expect(again.result).toMatchObject({ resultType: "complete" });

      // Without the state nobody knows whose the answers are: the server asks again, and no server gets them.
      await stage(error(-32602), ask, error(-32602));
      const unled = await read({ inputResponses });
      expect(unled.result).toMatchObject({ resultType: "input_required", inputRequests: {} });
      const fresh = (await answered()).map((all, n) => all.slice(before[n]?.length));
      expect(fresh).toMatchObject([[], [{ uri: URI, inputResponses, ...given }], []]);
      expect(Object.hasOwn(fresh[1]?.[0] ?? {}, "requestState")).toBe("requestState" in given);
    },
  );
});
