/** The record of a call, in both eras: who called, what came of it where, and by which trace it is found. */

import { afterEach, describe, test, vi } from "vitest";

import { tryJson } from "../../../src/lib/try-json.ts";
import { isObject, type JsonObject } from "../../../src/protocol/json-rpc.ts";
import type { Script } from "../../support/scripted-upstream-script.ts";
import { until } from "../bounded.ts";
import { modern, modernCall, Session } from "../client.ts";
import { responseIn } from "../event-reader.ts";
import { MERGED, resourceful } from "../merged-session.ts";
import { takeSeveral } from "../several-servers.ts";
import { Upstream } from "../upstream.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const ID = /^00-([\da-f]{32})-[\da-f]{16}-01$/;
const TOOL = { name: "work", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } };
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = `00-${TRACE}-b7ad6b7169203331-01`;

/** The lines of tool calls, from now on. */
function linesOfCalls(): () => Promise<readonly JsonObject[]> {
  const spy = vi.spyOn(console, "log").mockImplementation(() => undefined);
  const find = async (): Promise<readonly JsonObject[] | undefined> => {
    const lines = spy.mock.calls.map(([line]: readonly unknown[]) => tryJson(String(line)));
    const own = lines.filter(isObject).filter(({ method }) => method === "tools/call");
    return Promise.resolve(own.length === 0 ? undefined : own);
  };
  return () => until(find, "the line of a call");
}

function traceIn(response: Response): string | undefined {
  return ID.exec(response.headers.get("traceresponse") ?? "")?.[1];
}

describe("the record of a call", () => {
  test.for<Pick<Script, "server">>([{ server: "modern" }, { server: "legacy" }])(
    "of a modern client, at a $server server",
    async ({ server }, { expect }) => {
      const upstream = await Upstream.take({ server, tools: [TOOL] });
      const clientInfo = { name: "Alpha\nagent", version: "2" };
      await responseIn(await modern(upstream, "tools/list"));
      const lines = linesOfCalls();
      const meta = { "io.modelcontextprotocol/clientInfo": clientInfo };
      const response = await modernCall(upstream, { meta });
      await responseIn(response);
      expect(await lines()).toMatchObject([
        {
          ...{ server: upstream.slug, name: "work", outcome: "ok", clientName: "Alpha agent" },
          ...{ clientEra: "modern", serverEra: server, traceId: traceIn(response) },
          upstreamMs: expect.any(Number) as number,
        },
      ]);
    },
  );

  test.for<Pick<Script, "server">>([{ server: "modern" }, { server: "legacy" }])(
    "of a session, at a $server server",
    async ({ server }, { expect }) => {
      const upstream = await Upstream.take({ server, tools: [TOOL] });
      const session = await Session.inUse(upstream.mcp);
      const lines = linesOfCalls();
      const response = await session.callTool();
      await responseIn(response);
      expect(await lines()).toMatchObject([
        {
          ...{ server: upstream.slug, name: "work", outcome: "ok", clientName: "integration" },
          ...{ clientEra: "legacy", serverEra: server, traceId: traceIn(response) },
          upstreamMs: expect.any(Number) as number,
        },
      ]);
    },
  );

  test.for<Pick<Script, "server">>([{ server: "modern" }, { server: "legacy" }])(
    "is found by the caller's trace, of the message before that of the headers: $server",
    async ({ server }, { expect }) => {
      const upstream = await Upstream.take({ server, tools: [TOOL] });
      const lines = linesOfCalls();
      const session = await Session.open(upstream.mcp);
      const other = { traceparent: PARENT.replace(TRACE, "f".repeat(32)) };
      const params = { name: "work", arguments: {}, _meta: { traceparent: PARENT } };
      const message = { id: 7, method: "tools/call", params };
      await responseIn(await session.post(message, other));
      const response = await modernCall(upstream, {
        meta: { traceparent: PARENT },
        headers: other,
      });
      await responseIn(response);
      await responseIn(await modernCall(upstream, { headers: other }));
      expect((await lines()).map(({ traceId }) => traceId)).toEqual([
        ...[TRACE, TRACE, "f".repeat(32)],
      ]);
      expect(response.headers.get("traceresponse")).toContain(TRACE);
    },
  );

  test("T10: is one line and no warning where nothing else takes it", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "modern", tools: [TOOL] });
    await responseIn(await modern(upstream, "tools/list"));
    const others = (["warn", "error", "info"] as const).map((name) =>
      vi.spyOn(console, name).mockImplementation(() => undefined),
    );
    const lines = linesOfCalls();
    for (let n = 0; n < 3; n++) await responseIn(await modernCall(upstream));
    expect(await lines()).toHaveLength(3);
    expect(others.flatMap(({ mock }) => mock.calls)).toEqual([]);
  });

  test("has the effect of a tool, where the gateway has its server's catalog", async ({
    expect,
  }) => {
    await takeSeveral([
      { script: { ...resourceful("first", { server: "modern" }), tools: [TOOL] } },
      { script: resourceful("second", { server: "modern" }) },
    ]);
    const listed = await responseIn(await modern(MERGED, "tools/list"));
    const { tools } = listed.result as { readonly tools: readonly { readonly name: string }[] };
    const lines = linesOfCalls();
    for (const { name } of tools) {
      await responseIn(await modern(MERGED, "tools/call", { name, arguments: {} }));
    }
    expect(await lines()).toMatchObject([{ effect: "read" }, { effect: "destructive" }]);
  });
});
