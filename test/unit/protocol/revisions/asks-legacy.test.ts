/** The requests of a server, as a legacy client of each revision can read them. */

import { describe, test } from "vitest";

import type { JsonObject } from "../../../../src/protocol/json-rpc.ts";
import { LEGACY_REVISIONS, type LegacyRevision } from "../../../../src/protocol/revisions.ts";
import { rephrase } from "../../../../src/protocol/revisions/ask-legacy-client.ts";
import {
  ABLE,
  ask,
  translated,
  sample,
  form,
  formless,
  page,
  plain,
  BEFORE_MODES,
  UNDECLARED,
} from "./asked-legacy.ts";

const say = (method: string, params: JsonObject, revision: LegacyRevision): unknown =>
  translated(rephrase({ method, params }, revision, () => "made-id"));

describe.for(LEGACY_REVISIONS)("at %s", (revision) => {
  test("roots have to be declared", ({ expect }) => {
    expect(ask("roots/list", undefined, revision).kind).toBe("ask");
    expect(translated(ask("roots/list", {}, revision, {}))).toBe("roots");
  });

  test.for(["ping", "tools/list", "constructor", "com.example/ask"])(
    "%s is no request of a server",
    (method, { expect }) => {
      expect(translated(ask(method, {}, revision))).toBe(UNDECLARED);
    },
  );

  test("a question in a result has no progress, and is no task", ({ expect }) => {
    const params = {
      ...plain,
      task: { ttl: 1 },
      _meta: {
        "com.example/own": 1,
        progressToken: 7,
        "io.modelcontextprotocol/related-task": { taskId: "t" },
        "io.modelcontextprotocol/serverInfo": { name: "s", version: "1" },
      },
    };
    const capabilities = { ...ABLE, tasks: { requests: { sampling: { createMessage: {} } } } };
    expect(sample(params, revision, capabilities)).toEqual({
      ...plain,
      _meta: { "com.example/own": 1 },
    });
  });
});

describe("rephrase(), between legacy revisions", () => {
  test("leaves to the client requests that it can judge by itself", ({ expect }) => {
    for (const revision of LEGACY_REVISIONS) {
      expect(say("com.example/ask", { a: 1 }, revision)).toEqual({ a: 1 });
      expect(rephrase({ method: "roots/list" }, revision, () => "")).toEqual({
        kind: "ask",
        call: { method: "roots/list" },
      });
      expect(say("elicitation/create", formless, revision)).toEqual(formless);
    }
    const context = { ...plain, includeContext: "thisServer", tools: [] };
    expect(say("sampling/createMessage", context, "2025-11-25")).toEqual(context);
    const odd = { ...form, mode: "odd" };
    expect(say("elicitation/create", odd, "2025-11-25")).toEqual(odd);
  });

  test("keeps tasks and progress if the revision has them", ({ expect }) => {
    const _meta = { progressToken: 1, "io.modelcontextprotocol/related-task": { taskId: "t" } };
    for (const [method, params] of Object.entries({
      "elicitation/create": { ...formless, task: { ttl: 1 }, _meta },
      "sampling/createMessage": { ...plain, task: { ttl: 1 }, _meta },
    })) {
      const { task: _, ...taskless } = params;
      expect(say(method, params, "2025-11-25")).toEqual(params);
      expect(say(method, params, "2025-06-18")).toEqual(taskless);
    }
  });

  test.for(BEFORE_MODES)("names the form that %s could not even read", (revision, { expect }) => {
    expect(say("elicitation/create", page, revision)).toBe("elicitation by URL");
    const odd = { ...form, mode: "SECRET" };
    expect(say("elicitation/create", odd, revision)).toBe("elicitation of such a mode");
  });
});
