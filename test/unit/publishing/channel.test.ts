/** One connection to a published server: each request gets its own answer and progress, and one error at the end. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import type { JsonRpcRequest, RequestId } from "../../../src/protocol/json-rpc.ts";
import type { Json } from "../../support/scripted-upstream-script.ts";
import { Scene, soFar, subscribed, withToken } from "./channel-scene.ts";
import { messagesOf } from "./machine.ts";

interface Asked {
  readonly id: RequestId;
  readonly token: RequestId | undefined;
}

const requestId: fc.Arbitrary<RequestId> = fc.oneof(
  fc.integer({ min: 0, max: 3 }),
  fc.constantFrom("0", "1", "", "a"),
);
const asked: fc.Arbitrary<Asked> = fc.record({
  id: requestId,
  token: fc.option(requestId, { nil: undefined }),
});

describe("the channel that all modern requests share", () => {
  test("answers no discovery when it ends: an error would be taken for one of the session era", async ({
    expect,
  }) => {
    const scene = new Scene();
    const discovery = scene.request(1, {}, { method: "server/discover" });
    const call = scene.request(2);
    scene.channel.end("The process has ended");
    expect(await messagesOf(discovery)).toEqual([]);
    expect(await messagesOf(call)).toMatchObject([{ id: 2, error: { code: -32603 } }]);
    expect(scene.legacy).toBe(0);
  });

  test("takes the exit of a process that has answered nothing for its refusal of a discovery", async ({
    expect,
  }) => {
    const scene = new Scene();
    const discovery = scene.request(1, {}, { method: "server/discover" });
    scene.channel.end("The process has ended", true);
    const error = { code: -32601, message: "The process has ended" };
    expect(await messagesOf(discovery)).toEqual([{ jsonrpc: "2.0", id: 1, error }]);
    const own = new Scene();
    const refusal = own.channel.refusal();
    own.channel.end("The process has ended", true);
    expect(await refusal).toEqual(error);
  });

  test("takes the exit of a process that has answered before for no refusal", async ({
    expect,
  }) => {
    const answered = new Scene();
    answered.request(1, {}, { method: "server/discover" });
    answered.says({ id: answered.last["id"], result: {} });
    for (const scene of [answered, new Scene({ isKnown: true })]) {
      const discovery = scene.request(2, {}, { method: "server/discover" });
      scene.channel.end("The process has ended", true);
      expect(await messagesOf(discovery)).toEqual([]);
    }
  });

  test("brings each its own answer and progress, with its own ids, in any order and of equal ones", async ({
    expect,
  }) => {
    const run = fc.record({
      requests: fc.array(asked, { minLength: 1, maxLength: 8 }),
      order: fc.infiniteStream(fc.nat()),
    });
    await fc.assert(
      fc.asyncProperty(run, async ({ requests, order }) => {
        const scene = new Scene();
        const responses = requests.map(({ id, token }, n) =>
          scene.request(id, { n, ...(token !== undefined && withToken(token)) }),
        );
        const sent = scene.messages as { id: number; params: { n: number; _meta?: Json } }[];
        expect(new Set(sent.map(({ id }) => id)).size).toBe(requests.length);
        const open = [...sent];
        while (open.length > 0) {
          const [{ id, params } = { id: 0, params: { n: 0 } }] = open.splice(
            (order.next().value ?? 0) % open.length,
            1,
          );
          const progressToken = params._meta?.["progressToken"];
          if (progressToken !== undefined) {
            const about = { progressToken, progress: params.n };
            scene.says({ method: "notifications/progress", params: about });
          }
          scene.says({ id, result: { n: params.n } });
          // What comes later is nobody's.
          scene.says({ id, result: { n: -1 } });
          if (progressToken !== undefined) {
            const late = { progressToken, progress: -1 };
            scene.says({ method: "notifications/progress", params: late });
          }
        }
        for (const [n, response] of responses.entries()) {
          const { id, token } = requests[n] ?? { id: -1, token: undefined };
          const progress = { progressToken: token, progress: n };
          expect(await messagesOf(response)).toEqual([
            ...(token === undefined
              ? []
              : [{ jsonrpc: "2.0", method: "notifications/progress", params: progress }]),
            { jsonrpc: "2.0", id, result: { n } },
          ]);
        }
      }),
    );
  });

  test("has other ids in another life, so that a late answer of before finds no call", async ({
    expect,
  }) => {
    const ids = Array.from({ length: 3 }, () => {
      const scene = new Scene({ isKnown: true });
      scene.request(1);
      return scene.last["id"];
    });
    expect(new Set(ids).size).toBe(3);
  });

  test("takes a subscription's messages to it, and ends it when the server does", async ({
    expect,
  }) => {
    const scene = new Scene();
    const [one, other] = [
      scene.request("one", {}, { method: "subscriptions/listen" }),
      scene.request("other", {}, { method: "subscriptions/listen" }),
    ];
    expect(scene.channel.callCount).toBe(0);
    const [, { id } = { id: 0 }] = scene.messages as { id: number }[];
    const changed = "notifications/tools/list_changed";
    scene.says({ method: changed, params: subscribed(id) });
    scene.says({ method: changed, params: subscribed("unknown") });
    scene.says({ method: "notifications/cancelled", params: { requestId: id } });
    expect(await messagesOf(other)).toEqual([
      { jsonrpc: "2.0", method: changed, params: subscribed("other") },
    ]);
    expect(await soFar(scene, one)).toEqual([]);
  });

  test("cancels a request whose client has gone, once, and drops its answer", async ({
    expect,
  }) => {
    const scene = new Scene();
    const leaving = new AbortController();
    const response = scene.request(1, {}, { signal: leaving.signal });
    const { id } = scene.last;
    leaving.abort();
    await response.body?.cancel();
    const params = { requestId: id };
    expect(scene.messages.slice(1)).toEqual([
      { jsonrpc: "2.0", method: "notifications/cancelled", params },
    ]);
    expect(scene.channel.callCount).toBe(0);
    scene.says({ id, result: {} });
    const read = scene.request(2);
    await read.body?.cancel();
    expect(scene.last).toMatchObject({ method: "notifications/cancelled" });
    expect(scene.sent).toHaveLength(4);
  });
});

describe("the channel of a session", () => {
  test("passes texts as they are, both ways", async ({ expect }) => {
    const scene = new Scene({ isShared: false });
    const text =
      '{"jsonrpc":"2.0", "id":7,"method":"tools/call","params":{"n":12345678901234567890.10}}';
    const message = JSON.parse(text) as JsonRpcRequest;
    const response = scene.channel.request(message, text, new AbortController().signal);
    expect(scene.sent).toEqual([text]);
    scene.channel.receive('{"jsonrpc":"2.0","id":7,\r\n"result":{"n":1.0e2}}');
    expect(await response?.text()).toContain(
      'data: {"jsonrpc":"2.0","id":7,  "result":{"n":1.0e2}}\n',
    );
  });

  test("says nothing of a request whose client has gone: the session does", ({ expect }) => {
    const scene = new Scene({ isShared: false });
    const leaving = new AbortController();
    scene.request(1, {}, { signal: leaving.signal });
    leaving.abort();
    expect(scene.sent).toHaveLength(1);
    expect(scene.channel.callCount).toBe(0);
  });

  test("has one standalone stream, the newest, which gets what changes", async ({ expect }) => {
    const scene = new Scene({ isShared: false });
    const older = scene.channel.listen();
    const newer = scene.channel.listen();
    const running = scene.request(1);
    const changed = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
    scene.says(changed);
    expect(await messagesOf(older)).toEqual([]);
    expect(await soFar(scene, running)).toEqual([]);
    expect(await messagesOf(newer)).toEqual([changed]);
  });
});

test.for([
  ["a result that is no object", { result: null }],
  ["an error without a code", { error: { message: "It broke" } }],
  ["an error without a message", { error: { code: -32603 } }],
  ["both", { result: {}, error: { code: -32603, message: "It broke" } }],
] as const)(
  "an answer that has %s is an error for its call alone",
  async ([, answer], { expect }) => {
    for (const isShared of [true, false]) {
      const scene = new Scene({ isShared });
      const response = scene.request(1);
      const { id } = scene.last;
      const other = scene.request(2);
      // A request of the local server may have the same id.
      scene.says({ id, method: "roots/list", params: null });
      expect(scene.channel.callCount).toBe(2);
      scene.says({ id, ...answer });
      const message = "The published server has answered with something that is not MCP";
      expect(await messagesOf(response)).toEqual([
        { jsonrpc: "2.0", id: 1, error: { code: -32603, message } },
      ]);
      expect(await soFar(scene, other)).toEqual([]);
    }
  },
);

test("the end of a channel is one error for each request in flight, with its own id", async ({
  expect,
}) => {
  await fc.assert(
    fc.asyncProperty(fc.array(requestId, { maxLength: 8 }), async (ids) => {
      const scene = new Scene();
      const responses = ids.map((id) => scene.request(id));
      scene.channel.end("The process has ended");
      scene.channel.end("And once more");
      const error = { code: -32603, message: "The process has ended" };
      for (const [n, response] of responses.entries()) {
        expect(await messagesOf(response)).toEqual([{ jsonrpc: "2.0", id: ids[n], error }]);
      }
      expect(scene.channel.callCount).toBe(0);
    }),
  );
});
