/** `subscriptions/listen`: acknowledged first, tagged, nothing unasked for, and a graceful end. */

import { describe, test } from "vitest";

import type { Json } from "../support/scripted-upstream-script.ts";
import { PATIENCE_MS } from "./bounded.ts";
import { modern } from "./client.ts";
import { EventReader, responseIn } from "./event-reader.ts";
import { event, jsonOf, streamOf, Upstream } from "./upstream.ts";

const LOG = { method: "notifications/message", params: { level: "info", data: "working" } };
const ACK = "notifications/subscriptions/acknowledged";
const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";

const changes = (name: string): Json => ({ method: `notifications/${name}` });

async function listen(
  upstream: Upstream,
  notifications: Json,
  id: unknown = "sub",
): Promise<EventReader> {
  return new EventReader(await modern(upstream, "subscriptions/listen", { notifications }, { id }));
}

describe("subscriptions/listen", () => {
  test.for(["sub", 0, 7, "7"])(
    "tags everything with the id %j and its type, the acknowledgement first",
    async (id, { expect }) => {
      const upstream = await Upstream.take({ server: "modern" });
      const stream = await listen(
        upstream,
        { toolsListChanged: true, resourceSubscriptions: ["file:///a"] },
        id,
      );
      expect(await stream.message()).toEqual({
        jsonrpc: "2.0",
        method: ACK,
        params: {
          notifications: { toolsListChanged: true, resourceSubscriptions: ["file:///a"] },
          _meta: { [SUBSCRIPTION]: id },
        },
      });
      await upstream.send({
        ...changes("tools/list_changed"),
        params: { _meta: { [SUBSCRIPTION]: "theirs", own: 1 } },
      });
      expect((await stream.message()).params?._meta).toEqual({ [SUBSCRIPTION]: id, own: 1 });
      await upstream.send({
        method: "notifications/resources/updated",
        params: { uri: "file:///a" },
      });
      expect(await stream.message()).toMatchObject({
        params: { uri: "file:///a", _meta: { [SUBSCRIPTION]: id } },
      });
      await stream.cancel();
    },
  );

  test("lets nothing pass that was not asked for", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "modern" });
    const stream = await listen(upstream, { promptsListChanged: true, toolsListChanged: false });
    expect(await stream.message()).toMatchObject({ method: ACK });
    await upstream.send(changes("tools/list_changed"));
    await upstream.send(changes("resources/list_changed"));
    await upstream.send({
      method: "notifications/resources/updated",
      params: { uri: "file:///a" },
    });
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

  test("drops what an upstream says before its acknowledgement", async ({ expect }) => {
    const ack = { method: ACK, params: { notifications: { toolsListChanged: true } } };
    const upstream = await Upstream.take({
      server: "modern",
      reactions: {
        "subscriptions/listen": [
          { ...streamOf(event(changes("tools/list_changed")), event(ack)), end: "never" },
        ],
      },
    });
    const stream = await listen(upstream, { toolsListChanged: true });
    expect(await stream.message()).toMatchObject({ method: ACK });
    await stream.silence();
    await stream.cancel();
  });

  test.for([
    { name: "breaks", end: (upstream: Upstream) => upstream.hangUp() },
    {
      name: "answers",
      end: (upstream: Upstream) => upstream.send({ id: 1, result: { resultType: "complete" } }),
    },
  ])("ends with a result when the upstream $name", async ({ end }, { expect }) => {
    const upstream = await Upstream.take({ server: "modern" });
    const stream = await listen(upstream, { toolsListChanged: true }, 5);
    await stream.message();
    await end(upstream);
    expect(await stream.message()).toMatchObject({
      id: 5,
      result: { resultType: "complete", _meta: { [SUBSCRIPTION]: 5 } },
    });
    expect(await stream.rest()).toEqual([]);
  });

  test("that the upstream refuses is an error with its status", async ({ expect }) => {
    const error = { code: -32601, message: "No." };
    const upstream = await Upstream.take({
      server: "modern",
      reactions: { "subscriptions/listen": [jsonOf({ error }, 404)] },
    });
    const response = await modern(
      upstream,
      "subscriptions/listen",
      { notifications: {} },
      { id: "s" },
    );
    expect(response.status).toBe(404);
    expect(await responseIn(response)).toMatchObject({ id: "s", error });
  });

  test("that breaks before it is acknowledged is an error that names the upstream", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({
      server: "modern",
      reactions: { "subscriptions/listen": [streamOf(": hello\n\n")] },
    });
    const message = await responseIn(
      await modern(upstream, "subscriptions/listen", { notifications: {} }),
    );
    expect(message.error?.data).toEqual({ upstream: upstream.slug, reason: "lost" });
  });

  test("is not timed out, and closing it closes the upstream's", async ({ expect }) => {
    const upstream = await Upstream.take({ server: "modern" }, "hasty");
    const stream = await listen(upstream, { toolsListChanged: true });
    await stream.message();
    for (let n = 0; n < 3; n++) await stream.silence();
    await stream.cancel();
    await expect
      .poll(
        async () => (await upstream.sent("subscriptions/listen")).map(({ isCutOff }) => isCutOff),
        { timeout: PATIENCE_MS },
      )
      .toEqual([true]);
  });
});
