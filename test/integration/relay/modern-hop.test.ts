/** 2026-07-28: what crosses to the upstream, and what belongs to one hop only. */

import { describe, test } from "vitest";

import type { Json } from "../../support/scripted-upstream-script.ts";
import { CAPABILITIES_KEY, MODERN, modern, modernCall, VERSION_KEY } from "../client.ts";
import { responseIn } from "../event-reader.ts";
import { jsonOf, MODERN_ANSWER, Upstream } from "../upstream.ts";

describe("towards the upstream", () => {
  test("the client's own headers are not copied, except for its trace", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "modern" }, "keyed");
    const secrets = {
      Cookie: "session=client-secret",
      Authorization: "Bearer client-secret",
      "Proxy-Authorization": "Basic client-secret",
      "X-Foo": "client-secret",
      "User-Agent": "client-secret",
      Referer: "http://localhost/client-secret",
      "X-Operator-Key": "client-secret",
      Baggage: "user=client-secret",
    };
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const headers = { ...secrets, Host: "localhost", traceparent, tracestate: "a=b" };
    await responseIn(await modernCall(upstream, { headers }));
    const [record] = await upstream.sent("tools/call");
    expect(JSON.stringify(await upstream.log())).not.toContain("client-secret");
    expect(record?.headers).toMatchObject({
      "x-operator-key": "operator-secret",
      traceparent: expect.stringContaining("0af7651916cd43dd8448eb211c80319c") as string,
      tracestate: "a=b",
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-protocol-version": MODERN,
      "mcp-method": "tools/call",
      "mcp-name": "work",
    });
  });

  test("the envelope and the id are the gateway's own", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "modern" });
    const meta = {
      "io.modelcontextprotocol/clientInfo": { name: "me", version: "2" },
      "example.com/trace": "00-a-b-01",
      baggage: "secret=1",
      "example.com/own": [1],
      progressToken: "mine",
    };
    const capabilities = { elicitation: { form: {} }, sampling: {}, tasks: {} };
    await responseIn(await modernCall(upstream, { id: "mine", meta, capabilities }));
    const [record] = await upstream.sent("tools/call");
    expect(record?.body?.id).not.toBe("mine");
    const sent = record?.body?.params?.["_meta"] as Json;
    expect(sent).toMatchObject({
      [VERSION_KEY]: MODERN,
      "io.modelcontextprotocol/clientInfo": { name: "me", version: "2" },
      "example.com/trace": "00-a-b-01",
      "example.com/own": [1],
    });
    expect(sent[CAPABILITIES_KEY]).toEqual({ elicitation: { form: {} }, sampling: {} });
    expect(sent).not.toHaveProperty("baggage");
    expect(sent["progressToken"]).not.toBe("mine");
  });

  test.for([
    { method: "tools/call", params: { name: "größe" }, encoded: "größe" },
    { method: "prompts/get", params: { name: " padded " }, encoded: " padded " },
    { method: "resources/read", params: { uri: "file:///日本/☃" }, encoded: "file:///日本/☃" },
    { method: "tools/call", params: { name: "=?base64?eA==?=" }, encoded: "=?base64?eA==?=" },
  ])(
    "a name that no header can carry travels in base64: $encoded",
    async ({ method, params, encoded }, { expect }) => {
      const upstream = await Upstream.take({
        server: "modern",
        reactions: { [method]: [jsonOf({ result: {} })] },
      });
      const bytes = [...new TextEncoder().encode(encoded)].map((byte) => String.fromCharCode(byte));
      const sentinel = `=?base64?${btoa(bytes.join(""))}?=`;
      const response = await modern(upstream, method, params, {
        headers: { "Mcp-Name": sentinel },
      });
      expect(await responseIn(response)).toHaveProperty("result");
      const [record] = await upstream.sent(method);
      expect(record?.headers["mcp-name"]).toBe(sentinel);
    },
  );

  test("inputResponses pass unchanged, and requestState returns byte for byte", async ({
    expect,
  }) => {
    const requestState = ' {"b":1,"a":"é\\u0000\\ud83d\\ude00=="}+/ \n';
    const asked = {
      resultType: "input_required",
      inputRequests: {
        q: {
          method: "elicitation/create",
          params: {
            mode: "form",
            message: "?",
            requestedSchema: { type: "object", properties: {} },
          },
        },
      },
      requestState,
    };
    const upstream = await Upstream.take({
      server: "modern",
      reactions: { "tools/call": [jsonOf({ result: asked }), jsonOf(MODERN_ANSWER)] },
    });
    const first = await responseIn(await modernCall(upstream));
    expect(first.result).toEqual({ ...asked, requestState: expect.any(String) as string });
    const inputResponses = { q: { action: "accept", content: { n: 1 } } };
    const params = {
      name: "work",
      arguments: {},
      requestState: first.result?.["requestState"],
      inputResponses,
    };
    const second = await responseIn(await modern(upstream, "tools/call", params, { id: 2 }));
    expect(second.result?.["resultType"]).toBe("complete");
    const [, record] = await upstream.sent("tools/call");
    expect(record?.body?.params).toMatchObject({ requestState, inputResponses });
  });
});

describe("back from the upstream", () => {
  test.for([
    // Refused at its door: nothing was run, and every proxy and client on the way can see it.
    { refusal: 400, code: -32602, status: 400 },
    { refusal: 400, code: -32600, status: 400 },
    { refusal: 400, code: -32603, status: 400 },
    { refusal: 400, code: 1234, status: 400 },
    { refusal: 400, code: -32021, status: 400 },
    { refusal: 404, code: -32601, status: 404 },
    // What a handler has decided travels as a result does.
    { refusal: 200, code: -32602, status: 200 },
    { refusal: 200, code: 1234, status: 200 },
  ])(
    "error $code with HTTP $refusal is that error with $status",
    async ({ refusal, code, status }, { expect }) => {
      const error = { code, message: "No.", data: { why: "test" } };
      const reaction = { ...jsonOf({ error }, refusal), isLasting: true as const };
      const upstream = await Upstream.take({
        server: "modern",
        reactions: { "tools/call": [reaction], "prompts/list": [reaction] },
      });
      for (const response of [await modernCall(upstream), await modern(upstream, "prompts/list")]) {
        expect(response.status).toBe(status);
        expect(await responseIn(response)).toEqual({ jsonrpc: "2.0", id: 1, error });
      }
    },
  );

  test("an error of a server in a session has no such status", async ({ expect }) => {
    const error = { code: -32602, message: "No." };
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [jsonOf({ error }, 400)] },
    });
    const response = await modernCall(upstream);
    expect(response.status).toBe(200);
    expect(await responseIn(response)).toEqual({ jsonrpc: "2.0", id: 1, error });
  });
});
