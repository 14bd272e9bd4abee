/** How much a legacy server may have said to a modern client, and what comes of more. */

import { describe, test } from "vitest";

import { BridgeClient } from "./bridge-client.ts";
import { setLimits } from "../own-limits.ts";
import { ANSWER, event, jsonOf, streamOf, Upstream } from "../upstream.ts";

const RESULT_BYTES = 64 * 1024;
setLimits({ resultBytes: RESULT_BYTES });

const ask = (id: string, chars: number): string =>
  event({ id, method: "elicitation/create", params: { message: "m".repeat(chars) } });

describe("a call that is asked at length", () => {
  test("is ended before its round is too large for its client", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: {
        "tools/call": [streamOf(ask("s1", 30_000), ask("s2", 30_000), { gate: "never" })],
      },
    });
    const { error } = await new BridgeClient(upstream).call();
    expect(error).toMatchObject({ code: -32603, data: { upstream: upstream.slug } });
    expect(error?.message).toContain("asked more than");
    expect(await upstream.receivesAnswer("s2")).toHaveProperty("error");
    await upstream.receives("notifications/cancelled");
  });

  test("gets the questions that fit", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "legacy",
      reactions: { "tools/call": [streamOf(ask("s1", 50_000), { gate: "go-on" }, event(ANSWER))] },
    });
    const asked = await new BridgeClient(upstream).asked();
    expect(JSON.stringify(asked).length).toBeLessThan(RESULT_BYTES);
  });
});

test("a server names itself in each result, and describes itself in its discovery", async ({
  expect,
}) => {
  const name = { name: "s", version: "1", title: "S" };
  const serverInfo = { ...name, icons: [{ src: "data:image/png;base64,AAAA" }] };
  const handshake = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo };
  const upstream = await Upstream.take({
    server: "legacy",
    reactions: {
      initialize: [jsonOf({ result: handshake })],
      "tools/call": [jsonOf({ result: { content: [] } }), streamOf(ask("s1", 1), { gate: "x" })],
    },
  });
  const client = new BridgeClient(upstream);
  const key = "io.modelcontextprotocol/serverInfo";
  expect((await client.call()).result?._meta).toEqual({ [key]: name });
  expect((await client.asked())["_meta"]).toEqual({ [key]: name });
  const discovered = (await client.request("server/discover")).result;
  expect(discovered?._meta).toEqual({ [key]: serverInfo });
});
