/** A bridge whose server an operator has changed, so that it is reached in another way. */

import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, test } from "vitest";

import type { Json, Reaction } from "../../support/scripted-upstream-script.ts";
import type { StoredBridge } from "../../../durable-objects/bridge-store.ts";
import { readStored } from "../../../durable-objects/stored-json.ts";
import { changeConfiguration } from "../configuration.ts";
import { event, jsonOf, RESULT, sessionOf, streamOf, Upstream } from "../upstream.ts";
import { type AskedResult, BridgeClient, holderOf } from "./bridge-client.ts";

const ELICIT = { id: "s1", method: "elicitation/create", params: { message: "Sure?" } };
const ACCEPT = { action: "accept", content: { ok: true } };
const LOST = { code: -32603, data: { reason: "lost" } };

/** A server that answers its second call, and goes on with what runs in a session that is left. */
function serverOf(first: Reaction): Promise<Upstream> {
  const calls = [first, jsonOf({ result: RESULT })];
  return Upstream.take({
    server: "legacy",
    reactions: { "tools/call": calls, DELETE: [{ status: 405, isLasting: true }] },
  });
}

function change({ slug }: Upstream): void {
  const servers = JSON.parse(String(env["MCP_SERVERS"])) as Readonly<Record<string, Json>>;
  const changed = { ...servers[slug], headers: { "X-Key": "another" } };
  changeConfiguration({ MCP_SERVERS: JSON.stringify({ ...servers, [slug]: changed }) });
}

describe("a change of the server", () => {
  test("ends the call that runs there, and the next one has a session of its own", async ({
    expect,
  }) => {
    const upstream = await serverOf(streamOf({ gate: "never" }));
    const client = new BridgeClient(upstream);
    const running = client.call();
    await upstream.receives("tools/call");
    change(upstream);
    expect((await client.call()).result).toMatchObject(RESULT);
    expect((await running).error).toMatchObject(LOST);
    await upstream.receives("notifications/cancelled");
    const [before, after] = (await upstream.sent("tools/call")).map(sessionOf);
    expect(after).not.toBe(before);
    const left = await upstream.receives("DELETE");
    expect(left.map(sessionOf)).toEqual([before]);
  });

  test("ends the call that waits for an answer, which goes to no other session", async ({
    expect,
  }) => {
    const upstream = await serverOf(streamOf(event(ELICIT, { id: "e-1" }), { gate: "never" }));
    const client = new BridgeClient(upstream);
    const asked = await client.asked();
    change(upstream);
    expect((await client.call()).result).toMatchObject(RESULT);
    expect((await client.retry(asked, { r1: ACCEPT })).error).toMatchObject(LOST);
    const answer = await upstream.receivesAnswer("s1");
    expect(answer).toMatchObject({ error: { code: -32603 } });
    expect((await upstream.log()).map(({ body }) => body?.["result"])).not.toContainEqual(ACCEPT);
  });

  test("is not undone by a session that was being opened meanwhile", async ({ expect }) => {
    const opened = jsonOf({
      result: { ...{ protocolVersion: "2025-11-25", capabilities: {} }, serverInfo: { name: "s" } },
    });
    const headers = { ...opened.headers, "Mcp-Session-Id": "late" };
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: {
        initialize: [{ ...opened, headers, heldBy: "opened" }],
        "tools/call": [streamOf(event(ELICIT, { id: "e-1" }), { gate: "never" })],
      },
    });
    const client = new BridgeClient(upstream);
    const running = client.call();
    await upstream.receives("initialize");
    change(upstream);
    const asked = await client.asked();
    expect((await running).error).toMatchObject(LOST);
    await upstream.open("opened");
    await upstream.receives("DELETE");
    const [call] = await upstream.sent("tools/call");
    expect(await savedAt(asked)).toBe(call && sessionOf(call));
  });
});

/** @returns the id of the session that the next life of the bridge goes on in. */
function savedAt(asked: AskedResult): Promise<string | undefined> {
  return runInDurableObject(holderOf(asked), (_instance, { storage }) => {
    const stored = readStored(storage.kv.get("bridge")) as StoredBridge | undefined;
    return stored?.connection?.sessionId;
  });
}
