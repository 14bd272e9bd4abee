/** Requests and notifications on their way to the other era, or to an older revision. */

import { describe, test } from "vitest";

import { LEGACY_REVISIONS } from "../../../../src/protocol/revisions.ts";
import {
  toLegacyNotice,
  toModernNotice,
} from "../../../../src/protocol/revisions/translate-notices.ts";
import { toLegacyRequest, toModernRequest } from "../../../../src/protocol/revisions/requests.ts";

const own = { "com.example/own": 1, traceparent: "00-a-b-01" };
const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "c", version: "1" },
  "io.modelcontextprotocol/logLevel": "debug",
};
const tasks = {
  "io.modelcontextprotocol/related-task": { taskId: "t" },
  "io.modelcontextprotocol/model-immediate-response": "soon",
};
const params = { name: "a", arguments: { task: 1, requestState: 2 }, _meta: own };

describe("a request", () => {
  const rounds = { inputResponses: { a: {} }, requestState: "s" };

  test("of a legacy client has no member of the newer revision, and starts no task", ({
    expect,
  }) => {
    const _meta = { ...own, progressToken: "p", ...envelope, ...tasks };
    const sent = { ...params, ...rounds, task: { ttl: 1 }, _meta };
    expect(toModernRequest({ method: "tools/call", params: sent })).toEqual({
      method: "tools/call",
      params: { ...params, _meta: { ...own, progressToken: "p" } },
    });
  });

  test("of a modern client has the form of a legacy client's request for a legacy server", ({
    expect,
  }) => {
    const _meta = { ...own, progressToken: 7, ...envelope };
    const call = { method: "tools/call", params: { ...params, ...rounds, _meta } };
    expect(toLegacyRequest(call)).toEqual({
      method: "tools/call",
      params: { ...params, _meta: { ...own, progressToken: 7 } },
    });
    expect(toLegacyRequest({ method: "a", params: { _meta: envelope } })).toEqual({
      method: "a",
      params: {},
    });
  });

  test("without params has none", ({ expect }) => {
    for (const translate of [toModernRequest, toLegacyRequest]) {
      expect(translate({ method: "tools/list" })).toEqual({ method: "tools/list" });
    }
  });
});

const common = [
  { method: "notifications/progress", params: { progressToken: 1, progress: 1, message: "m" } },
  { method: "notifications/message", params: { level: "info", data: {} } },
  { method: "com.example/own" },
];
const ofLists = [
  { method: "notifications/tools/list_changed" },
  { method: "notifications/prompts/list_changed" },
  { method: "notifications/resources/list_changed" },
  { method: "notifications/resources/updated", params: { uri: "a:b" } },
];
const of2025 = [
  { method: "notifications/elicitation/complete", params: { elicitationId: "e" } },
  { method: "notifications/tasks/status", params: { taskId: "t" } },
];

describe.for(LEGACY_REVISIONS)("notifications to %s", (revision) => {
  test.for([...common, ...ofLists])("$method stays", (notice, { expect }) => {
    expect(toLegacyNotice(notice, revision)).toEqual(notice);
  });

  test.for(of2025)("$method stays if the revision has it", (notice, { expect }) => {
    const isKnown = revision === "2025-11-25";
    expect(toLegacyNotice(notice, revision)).toEqual(isKnown ? notice : undefined);
  });

  test.for([
    "notifications/subscriptions/acknowledged",
    "notifications/cancelled",
    "notifications/tasks",
  ])("%s is dropped, being of the newer revision", (method, { expect }) => {
    expect(toLegacyNotice({ method, params: {} }, revision)).toBeUndefined();
  });

  test("the envelope is removed", ({ expect }) => {
    const subscription = { "io.modelcontextprotocol/subscriptionId": 1 };
    const notice = {
      method: "notifications/message",
      params: { _meta: { ...own, ...subscription } },
    };
    expect(toLegacyNotice(notice, revision)).toEqual({ ...notice, params: { _meta: own } });
  });
});

describe("notifications to a modern client, in the course of a request", () => {
  test.for(common)("$method stays", (notice, { expect }) => {
    expect(toModernNotice(notice)).toEqual(notice);
  });

  test.for([...ofLists, ...of2025])("$method is dropped", (notice, { expect }) => {
    expect(toModernNotice(notice)).toBeUndefined();
  });

  test("messages of the standalone stream are dropped", ({ expect }) => {
    const notice = { method: "notifications/message", params: { _meta: { ...own, ...tasks } } };
    expect(toModernNotice(notice)).toEqual({ ...notice, params: { _meta: own } });
  });
});
