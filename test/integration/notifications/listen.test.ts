/** `subscriptions/listen` at one server: acknowledged first, tagged, and nothing unasked for. */

import { describe, test } from "vitest";

import type { Json, Reaction } from "../../support/scripted-upstream-script.ts";
import { modern } from "../client.ts";
import { EventReader, responseIn } from "../event-reader.ts";
import { event, jsonOf, streamOf, Upstream } from "../upstream.ts";

const LOG = { method: "notifications/message", params: { level: "info", data: "working" } };
const ACK = "notifications/subscriptions/acknowledged";
const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";

const changes = (name: string): Json => ({ method: `notifications/${name}` });
const updated = (uri: string): Json => ({
  method: "notifications/resources/updated",
  params: { uri },
});

async function listen(
  upstream: Upstream,
  notifications: Json,
  id: unknown = "sub",
): Promise<EventReader> {
  return new EventReader(await modern(upstream, "subscriptions/listen", { notifications }, { id }));
}

/** What a listener was promised. */
async function promised(stream: EventReader): Promise<unknown> {
  const { method, params } = await stream.message();
  if (method !== ACK) throw new Error(`The first message is ${method}`);
  return params?.["notifications"];
}

describe("subscriptions/listen", () => {
  test.for(["sub", 0, 7, "7"])(
    "tags everything with the id %j and its type, the acknowledgement first",
    async (id, { expect }) => {
      const upstream = await Upstream.take({ server: "modern" });
      const filter = { toolsListChanged: true, resourceSubscriptions: ["file:///a"] };
      const stream = await listen(upstream, filter, id);
      const _meta = { [SUBSCRIPTION]: id };
      expect(await stream.message()).toEqual({
        ...{ jsonrpc: "2.0", method: ACK, params: { notifications: filter, _meta } },
      });
      await upstream.send({
        ...changes("tools/list_changed"),
        params: { _meta: { [SUBSCRIPTION]: "theirs" } },
      });
      expect(await stream.message()).toEqual({
        ...{ jsonrpc: "2.0", ...changes("tools/list_changed"), params: { _meta } },
      });
      await upstream.send(updated("file:///a"));
      expect(await stream.message()).toEqual({
        ...{ jsonrpc: "2.0", method: updated("")["method"], params: { uri: "file:///a", _meta } },
      });
      await stream.cancel();
    },
  );

  test("lets nothing pass that was not asked for", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "modern" });
    const filter = { promptsListChanged: true, resourceSubscriptions: ["file:///b"] };
    const stream = await listen(upstream, { ...filter, toolsListChanged: false });
    expect(await promised(stream)).toEqual(filter);
    await upstream.send(changes("tools/list_changed"));
    await upstream.send(changes("resources/list_changed"));
    await upstream.send(updated("file:///a"));
    await upstream.send(LOG);
    await upstream.send({
      method: "notifications/progress",
      params: { progressToken: 1, progress: 1 },
    });
    await upstream.send(changes("constructor"));
    await upstream.send({ method: ACK, params: { notifications: {} } });
    await upstream.send(changes("prompts/list_changed"));
    expect(await stream.message()).toMatchObject({ method: "notifications/prompts/list_changed" });
    await stream.cancel();
  });

  test("promises what the server does, and no more", async ({ expect }) => {
    const acknowledgement = {
      method: ACK,
      params: { notifications: { promptsListChanged: true }, _meta: { [SUBSCRIPTION]: "{{id}}" } },
    };
    const reaction: Reaction = { ...streamOf(event(acknowledgement)), end: "never" };
    const upstream = await Upstream.take({
      server: "modern",
      reactions: { "subscriptions/listen": [{ ...reaction, isLasting: true }] },
    });
    const stream = await listen(upstream, {
      ...{ toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ["x:/"] },
    });
    expect(await promised(stream)).toEqual({ promptsListChanged: true });
    await stream.cancel();
  });

  test("is a promise of nothing where the server refuses", async ({ expect }) => {
    const refusal = jsonOf({ error: { code: -32601, message: "No." } }, 404);
    const upstream = await Upstream.take({
      server: "modern",
      reactions: { "subscriptions/listen": [{ ...refusal, isLasting: true }] },
    });
    const stream = await listen(upstream, { toolsListChanged: true });
    expect(await promised(stream)).toEqual({});
    await stream.silence();
    await stream.cancel();
  });

  test.for([
    {},
    { notifications: [] },
    { notifications: { toolsListChanged: "yes" } },
    { notifications: { resourceSubscriptions: "file:///a" } },
    { notifications: { resourceSubscriptions: [1] } },
  ])("with the params %j is refused at the door", async (params, { expect }) => {
    const upstream = await Upstream.take({ server: "modern" });
    const response = await modern(upstream, "subscriptions/listen", params, { id: "s" });
    expect(response.status).toBe(400);
    expect(await responseIn(response)).toMatchObject({
      id: "s",
      error: { code: -32602, message: expect.stringContaining("params.notifications") },
    });
    expect(await upstream.log()).toHaveLength(0);
  });

  test("is not timed out", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "modern" }, "hasty");
    const stream = await listen(upstream, { toolsListChanged: true });
    expect(await promised(stream)).toEqual({ toolsListChanged: true });
    for (let n = 0; n < 3; n++) await stream.silence();
    await upstream.send(changes("tools/list_changed"));
    expect(await stream.message()).toMatchObject(changes("tools/list_changed"));
    await stream.cancel();
  });

  test("of many is one at the server", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "modern" });
    const streams = await Promise.all(
      Array.from({ length: 8 }, (_, n) => listen(upstream, { toolsListChanged: true }, n)),
    );
    for (const stream of streams)
      expect(await promised(stream)).toEqual({ toolsListChanged: true });
    await upstream.send(changes("tools/list_changed"));
    const received = await Promise.all(streams.map((stream) => stream.message()));
    expect(received.map(({ params }) => params?._meta?.[SUBSCRIPTION])).toEqual([
      ...streams.keys(),
    ]);
    const open = (await upstream.sent("subscriptions/listen")).filter(({ isCutOff }) => !isCutOff);
    expect(open).toHaveLength(1);
    await Promise.all(streams.map((stream) => stream.cancel()));
  });

  test("goes on when the server breaks off, and what may have changed is announced", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({ server: "modern" });
    const filter = { toolsListChanged: true, resourceSubscriptions: ["file:///a"] };
    const stream = await listen(upstream, filter);
    expect(await promised(stream)).toEqual(filter);
    await upstream.hangUp();
    const received = [await stream.message(), await stream.message()].map(({ method }) => method);
    const methods = ["notifications/resources/updated", "notifications/tools/list_changed"];
    expect(new Set(received)).toEqual(new Set(methods));
    await upstream.send(updated("file:///a"));
    expect(await stream.message()).toMatchObject(updated("file:///a"));
    await stream.cancel();
  });
});
