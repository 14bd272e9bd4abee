/** `Mcp-Param-*`: judged at the front door, made anew for the upstream, learned from its list. */

import { beforeEach, describe, test, vi } from "vitest";

import type { Json } from "../../support/scripted-upstream-script.ts";
import { modern } from "../client.ts";
import { responseIn } from "../event-reader.ts";
import { event, jsonOf, progress, streamOf, Upstream } from "../upstream.ts";

/** What a server lists is not read again for every doubt. */
const DOUBT_MS = 1000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
function work(
  upstream: Upstream,
  args: Json,
  headers: Readonly<Record<string, string | undefined>>,
): Promise<Response> {
  return modern(upstream, "tools/call", { name: "work", arguments: args }, { id: 7, headers });
}

describe("Mcp-Param-*", () => {
  const TOOL = {
    name: "work",
    inputSchema: {
      type: "object",
      properties: {
        region: { type: "string", "x-mcp-header": "Region" },
        count: { type: "integer", "x-mcp-header": "Count" },
        deep: { type: "object", properties: { flag: { type: "boolean", "x-mcp-header": "Flag" } } },
      },
    },
  };
  const ARGUMENTS = { region: "eu", count: 42, deep: { flag: false } };
  const HEADERS = { "Mcp-Param-Region": "eu", "Mcp-Param-Count": "42", "Mcp-Param-Flag": "false" };

  test.for<{ name: string; args?: Json; headers: Readonly<Record<string, string | undefined>> }>([
    { name: "one is missing", headers: { ...HEADERS, "Mcp-Param-Region": undefined } },
    { name: "one differs", headers: { ...HEADERS, "Mcp-Param-Region": "us" } },
    { name: "one differs in case", headers: { ...HEADERS, "Mcp-Param-Region": "EU" } },
    { name: "a number differs", headers: { ...HEADERS, "Mcp-Param-Count": "43" } },
    { name: "a boolean is no boolean", headers: { ...HEADERS, "Mcp-Param-Flag": "0" } },
    { name: "base64 is broken", headers: { ...HEADERS, "Mcp-Param-Region": "=?base64?!!?=" } },
    {
      name: "one is there without its argument",
      args: { count: 42, deep: { flag: false } },
      headers: HEADERS,
    },
    { name: "one is there for null", args: { ...ARGUMENTS, region: null }, headers: HEADERS },
  ])("are refused when $name", async ({ args = ARGUMENTS, headers }, { expect }) => {
    const upstream = await Upstream.take({ server: "modern", tools: [TOOL] });
    const response = await work(upstream, args, headers);
    expect(response.status).toBe(400);
    expect(await responseIn(response)).toMatchObject({ id: 7, error: { code: -32020 } });
    expect(await upstream.sent("tools/call")).toHaveLength(0);
  });

  test.for<{ name: string; args: Json; headers: Record<string, string>; sent: Json }>([
    {
      name: "as they are",
      args: ARGUMENTS,
      headers: HEADERS,
      sent: { "mcp-param-region": "eu", "mcp-param-count": "42", "mcp-param-flag": "false" },
    },
    {
      name: "from their arguments",
      args: { region: "größe", count: 42 },
      headers: { "Mcp-Param-Region": "=?base64?Z3LDtsOfZQ==?=", "Mcp-Param-Count": "42.0" },
      sent: { "mcp-param-region": "=?base64?Z3LDtsOfZQ==?=", "mcp-param-count": "42" },
    },
    {
      name: "with those that no schema names",
      args: {},
      headers: { "Mcp-Param-Other": "kept" },
      sent: { "mcp-param-other": "kept" },
    },
  ])("are sent on $name", async ({ args, headers, sent }, { expect }) => {
    const upstream = await Upstream.take({ server: "modern", tools: [TOOL] });
    expect(await responseIn(await work(upstream, args, headers))).toHaveProperty("result");
    const [record] = await upstream.sent("tools/call");
    const params = Object.entries(record?.headers ?? {}).filter(([name]) =>
      name.startsWith("mcp-param-"),
    );
    expect(Object.fromEntries(params)).toEqual(sent);
  });

  test("a tool whose annotations break the rules is not listed; the others are", async ({
    expect,
  }) => {
    const bad = {
      name: "bad",
      inputSchema: { type: "object", properties: { a: { type: "array", "x-mcp-header": "A" } } },
    };
    const upstream = await Upstream.take({ server: "modern", tools: [bad, TOOL] });
    const { result } = await responseIn(await modern(upstream, "tools/list"));
    expect(result?.["tools"]).toEqual([TOOL]);
  });

  test("-32020 of the upstream makes the gateway read the schema again, and send once more", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({ server: "modern" });
    expect(await responseIn(await work(upstream, ARGUMENTS, {}))).toHaveProperty("result");
    const mismatch = jsonOf(
      { error: { code: -32020, message: "Mcp-Param-Region is missing" } },
      400,
    );
    await upstream.script({
      server: "modern",
      tools: [TOOL],
      reactions: { "tools/call": [mismatch] },
    });
    vi.setSystemTime(Date.now() + DOUBT_MS);
    expect(await responseIn(await work(upstream, ARGUMENTS, HEADERS))).toHaveProperty("result");
    expect(await upstream.sent("tools/list")).toHaveLength(2);
    const calls = await upstream.sent("tools/call");
    expect(calls.map(({ status }) => status)).toEqual([200, 400, 200]);
    expect(calls.at(-1)?.headers["mcp-param-region"]).toBe("eu");
  });

  test("are checked against the newest schema, which the client may know first", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({ server: "modern", tools: [TOOL] });
    expect(await responseIn(await work(upstream, ARGUMENTS, HEADERS))).toHaveProperty("result");
    const inputSchema = {
      type: "object",
      properties: { region: { type: "string", "x-mcp-header": "Zone" } },
    };
    await upstream.script({ server: "modern", tools: [{ name: "work", inputSchema }] });
    vi.setSystemTime(Date.now() + DOUBT_MS);
    const args = { region: "eu" };
    const answer = await responseIn(await work(upstream, args, { "Mcp-Param-Zone": "eu" }));
    expect(answer).toHaveProperty("result");
    const sent = await upstream.sent("tools/call");
    expect(sent.map(({ status }) => status)).toEqual([200, 200]);
    expect(sent[1]?.headers["mcp-param-zone"]).toBe("eu");
  });

  test("are passed on to a server that has no list, or hides the tool", async ({ expect }) => {
    for (const reaction of [{ status: 503 }, jsonOf({ result: { tools: [] } })]) {
      const upstream = await Upstream.take({
        server: "modern",
        reactions: { "tools/list": [{ ...reaction, isLasting: true }] },
      });
      expect(await responseIn(await work(upstream, ARGUMENTS, HEADERS))).toHaveProperty("result");
      const [record] = await upstream.sent("tools/call");
      expect(record?.headers["mcp-param-region"]).toBe("eu");
    }
  });

  test("-32020 is returned after two deliveries", async ({ expect }) => {
    const error = { code: -32020, message: "Header mismatch" };
    const upstream = await Upstream.take({
      server: "modern",
      reactions: { "tools/call": [{ ...jsonOf({ error }, 400), isLasting: true }] },
    });
    const response = await work(upstream, {}, {});
    expect(response.status).toBe(400);
    expect(await responseIn(response)).toMatchObject({ id: 7, error });
    expect(await upstream.sent("tools/call")).toHaveLength(2);
  });

  test("-32020 from a call that had begun causes no second delivery", async ({ expect }) => {
    const error = { code: -32020, message: "Header mismatch" };
    const reaction = streamOf(event(progress(1)), event({ id: "{{id}}", error }));
    const upstream = await Upstream.take({
      server: "modern",
      reactions: { "tools/call": [{ ...reaction, isLasting: true }] },
    });
    const params = { name: "work", arguments: {} };
    const response = await modern(upstream, "tools/call", params, { meta: { progressToken: "p" } });
    expect(await responseIn(response)).toMatchObject({ error });
    expect(await upstream.sent("tools/call")).toHaveLength(1);
  });
});
