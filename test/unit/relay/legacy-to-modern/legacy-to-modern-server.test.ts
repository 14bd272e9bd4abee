/** A modern server, as a legacy session has it. */

import { describe, test } from "vitest";

import type { JsonObject } from "../../../../src/protocol/json-rpc.ts";
import { ownError } from "../../../../src/protocol/own-error.ts";
import { LEGACY_REVISIONS } from "../../../../src/protocol/revisions.ts";
import { AskedPeer } from "../../protocol/revisions/asked-peer.ts";
import {
  behind,
  CALL,
  CAPABILITIES_KEY,
  CLIENT,
  completing,
  DONE,
  LEVEL_KEY,
  metaIn,
  never,
  paramsOf,
  REVISION_KEY,
  saying,
} from "./legacy-to-modern-fixture.ts";

const tool = (name: string, header: string): object => ({
  name,
  inputSchema: {
    type: "object",
    properties: { a: { type: "string", "x-mcp-header": header } },
  },
  outputSchema: { type: "array" },
});

const NOT_FOUND = { error: { code: -32601, message: "Method not found" } };

describe("a request", () => {
  test("is self-contained: the client is in every one", async ({ expect }) => {
    const { server, sent } = behind([completing()]);
    const _meta = { "com.example/own": 1, "io.modelcontextprotocol/related-task": {} };
    const params = { ...CALL.params, task: { ttl: 1 }, _meta };
    expect(await server.request({ ...CALL, params }, new AskedPeer(), never)).toEqual({
      result: DONE,
    });
    const [seen] = sent;
    expect(paramsOf(seen)).toEqual({
      ...CALL.params,
      _meta: {
        "com.example/own": 1,
        [REVISION_KEY]: "2026-07-28",
        [CAPABILITIES_KEY]: { roots: {}, sampling: {}, elicitation: { form: {}, url: {} } },
        "io.modelcontextprotocol/clientInfo": CLIENT.clientInfo,
      },
    });
    expect(Object.fromEntries(seen?.headers ?? [])).toMatchObject({
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "work",
    });
  });

  test.for(LEGACY_REVISIONS)(
    "of a client of %s declares what it can be asked",
    async (revision, { expect }) => {
      const { server, sent } = behind([completing()], { client: { ...CLIENT, revision } });
      await server.request(CALL, new AskedPeer(), never);
      const older = revision === "2025-06-18" ? { elicitation: { form: {} } } : {};
      const modes = { elicitation: { form: {}, url: {} } };
      expect(metaIn(sent[0])[CAPABILITIES_KEY]).toEqual({
        ...{ roots: {}, sampling: {} },
        ...(revision === "2025-11-25" ? modes : older),
      });
    },
  );

  test.for([
    ...["tasks/get", "tasks/list", "tasks/result", "tasks/cancel", "ping", "initialize"],
    ...["server/discover", "subscriptions/listen", "resources/subscribe", "com.example/own"],
    ...["constructor", ""],
  ])("for %j has no server to answer it", async (method, { expect }) => {
    const { server, sent } = behind([completing()]);
    expect(await server.request({ method, params: {} }, new AskedPeer(), never)).toEqual(NOT_FOUND);
    expect(sent).toEqual([]);
  });

  test("is answered in the terms of the client's revision", async ({ expect }) => {
    const content = [{ type: "audio", data: "aaaa", mimeType: "audio/wav" }];
    const stamped = {
      ...{ content, structuredContent: [1], ttlMs: 1, cacheScope: "public" },
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "s", version: "1" } },
    };
    const client = { ...CLIENT, revision: "2024-11-05" } as const;
    const { server } = behind([completing(stamped)], { client });
    const resource = { uri: "edgeway:audio/0", mimeType: "audio/wav", blob: "aaaa" };
    expect(await server.request(CALL, new AskedPeer(), never)).toEqual({
      result: {
        content: [
          { type: "resource", resource },
          { type: "text", text: "[1]" },
        ],
        structuredContent: { result: [1] },
      },
    });
  });

  test("of tools leaves out those that could not be called", async ({ expect }) => {
    const { server } = behind([completing({ tools: [tool("a", "A"), tool("b", "not a token")] })]);
    const reply = await server.request({ method: "tools/list" }, new AskedPeer(), never);
    expect(reply).toMatchObject({
      result: { tools: [{ name: "a", outputSchema: { type: "object", required: ["result"] } }] },
    });
    expect("result" in reply ? reply.result["tools"] : []).toHaveLength(1);
  });

  test("without an available answer ends in an error", async ({ expect }) => {
    const { server } = behind([() => new Response("no", { status: 503 })]);
    expect(await server.request(CALL, new AskedPeer(), never)).toEqual(
      ownError(-32603, 'Upstream "fake" is failing (HTTP 503)', {
        ...{ upstream: "fake", reason: "unreachable", status: 503 },
      }),
    );
  });
});

const progress = (token: unknown): JsonObject => ({
  method: "notifications/progress",
  params: { progressToken: token, progress: 1, message: "m" },
});

describe("a notification before the answer", () => {
  const log = { method: "notifications/message", params: { level: "info", data: 1 } };

  test.for(["mine", 0, 7])("is sent with the client's own token, %j", async (token, { expect }) => {
    const { server, sent } = behind([
      (seen) => saying(progress(metaIn(seen)["progressToken"]), progress("another"))(seen),
    ]);
    const peer = new AskedPeer();
    const params = { ...CALL.params, _meta: { progressToken: token } };
    expect(await server.request({ ...CALL, params }, peer, never)).toEqual({ result: DONE });
    expect(peer.notices.map(({ notice }) => notice)).toEqual([progress(token)]);
    expect(metaIn(sent[0])["progressToken"]).toEqual(expect.any(Number));
  });

  test("is not sent to a client that wants no progress", async ({ expect }) => {
    const { server } = behind([saying(progress(1))]);
    const peer = new AskedPeer();
    await server.request(CALL, peer, never);
    expect(peer.notices).toEqual([]);
  });

  test("loses the members of its revision, or is not sent at all", async ({ expect }) => {
    const _meta = { "io.modelcontextprotocol/subscriptionId": 1, "com.example/own": 1 };
    const { server } = behind([
      saying(
        { method: "notifications/cancelled", params: { requestId: 1 } },
        { method: "com.example/said", params: { a: 1, _meta } },
      ),
    ]);
    const peer = new AskedPeer();
    await server.request(CALL, peer, never);
    expect(peer.notices.map(({ notice }) => notice)).toEqual([
      { method: "com.example/said", params: { a: 1, _meta: { "com.example/own": 1 } } },
    ]);
  });

  test("with a log record is sent only when the client has set a level", async ({ expect }) => {
    const { server, sent, saved } = behind([saying(log)]);
    const peer = new AskedPeer();
    await server.request(CALL, peer, never);
    expect(metaIn(sent[0])).not.toHaveProperty(LEVEL_KEY);
    expect(peer.notices).toEqual([]);
    const params = { level: "warning" };
    expect(await server.request({ method: "logging/setLevel", params }, peer, never)).toEqual({
      result: {},
    });
    await server.request(CALL, peer, never);
    expect(sent).toHaveLength(2);
    expect(metaIn(sent[1])[LEVEL_KEY]).toBe("warning");
    expect(peer.notices.map(({ notice }) => notice)).toEqual([log]);
    expect(saved).toEqual(["warning"]);
  });
});

const levelOf = async (world: ReturnType<typeof behind>): Promise<unknown> => {
  await world.server.request(CALL, new AskedPeer(), never);
  return metaIn(world.sent.at(-1))[LEVEL_KEY];
};

describe("the log level", () => {
  test.for([undefined, "loud", "Debug", 7, {}])("cannot be %j", async (level, { expect }) => {
    const { server, sent, saved } = behind([completing()]);
    const call = { method: "logging/setLevel", params: { level } };
    expect(await server.request(call, new AskedPeer(), never)).toEqual({
      error: {
        code: -32602,
        message: `params.level must be one of debug, info, notice, warning, error, critical, alert, emergency`,
      },
    });
    expect(saved).toEqual([]);
    expect(sent).toEqual([]);
  });

  test("is known again after a restart", async ({ expect }) => {
    expect(await levelOf(behind([completing()], { savedLogLevel: "error" }))).toBe("error");
  });

  test("that was sent to every server goes first, and may change", async ({ expect }) => {
    const levels = [undefined, "debug"];
    const logLevel = (): string | undefined => levels.shift();
    const world = behind([completing()], { savedLogLevel: "error", logLevel });
    expect(await levelOf(world)).toBe("error");
    expect(await levelOf(world)).toBe("debug");
  });

  test("that a client sends in _meta is ignored", async ({ expect }) => {
    const { server, sent } = behind([completing()]);
    const params = { ...CALL.params, _meta: { [LEVEL_KEY]: "debug" } };
    await server.request({ ...CALL, params }, new AskedPeer(), never);
    expect(metaIn(sent[0])).not.toHaveProperty(LEVEL_KEY);
  });
});

describe("between requests", () => {
  test("there is no session, and nothing to listen to", async ({ expect }) => {
    const { server, sent } = behind([completing()]);
    await server.listen(undefined);
    expect(await server.watched(undefined)).toBeUndefined();
    expect(server.session).toBeUndefined();
    expect(sent).toEqual([]);
  });

  test("a call of an earlier life is not sent again", async ({ expect }) => {
    const { server, sent } = behind([completing()]);
    expect(await server.resume("token", new AskedPeer(), never)).toMatchObject({
      error: {
        code: -32603,
        message:
          'Upstream "fake" was being waited for when the gateway restarted; the result is unknown',
        data: { upstream: "fake", reason: "lost" },
      },
    });
    expect(sent).toEqual([]);
  });
});
