/** The rewriting of a task on its way to a client, and of its answers on their way to the server. */

import { describe, test } from "vitest";
import {
  withoutTaskNotices,
  showTask,
  withPlainAnswers,
} from "../../../../src/dispatch/modern/client-task.ts";
import { AskedPeer } from "../../protocol/revisions/asked-peer.ts";

const OLDER = "io.modelcontextprotocol/related-task";
const related = { [OLDER]: { taskId: "own" } };
const seed = { resultType: "complete", taskId: "own", status: "working", ttlMs: null, x: 1 };

describe("showTask()", () => {
  test("puts the client's id in the place of the server's", ({ expect }) => {
    expect(showTask(seed, "theirs", undefined)).toEqual({ ...seed, taskId: "theirs" });
  });

  test("adds no id to what has none", ({ expect }) => {
    const acknowledged = { resultType: "complete", _meta: { a: 1 } };
    expect(showTask(acknowledged, "theirs", "docs")).toEqual(acknowledged);
  });

  test("leaves out states and older ids, wherever they are", ({ expect }) => {
    const params = { mode: "form", message: "Sure?" };
    const question = { method: "elicitation/create", params };
    const task = {
      ...{ ...seed, requestState: "secret", _meta: { ...related, a: 1 } },
      inputRequests: { q: { ...question, params: { ...params, _meta: related } }, odd: 7 },
      result: { content: [], _meta: { b: 2, ...related } },
    };
    expect(showTask(task, "theirs", undefined)).toEqual({
      ...{ ...seed, taskId: "theirs", _meta: { a: 1 } },
      inputRequests: { q: question, odd: 7 },
      result: { content: [], _meta: { b: 2 } },
    });
  });

  test("names the server that asks, where several could", ({ expect }) => {
    const question = { method: "elicitation/create", params: { message: "Sure?" } };
    const asking = { ...seed, inputRequests: { q: question, roots: { method: "roots/list" } } };
    expect(showTask(asking, "theirs", "docs")["inputRequests"]).toEqual({
      q: {
        ...question,
        params: { message: "[docs] Sure?", _meta: { "edgeway/server": "docs" } },
      },
      roots: { method: "roots/list", params: { _meta: { "edgeway/server": "docs" } } },
    });
    expect(showTask(asking, "theirs", undefined)["inputRequests"]).toEqual(asking.inputRequests);
  });

  test("keeps keys that mean something to JavaScript", ({ expect }) => {
    const inputRequests = JSON.parse('{"__proto__":{"method":"roots/list"}}') as object;
    const { inputRequests: shown } = showTask({ ...seed, inputRequests }, "theirs", undefined);
    expect(JSON.stringify(shown)).toBe('{"__proto__":{"method":"roots/list"}}');
  });
});

test("answers lose older ids, and nothing else", ({ expect }) => {
  const answer = { action: "accept", content: { _meta: related } };
  const params = { taskId: "t", inputResponses: { q: { ...answer, _meta: related }, odd: null } };
  expect(withPlainAnswers(params)).toEqual({ ...params, inputResponses: { q: answer, odd: null } });
  for (const given of [{}, { inputResponses: null }, { inputResponses: [1] }]) {
    expect(withPlainAnswers(given)).toEqual(given);
  }
});

test("notifications before a result have no older ids", async ({ expect }) => {
  const peer = new AskedPeer();
  const hearing = withoutTaskNotices(peer);
  const params = { progressToken: 1, progress: 1 };
  await hearing.notify({ method: "notifications/progress", params: { ...params, _meta: related } });
  await hearing.notify({ method: "notifications/x" });
  expect(peer.notices.map(({ notice }) => notice)).toEqual([
    { method: "notifications/progress", params },
    { method: "notifications/x" },
  ]);
});
