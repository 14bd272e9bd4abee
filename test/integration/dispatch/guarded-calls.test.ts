/**
 * Limits and policy between clients and their servers, in both eras: what one server may not be
 * given, does not answer, or answers too much of, is its own trouble and nobody else's.
 */

import { beforeAll, describe, test } from "vitest";

import type { Json } from "../../support/scripted-upstream-script.ts";
import { until } from "../bounded.ts";
import { modern, Session } from "../client.ts";
import { type Message, responseIn } from "../event-reader.ts";
import { setLimits } from "../own-limits.ts";
import { takeSeveral } from "../several-servers.ts";
import { jsonOf, type Upstream } from "../upstream.ts";

const PER_MINUTE = 120;
const TOOLS = [{ name: "open" }, { name: "secret" }].map(({ name }) => ({
  ...{ name, inputSchema: { type: "object" } },
}));
const HUGE = { content: [{ type: "text", text: "x".repeat(5000) }] };

let rated: Upstream;
let failing: Upstream;
let huge: Upstream;
let guarded: Upstream;
let fine: Upstream;
let older: Upstream;

beforeAll(async () => {
  setLimits({
    ...{ requestsPerMinutePerServer: PER_MINUTE, failuresBeforePause: 2, pauseSeconds: 1 },
    resultBytes: 4096,
  });
  // No connection: nothing that a call of one client could bring about.
  const bad = [{ status: 0 }, { status: 0 }];
  const result = { ...HUGE, resultType: "complete" };
  const taken = await takeSeveral([
    { script: { server: "dual" } },
    { script: { server: "dual", reactions: { "tools/call": bad } } },
    {
      script: {
        server: "dual",
        reactions: {
          "tools/call": [{ ...jsonOf({ result }), isLasting: true }],
          "resources/read": [{ ...jsonOf({ result }), isLasting: true }],
        },
      },
    },
    { script: { server: "dual", tools: TOOLS }, entry: { tools: { deny: ["sec*"] } } },
    { script: { server: "dual" } },
    { script: { server: "legacy", reactions: { "tools/call": bad } } },
  ]);
  [rated, failing, huge, guarded, fine, older] = taken as [
    ...[Upstream, Upstream, Upstream, Upstream, Upstream, Upstream],
  ];
});

type Ask = (method: string, params: Json) => Promise<Message>;

/** The same endpoint by a client of each era. */
async function clients(path = "/mcp"): Promise<readonly (readonly [era: string, ask: Ask])[]> {
  const session = await Session.open(path);
  return [
    ["legacy", async (method, params) => responseIn(await session.request(method, params))],
    ["modern", async (method, params) => responseIn(await modern({ mcp: path }, method, params))],
  ];
}

const call = (ask: Ask, upstream: Upstream, name = "work"): Promise<Message> =>
  ask("tools/call", { name: `${upstream.slug}__${name}`, arguments: {} });

function textOf({ result }: Message): unknown {
  const content = result?.["content"] as readonly { text?: unknown }[] | undefined;
  return result?.["isError"] === true ? content?.[0]?.text : undefined;
}

describe("a server that is called too often", () => {
  test("gets no more calls, and others still do", async ({ expect }) => {
    let passed = 0;
    for (const [era, ask] of await clients()) {
      let refused: unknown;
      for (let n = 0; n < 2 * PER_MINUTE && refused === undefined; n++) {
        refused = textOf(await call(ask, rated));
        if (refused === undefined) passed += 1;
      }
      expect([era, refused]).toEqual([
        ...[
          era,
          `Upstream "${rated.slug}" has more requests than it may be given; come back in 1 s`,
        ],
      ]);
      expect(await call(ask, fine)).toHaveProperty("result.content.0.text", "ran work");
    }
    expect(passed).toBeGreaterThanOrEqual(PER_MINUTE);
    expect(await rated.sent("tools/call")).toHaveLength(passed);
  });
});

describe("a server that does not answer", () => {
  test("gets no calls for a while, others do, and later calls reach it again", async ({
    expect,
  }) => {
    const [[, legacy], [, ask]] = (await clients()) as [[string, Ask], [string, Ask]];
    for (let n = 0; n < 2; n++) {
      expect((await call(ask, failing)).error?.data).toMatchObject({ reason: "unreachable" });
    }
    const told = await call(ask, failing);
    expect(told.error).toEqual({
      code: -32603,
      message: `Upstream "${failing.slug}" is not answering; it is tried again in 1 s`,
      data: { upstream: failing.slug, reason: "unreachable", retryAfter: 1 },
    });
    expect(await failing.sent("tools/call")).toHaveLength(2);
    expect(await call(ask, fine)).toHaveProperty("result");
    await until(async () => (await call(ask, failing)).result, "the server to be tried again");
    expect(await failing.sent("tools/call")).toHaveLength(3);
    expect(await call(legacy, failing)).toHaveProperty("result");
  });

  test("gets no calls over the bridge, either", async ({ expect }) => {
    const [, [, ask]] = (await clients()) as [[string, Ask], [string, Ask]];
    for (let n = 0; n < 2; n++) {
      expect((await call(ask, older)).error?.data).toEqual({
        ...{ upstream: older.slug, reason: "unreachable" },
      });
    }
    expect((await call(ask, older)).error?.data).toHaveProperty("retryAfter", 1);
    expect(await older.sent("tools/call")).toHaveLength(2);
  });
});

describe("an answer that is too large", () => {
  test("is replaced by an error that says so", async ({ expect }) => {
    for (const [era, ask] of await clients()) {
      expect([era, textOf(await call(ask, huge))]).toEqual([
        ...[era, expect.stringMatching(/^The answer of upstream ".*" has 50\d\d bytes; LIMITS\./)],
      ]);
    }
    for (const [era, ask] of await clients(huge.mcp)) {
      expect([era, (await ask("resources/read", { uri: "a://b" })).error?.data]).toEqual([
        ...[era, { upstream: huge.slug, reason: "too-large" }],
      ]);
    }
  });
});

describe("a tool that is forbidden", () => {
  test("gets the error of an unknown tool, at every endpoint and in both eras", async ({
    expect,
  }) => {
    for (const [path, prefix] of [
      ["/mcp", `${guarded.slug}__`],
      [guarded.mcp, ""],
    ] as const) {
      for (const [era, ask] of await clients(path)) {
        const { result } = await ask("tools/list", {});
        const listed = result?.["tools"] as readonly { readonly name: string }[] | undefined;
        expect([era, listed?.map(({ name }) => name)]).toEqual([era, [`${prefix}open`]]);
        expect(await ask("tools/call", { name: `${prefix}open` })).toHaveProperty("result");
        for (const name of ["secret", "nosuch"]) {
          const { error } = await ask("tools/call", { name: prefix + name });
          expect([era, error]).toEqual([
            ...[era, { code: -32602, message: `Unknown tool: ${prefix}${name}` }],
          ]);
        }
      }
    }
    const asked = (await guarded.sent("tools/call")).map(({ body }) => body?.params?.["name"]);
    expect(new Set(asked)).toEqual(new Set(["open"]));
  });
});
