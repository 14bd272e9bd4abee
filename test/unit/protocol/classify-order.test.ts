/** The requests that `classify` rejects, and which of several faults it names (protocol reference 1.4 and 1.5). */

import { describe, test } from "vitest";

import { classify } from "../../../src/protocol/classify.ts";
import {
  CAPABILITIES,
  CLIENT_INFO,
  meta,
  mirrored,
  MODERN,
  NO_HEADERS,
  request,
  VERSION,
} from "./modern-requests.ts";

describe("classify() rejects, in the order of the checks,", () => {
  const oldHeader = { protocolVersion: "2025-06-18", method: "wrong", name: "wrong" };
  const supported = { supported: [MODERN], requested: "v999.0.0" };
  const bare = { jsonrpc: "2.0", id: 7, method: "tools/list" };
  test.for([
    {
      name: "5a: a version that is no string, before every other fault",
      body: request("no/method", { _meta: meta(5) }),
      headers: oldHeader,
      expected: { status: 400, code: -32602, part: VERSION },
    },
    {
      name: "5a: no capabilities",
      body: request("no/method", { _meta: { [VERSION]: "v999.0.0" } }),
      headers: oldHeader,
      expected: { status: 400, code: -32602, part: CAPABILITIES },
    },
    {
      name: "5a: capabilities that are a list",
      body: request("tools/list", { _meta: { [VERSION]: MODERN, [CAPABILITIES]: [] } }),
      headers: mirrored("tools/list"),
      expected: { status: 400, code: -32602, part: CAPABILITIES },
    },
    {
      name: "5a: client info that is malformed",
      body: request("tools/list", { _meta: { ...meta(), [CLIENT_INFO]: { name: "c" } } }),
      headers: mirrored("tools/list"),
      expected: { status: 400, code: -32602, part: CLIENT_INFO },
    },
    {
      name: "5a: client info that is null",
      body: request("tools/list", { _meta: { ...meta(), [CLIENT_INFO]: null } }),
      headers: mirrored("tools/list"),
      expected: { status: 400, code: -32602, part: CLIENT_INFO },
    },
    {
      name: "5b: a header that differs from the body, before an unsupported version",
      body: request("no/method", { _meta: meta("v999.0.0") }),
      headers: mirrored("no/method"),
      expected: { status: 400, code: -32020, part: "MCP-Protocol-Version" },
    },
    {
      name: "5c: a method that differs, before an unsupported version",
      body: request("no/method", { _meta: meta("v999.0.0") }),
      headers: { protocolVersion: "v999.0.0", method: "tools/list", name: null },
      expected: { status: 400, code: -32020, part: "Mcp-Method" },
    },
    {
      name: "5c: a method that differs in case",
      body: request("tools/list"),
      headers: mirrored("Tools/List"),
      expected: { status: 400, code: -32020, part: "Mcp-Method" },
    },
    {
      name: "5d: an unsupported version, before absent headers",
      body: request("no/method", { _meta: meta("v999.0.0") }),
      headers: NO_HEADERS,
      expected: { status: 400, code: -32022, part: "Unsupported", data: supported },
    },
    {
      name: "5d: an unsupported version, before a wrong name",
      body: request("tools/call", { name: "add", _meta: meta("v999.0.0") }),
      headers: { protocolVersion: "v999.0.0", method: "tools/call", name: "sub" },
      expected: { status: 400, code: -32022, part: "Unsupported", data: supported },
    },
    {
      name: "5d: an old version in _meta",
      body: request("tools/list", { _meta: meta("2025-11-25") }),
      headers: { protocolVersion: "2025-11-25", method: "tools/list", name: null },
      expected: {
        status: 400,
        code: -32022,
        part: "Unsupported",
        data: { supported: [MODERN], requested: "2025-11-25" },
      },
    },
    {
      name: "5d: a version of the future",
      body: request("tools/list", { _meta: meta("2027-01-01") }),
      headers: NO_HEADERS,
      expected: {
        status: 400,
        code: -32022,
        part: "Unsupported",
        data: { supported: [MODERN], requested: "2027-01-01" },
      },
    },
    {
      name: "5e: no version header, before an unknown method",
      body: request("no/method"),
      headers: { ...mirrored("no/method"), protocolVersion: null },
      expected: { status: 400, code: -32020, part: "MCP-Protocol-Version" },
    },
    {
      name: "5e: no method header, before an unknown method",
      body: request("no/method"),
      headers: { ...mirrored("no/method"), method: null },
      expected: { status: 400, code: -32020, part: "Mcp-Method" },
    },
    {
      name: "5e: no name header",
      body: request("tools/call", { name: "add" }),
      headers: mirrored("tools/call"),
      expected: { status: 400, code: -32020, part: "Mcp-Name" },
    },
    {
      name: "5e: a name that differs",
      body: request("tools/call", { name: "add" }),
      headers: mirrored("tools/call", "Add"),
      expected: { status: 400, code: -32020, part: "Mcp-Name" },
    },
    {
      name: "5e: a URI that differs, though the name agrees",
      body: request("resources/read", { uri: "test://a", name: "test://b" }),
      headers: mirrored("resources/read", "test://b"),
      expected: { status: 400, code: -32020, part: "Mcp-Name" },
    },
    {
      name: "5e: a name header for a body without one",
      body: request("prompts/get"),
      headers: mirrored("prompts/get", "undefined"),
      expected: { status: 400, code: -32020, part: "Mcp-Name" },
    },
    {
      name: "5e: a name in base64 with bad padding",
      body: request("tools/call", { name: "Hello" }),
      headers: mirrored("tools/call", "=?base64?SGVsbG8?="),
      expected: { status: 400, code: -32020, part: "Mcp-Name" },
    },
    {
      name: "5f: an unknown method",
      body: request("unknown/method"),
      headers: mirrored("unknown/method"),
      expected: { status: 404, code: -32601, part: "unknown/method" },
    },
    {
      name: "5f: a method named like a member of every object",
      body: request("constructor"),
      headers: mirrored("constructor"),
      expected: { status: 404, code: -32601, part: "constructor" },
    },
    ...[
      "initialize",
      "ping",
      "logging/setLevel",
      "resources/subscribe",
      "resources/unsubscribe",
    ].map((method) => ({
      name: `5f: ${method}, which the modern era does not have`,
      body: request(method),
      headers: mirrored(method),
      expected: { status: 404, code: -32601, part: method },
    })),
    {
      name: "7: a modern header and no claim",
      body: bare,
      headers: mirrored("tools/list"),
      expected: { status: 400, code: -32602, part: CAPABILITIES },
    },
    {
      name: "7: a modern header and no claim, naming the version key too",
      body: { ...bare, params: { _meta: { [CAPABILITIES]: {} } } },
      headers: mirrored("tools/list"),
      expected: { status: 400, code: -32602, part: VERSION },
    },
    {
      name: "7: a header of the future and no claim",
      body: bare,
      headers: { ...NO_HEADERS, protocolVersion: "2027-01-01" },
      expected: { status: 400, code: -32602, part: VERSION },
    },
    {
      name: "6: initialize without an envelope under a modern header",
      body: { ...bare, method: "initialize", params: { protocolVersion: "2025-11-25" } },
      headers: { ...NO_HEADERS, protocolVersion: MODERN },
      expected: { status: 400, code: -32020, part: "initialize" },
    },
    {
      name: "6: initialize with a broken envelope under a modern header",
      body: request("initialize", { _meta: { [VERSION]: MODERN } }),
      headers: mirrored("initialize"),
      expected: { status: 400, code: -32020, part: "initialize" },
    },
    {
      name: "6: initialize with an envelope of the future",
      body: request("initialize", { _meta: meta("2027-01-01") }),
      headers: NO_HEADERS,
      expected: {
        status: 400,
        code: -32022,
        part: "Unsupported",
        data: { supported: [MODERN], requested: "2027-01-01" },
      },
    },
  ])("$name", ({ body, headers, expected }, { expect }) => {
    expect(classify(body, headers)).toEqual({
      kind: "rejected",
      status: expected.status,
      id: 7,
      error: {
        code: expected.code,
        message: expect.stringContaining(expected.part),
        ...("data" in expected ? { data: expected.data } : {}),
      },
    });
  });

  test.for([0, "", "a", -1])("echoing the id %j in every rejection", (id, { expect }) => {
    for (const [body, headers] of [
      [request("tools/list", { _meta: meta(5) }, id), NO_HEADERS],
      [request("tools/list", {}, id), mirrored("ping")],
      [request("tools/list", { _meta: meta("v9") }, id), NO_HEADERS],
      [request("tools/list", {}, id), NO_HEADERS],
      [request("no/method", {}, id), mirrored("no/method")],
      [{ jsonrpc: "1.0", id, method: "tools/list" }, NO_HEADERS],
      [{ jsonrpc: "2.0", id, method: 5 }, NO_HEADERS],
    ] as const) {
      expect(classify(body, headers)).toMatchObject({ kind: "rejected", id });
    }
  });
});
