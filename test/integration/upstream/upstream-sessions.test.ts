/**
 * A legacy upstream that forgets its session. The client notices nothing, and no call runs twice.
 */

import { describe, test } from "vitest";

import { LATEST_LEGACY, Session } from "../client.ts";
import { responseIn } from "../event-reader.ts";
import { jsonOf, LOG, methodOf, sessionOf, Upstream } from "../upstream.ts";

describe("an upstream that forgot its session", () => {
  const REFUSALS = [
    { name: "404", unknownSession: { status: 404, code: -32001 } },
    { name: "404 with another code", unknownSession: { status: 404, code: -32600 } },
    { name: "400 with -32000", unknownSession: { status: 400, code: -32000 } },
  ];

  test.for(REFUSALS)(
    "and says $name: is opened anew, and the call is sent once more",
    async ({ unknownSession }, { expect }) => {
      const upstream = await Upstream.take({ server: "legacy", unknownSession });
      const session = await Session.open(upstream.mcp, { capabilities: { roots: {} } });
      await responseIn(await session.request("logging/setLevel", { level: "warning" }));
      await upstream.forget();
      const before = (await upstream.log()).length;

      const message = await responseIn(await session.callTool("work", {}, "mine"));
      expect(message).toMatchObject({ id: "mine", result: { content: [{ text: "ran work" }] } });
      const after = (await upstream.log()).slice(before);
      expect(after.map(methodOf)).toEqual([
        "tools/call",
        "initialize",
        "notifications/initialized",
        "logging/setLevel",
        "tools/call",
      ]);
      const [refused, initialize, initialized, level, accepted] = after;
      expect([refused?.status, accepted?.status]).toEqual([unknownSession.status, 200]);
      expect(initialize?.headers).not.toHaveProperty("mcp-session-id");
      expect(initialize?.body?.params).toMatchObject({
        protocolVersion: LATEST_LEGACY,
        capabilities: { roots: {} },
      });
      expect(level?.body?.params).toEqual({ level: "warning" });
      const [forgotten, opened] = await upstream.sessions();
      const ids = [initialized, level, accepted].map((record) => record && sessionOf(record));
      expect(refused && sessionOf(refused)).toBe(forgotten);
      expect(new Set(ids)).toEqual(new Set([opened]));
    },
  );

  test("gets one new session for concurrent calls", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.inUse(upstream.mcp);
    await upstream.forget();
    const answers = await Promise.all(
      ["a", "b", "c"].map(async (name) => responseIn(await session.callTool(name))),
    );
    expect(answers.map(({ result }) => result?.["content"])).toEqual(
      ["a", "b", "c"].map((name) => [{ type: "text", text: `ran ${name}` }]),
    );
    expect(await upstream.sessions()).toHaveLength(2);
    const calls = await upstream.sent("tools/call");
    const ran = calls
      .filter(({ status }) => status === 200)
      .map(({ body }) => body?.params?.["name"]);
    expect(ran).toHaveLength(3);
    expect(new Set(ran)).toEqual(new Set(["a", "b", "c"]));
  });

  test("and forgets the new session, too, causes one error and two deliveries at most", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.inUse(upstream.mcp);
    const gone = jsonOf({ error: { code: -32001, message: "Session not found" } }, 404);
    await upstream.script({ server: "legacy", reactions: { "tools/call": [gone, gone] } });
    const message = await responseIn(await session.callTool());
    expect(message.error).toMatchObject({
      code: -32603,
      data: { upstream: upstream.slug, reason: "session-lost" },
    });
    expect(await upstream.sent("tools/call")).toHaveLength(2);
    expect(await responseIn(await session.callTool())).toHaveProperty("result");
  });

  test("and opens no new session causes one error, and the next call tries again", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.inUse(upstream.mcp);
    await upstream.forget();
    await upstream.script({ server: "legacy", reactions: { initialize: [{ status: 503 }] } });
    const message = await responseIn(await session.callTool());
    expect(message.error).toMatchObject({
      data: { upstream: upstream.slug, reason: "unreachable" },
    });
    expect(await responseIn(await session.callTool())).toHaveProperty("result");
    const calls = await upstream.sent("tools/call");
    expect(calls.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test("is detected by the GET stream, and its later messages arrive", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    const session = await Session.open(upstream.mcp);
    await responseIn(await session.request("logging/setLevel", { level: "debug" }));
    const stream = await session.listen();
    await upstream.receives("GET");
    await upstream.forget();
    await upstream.hangUp();
    await upstream.receives("logging/setLevel", 2);
    await upstream.receives("GET", 3);
    await upstream.send(LOG);
    expect(await stream.message()).toMatchObject(LOG);
    await stream.cancel();
  });
});
