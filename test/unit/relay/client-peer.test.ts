/** A legacy server that speaks a newer revision than its client, or means to. */

import { describe, test } from "vitest";

import { clientPeer, readToken, type ServerView } from "../../../src/relay/client-peer.ts";
import { rephrase } from "../../../src/protocol/revisions/ask-legacy-client.ts";
import { serverResumeToken } from "../../../src/relay/server-resume-token.ts";
import { translatedReply } from "../../../src/relay/server-in-session.ts";
import type { Call } from "../../../src/protocol/exchange.ts";
import { LEGACY_REVISIONS } from "../../../src/protocol/revisions.ts";
import { AskedPeer } from "../protocol/revisions/asked-peer.ts";
import { viewOf } from "./session-server-fixture.ts";

const never = new AbortController().signal;
const audio = { type: "audio", data: "aaaa", mimeType: "audio/wav" };
const embedded = {
  type: "resource",
  resource: { uri: "edgeway:audio/0", mimeType: "audio/wav", blob: "aaaa" },
};
const link = { type: "resource_link", uri: "a:b", name: "a" };

const OLDEST = { revision: "2024-11-05", hasTasks: false } as const;
const NEWEST = { revision: "2025-11-25", hasTasks: true } as const;

describe("translatedReply()", () => {
  const results = [
    {
      method: "tools/call",
      result: { content: [audio], structuredContent: [1] },
      expected: {
        content: [embedded, { type: "text", text: "[1]" }],
        structuredContent: { result: [1] },
      },
    },
    { method: "tools/call", result: { content: [audio] }, expected: { content: [embedded] } },
    {
      method: "tools/call",
      result: { structuredContent: { n: 1 } },
      expected: { structuredContent: { n: 1 }, content: [{ type: "text", text: '{"n":1}' }] },
    },
    {
      method: "prompts/get",
      result: { messages: [{ role: "user", content: link }] },
      expected: { messages: [{ role: "user", content: { type: "text", text: "a\na:b" } }] },
    },
    {
      method: "tools/list",
      result: { tools: [{ name: "a", outputSchema: { anyOf: [] }, execution: {} }] },
      expected: { tools: [{ name: "a", outputSchema: { anyOf: [], type: "object" } }] },
    },
    {
      method: "resources/read",
      result: { contents: [{ uri: "a:b", text: "t" }], ttlMs: 1 },
      expected: { contents: [{ uri: "a:b", text: "t" }], ttlMs: 1 },
    },
  ];
  test.for(results)(
    "translates $method $result for 2024-11-05",
    ({ method, result, expected }, { expect }) => {
      expect(translatedReply({ result }, OLDEST, method)).toEqual({ result: expected });
      // After a restart the method of the result is not known any more.
      expect(translatedReply({ result }, OLDEST, undefined)).toEqual({ result: expected });
    },
  );

  test("changes nothing valid at the newest revision", ({ expect }) => {
    const tool = { name: "a", outputSchema: { type: "object" }, execution: {} };
    for (const [method, result] of Object.entries({
      "tools/call": { content: [audio, link], structuredContent: { n: 1 }, task: { taskId: "t" } },
      "prompts/get": { messages: [{ role: "user", content: audio }] },
      "tools/list": { tools: [tool], nextCursor: "n" },
      "tasks/get": { taskId: "t", ttl: 1 },
      "com.example/own": { resultType: "mine", content: "no list" },
    })) {
      expect(translatedReply({ result }, NEWEST, method)).toEqual({ result });
    }
  });

  test("keeps how a tool runs as a task if the client has tasks", ({ expect }) => {
    const result = { tools: [{ name: "a", execution: { taskSupport: "required" } }] };
    expect(translatedReply({ result }, NEWEST, "tools/list")).toEqual({ result });
    for (const revision of LEGACY_REVISIONS) {
      const reader = { revision, hasTasks: false };
      const plain = { result: { tools: [{ name: "a" }] } };
      expect(translatedReply({ result }, reader, "tools/list")).toEqual(plain);
    }
  });

  test("keeps an error", ({ expect }) => {
    const reply = { error: { code: -32042, message: "m", data: { elicitations: [] } } };
    expect(translatedReply(reply, OLDEST, "tools/call")).toBe(reply);
  });
});

describe("clientPeer()", () => {
  const form = { message: "?", requestedSchema: { type: "object", properties: {} } };

  test("translates a request for the client, with its resume token", async ({ expect }) => {
    const client = new AskedPeer(({ answer }) => answer({ result: { action: "decline" } }));
    const peer = clientPeer(client, viewOf("2025-06-18"));
    const question = { method: "elicitation/create", params: { mode: "form", ...form } };
    expect(await peer.ask(question, never, "t")).toEqual({ result: { action: "decline" } });
    const call: Call = { method: "elicitation/create", params: form };
    const resumeToken = serverResumeToken("fake", "t");
    expect(client.questions).toMatchObject([{ call, resumeToken, withdrawn: never }]);
    expect(client.questions[0]?.call).toEqual(call);
  });

  test("refuses a request that the client could not read, and does not send it", async ({
    expect,
  }) => {
    const client = new AskedPeer();
    const peer = clientPeer(client, viewOf("2025-06-18"));
    const params = { mode: "url", message: "?", url: "https://x.test/" };
    expect(await peer.ask({ method: "elicitation/create", params }, never)).toEqual({
      error: {
        code: -32602,
        message: "The client's revision 2025-06-18 has no elicitation by URL",
      },
    });
    expect(client.questions).toEqual([]);
  });

  test("makes an id for a URL elicitation that has none", async ({ expect }) => {
    const client = new AskedPeer(({ answer }) => answer({ result: { action: "accept" } }));
    const peer = clientPeer(client, viewOf("2025-11-25"));
    const params = { mode: "url", message: "?", url: "https://x.test/" };
    for (let n = 0; n < 2; n++) await peer.ask({ method: "elicitation/create", params }, never);
    const ids = client.questions.map(({ call }) => call.params?.["elicitationId"]);
    expect(ids).toEqual([expect.any(String), expect.any(String)]);
    expect(new Set(ids).size).toBe(2);
  });

  test("sends the notifications that the client knows, with their resume tokens, and no others", async ({
    expect,
  }) => {
    const client = new AskedPeer();
    const peer = clientPeer(client, viewOf("2025-06-18"));
    const log = { method: "notifications/message", params: { level: "info", data: 1 } };
    await peer.notify(log, "t");
    await peer.notify({ method: "notifications/elicitation/complete", params: {} }, "u");
    expect(client.notices).toEqual([{ notice: log, resumeToken: serverResumeToken("fake", "t") }]);
  });

  test("passes on the events of the stream", ({ expect }) => {
    const client = new AskedPeer();
    const peer = clientPeer(client, viewOf("2024-11-05"));
    peer.primed?.("b");
    peer.primed?.();
    peer.released?.();
    expect(client.events).toEqual([
      `primed ${serverResumeToken("fake", "b")}`,
      "primed ",
      "released",
    ]);
  });

  test("passes no events of the stream to a peer that does not take them", ({ expect }) => {
    const client = new AskedPeer();
    const deaf = {
      notify: (notice: Call) => client.notify(notice),
      ask: (question: Call, withdrawn: AbortSignal) => client.ask(question, withdrawn),
    };
    const peer = clientPeer(deaf, viewOf("2024-11-05"));
    expect(() => {
      peer.primed?.("b");
      peer.released?.();
    }).not.toThrow();
  });
});

const among = (passes: (notice: Call) => boolean = () => true): ServerView => ({
  ...viewOf("2025-11-25", "docs"),
  isNamed: true,
  passes,
});

describe("a server among several", () => {
  test("is named in its requests, and its progress token leads to it", async ({ expect }) => {
    const client = new AskedPeer(({ answer }) => answer({ result: { action: "accept" } }));
    const _meta = { progressToken: 7 };
    const params = { message: "Sure?", requestedSchema: { type: "object", properties: {} }, _meta };
    await clientPeer(client, among()).ask({ method: "elicitation/create", params }, never);
    const [question] = client.questions;
    expect(question?.call.params).toMatchObject({
      message: "[docs] Sure?",
      _meta: { "edgeway/server": "docs" },
    });
    const meta = question?.call.params?.["_meta"] as { readonly progressToken: unknown };
    expect(readToken(meta.progressToken)).toEqual({ slug: "docs", token: 7 });
  });

  test("sends no change that the client does not want, in the terms of the client", async ({
    expect,
  }) => {
    const client = new AskedPeer();
    const seen: string[] = [];
    const peer = clientPeer(
      client,
      among(({ method }) => {
        seen.push(method);
        return method !== "notifications/tools/list_changed";
      }),
    );
    await peer.notify({ method: "notifications/tools/list_changed" });
    await peer.notify({ method: "notifications/tasks" });
    await peer.notify({ method: "notifications/prompts/list_changed" });
    expect(client.notices.map(({ notice }) => notice.method)).toEqual([
      "notifications/prompts/list_changed",
    ]);
    // A notification of another era is gone before it counts as a change.
    expect(seen).not.toContain("notifications/tasks");
  });

  test("sends a change of a list when that is outdated here, and nothing else waits for that", async ({
    expect,
  }) => {
    const client = new AskedPeer();
    const { promise, resolve } = Promise.withResolvers<void>();
    const outdated: string[] = [];
    const view = among(({ method }) => !method.includes("prompts"));
    const peer = clientPeer(client, {
      ...view,
      outdated: (list) => {
        outdated.push(list);
        return promise;
      },
    });
    const sent = (): string[] => client.notices.map(({ notice }) => notice.method);
    const telling = [
      peer.notify({ method: "notifications/tools/list_changed" }),
      peer.notify({ method: "notifications/prompts/list_changed" }),
    ];
    await peer.notify({ method: "notifications/resources/updated", params: { uri: "a:b" } });
    expect(sent()).toEqual(["notifications/resources/updated"]);
    resolve();
    await Promise.all(telling);
    expect(sent().slice(1)).toEqual(["notifications/tools/list_changed"]);
    // The client is told of the prompts by the fan-out.
    expect(outdated).toEqual(["tools", "prompts"]);
  });
});

test("a request that was translated stays as it is when it is translated again", ({ expect }) => {
  const schema = { type: "object", properties: { a: { type: "string", enum: ["x"] } } };
  const questions: readonly Call[] = [
    { method: "roots/list" },
    {
      method: "elicitation/create",
      params: { mode: "form", message: "?", requestedSchema: schema },
    },
    { method: "elicitation/create", params: { mode: "url", message: "?", url: "https://x.test/" } },
    {
      method: "sampling/createMessage",
      params: {
        maxTokens: 1,
        messages: [{ role: "user", content: [{ type: "text", text: "a" }, audio] }],
        tools: [{ name: "t", inputSchema: { type: "object" }, outputSchema: { type: "array" } }],
      },
    },
    {
      method: "sampling/createMessage",
      params: { maxTokens: 1, messages: [{ role: "user", content: audio }] },
    },
  ];
  for (const revision of LEGACY_REVISIONS) {
    for (const question of questions) {
      const once = rephrase(question, revision, () => "id");
      if (once.kind === "unsupported") continue;
      expect(rephrase(once.call, revision, () => "another id")).toEqual(once);
    }
  }
});
