/** A legacy server's request, as an input request in a result for a modern client. */

import { describe, test } from "vitest";

import type { ErrorObject, JsonObject } from "../../../../src/protocol/json-rpc.ts";
import {
  askModernClient,
  pagesToVisit,
} from "../../../../src/protocol/revisions/ask-modern-client.ts";

const ABLE = {
  roots: {},
  sampling: { tools: {}, context: {} },
  elicitation: { form: {}, url: {} },
};

function translated(method: string, params?: JsonObject, capabilities: JsonObject = ABLE): unknown {
  const call = params === undefined ? { method } : { method, params };
  const asked = askModernClient(call, capabilities);
  return asked.kind === "ask" ? asked.call : asked.lacking;
}

const form = { message: "?", requestedSchema: { type: "object", properties: {} } };
const page = { mode: "url", message: "?", url: "https://x.test/" };
const plain = { messages: [], maxTokens: 9 };

test.for([
  { method: "elicitation/create", params: form },
  { method: "elicitation/create", params: { ...form, mode: "form" } },
  { method: "elicitation/create", params: page },
  { method: "sampling/createMessage", params: plain },
  { method: "sampling/createMessage", params: { ...plain, tools: [], toolChoice: {} } },
  { method: "roots/list", params: { _meta: { "com.example/own": 1 } } },
])("the request $method $params stays as it is", (call, { expect }) => {
  expect(translated(call.method, call.params)).toEqual(call);
});

test("every input request has params, as two of three must", ({ expect }) => {
  expect(translated("roots/list")).toEqual({ method: "roots/list", params: {} });
});

test.for([
  { method: "elicitation/create", params: form },
  { method: "elicitation/create", params: page },
  { method: "sampling/createMessage", params: plain },
  { method: "roots/list", params: {} },
])(
  "the request $method loses members that only a separate request has",
  ({ method, params }, { expect }) => {
    const request = {
      ...params,
      task: { ttl: 1 },
      ...(method === "elicitation/create" ? { elicitationId: "e" } : {}),
      _meta: {
        "com.example/own": 1,
        progressToken: 7,
        "io.modelcontextprotocol/related-task": { taskId: "t" },
        "io.modelcontextprotocol/model-immediate-response": "soon",
        "io.modelcontextprotocol/clientCapabilities": {},
      },
    };
    const kept = { ...params, _meta: { "com.example/own": 1 } };
    expect(translated(method, request)).toEqual({ method, params: kept });
    const bare = { ...request, _meta: { progressToken: 7 } };
    expect(translated(method, bare)).toEqual({ method, params });
  },
);

describe("a question needs a capability that the request declares", () => {
  test.for([
    { method: "roots/list", params: {}, capabilities: {}, lacking: "roots" },
    { method: "sampling/createMessage", params: plain, capabilities: {}, lacking: "sampling" },
    {
      method: "sampling/createMessage",
      params: { ...plain, tools: [] },
      capabilities: { sampling: {} },
      lacking: "sampling with tools",
    },
    { method: "elicitation/create", params: form, capabilities: {}, lacking: "elicitation" },
    {
      method: "elicitation/create",
      params: form,
      capabilities: { elicitation: { url: {} } },
      lacking: "elicitation by form",
    },
    {
      method: "elicitation/create",
      params: page,
      capabilities: { elicitation: {} },
      lacking: "elicitation by URL",
    },
    {
      method: "elicitation/create",
      params: { ...form, mode: "SECRET" },
      capabilities: ABLE,
      lacking: "requests of this kind",
    },
    {
      method: "com.example/ask",
      params: {},
      capabilities: ABLE,
      lacking: "requests of this kind",
    },
  ])(
    "$method of $capabilities: $lacking",
    ({ method, params, capabilities, lacking }, { expect }) => {
      expect(translated(method, params, capabilities)).toBe(lacking);
    },
  );

  test("a bare declaration means forms", ({ expect }) => {
    expect(translated("elicitation/create", form, { elicitation: {} })).toMatchObject({
      params: form,
    });
  });

  test.for([
    { includeContext: "none", sampling: {}, isKept: true },
    { includeContext: "thisServer", sampling: {}, isKept: false },
    { includeContext: "allServers", sampling: { context: {} }, isKept: true },
  ])(
    "$includeContext for $sampling is kept: $isKept",
    ({ includeContext, sampling, isKept }, { expect }) => {
      const params = { ...plain, includeContext };
      expect(translated("sampling/createMessage", params, { sampling })).toEqual({
        method: "sampling/createMessage",
        params: isKept ? params : plain,
      });
    },
  );
});

test("tools to be used lose how they are run as tasks", ({ expect }) => {
  const tool = { name: "a", inputSchema: { type: "object" } };
  const params = { ...plain, tools: [{ ...tool, execution: { taskSupport: "optional" } }] };
  expect(translated("sampling/createMessage", params)).toEqual({
    method: "sampling/createMessage",
    params: { ...plain, tools: [tool] },
  });
});

const error = (data: unknown, code = -32042): ErrorObject => ({ code, message: "m", data });

describe("pagesToVisit()", () => {
  test("are questions", ({ expect }) => {
    const elicitations = [{ ...page, elicitationId: "e" }, { url: "https://y.test/" }];
    const pages = pagesToVisit(error({ elicitations })) ?? [];
    expect(pages.map(({ method, params }) => translated(method, params))).toEqual([
      { method: "elicitation/create", params: page },
      { method: "elicitation/create", params: { url: "https://y.test/", mode: "url" } },
    ]);
  });

  test.for([
    error({ elicitations: [page] }, -32603),
    error({ elicitations: [] }),
    error({ elicitations: [{ message: "?" }, 7] }),
    error({ elicitations: page }),
    error(undefined),
    error("none"),
  ])("%j names none", (named, { expect }) => {
    expect(pagesToVisit(named)).toBeUndefined();
  });
});
