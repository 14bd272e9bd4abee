/** 2026-07-28: a server at its limit of requests, and the answer to further ones. */

import { beforeAll, describe, test } from "vitest";

import type { Reaction } from "../../support/scripted-upstream-script.ts";
import { modern } from "../client.ts";
import { responseIn } from "../event-reader.ts";
import { setLimits } from "../own-limits.ts";
import { jsonOf, Upstream } from "../upstream.ts";

beforeAll(() => {
  setLimits({ requestsInFlightPerServer: 1 });
});

describe("a request too many", () => {
  const held: Reaction = { ...jsonOf({ result: { messages: [] } }), heldBy: "end" };
  const greet = { name: "greet" };

  test("gets a status of its own, and Retry-After", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "modern",
      reactions: { "prompts/get": [held] },
    });
    const first = modern(upstream, "prompts/get", greet);
    await upstream.receives("prompts/get");
    const response = await modern(upstream, "prompts/get", greet, { id: 2 });
    expect(response.status).toBe(429);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await responseIn(response)).toMatchObject({
      id: 2,
      error: { data: { upstream: upstream.slug, reason: "overloaded" } },
    });
    await upstream.open("end");
    expect(await responseIn(await first)).toHaveProperty("result");
    expect(await upstream.sent("prompts/get")).toHaveLength(1);
  });

  test("of a tool is a failure that a model reads", async ({ expect }) => {
    const upstream = await Upstream.take({
      server: "modern",
      reactions: { "prompts/get": [held] },
    });
    const first = modern(upstream, "prompts/get", greet);
    await upstream.receives("prompts/get");
    const response = await modern(upstream, "tools/call", { name: "work", arguments: {} });
    expect(response.status).toBe(200);
    const { result } = await responseIn(response);
    expect(result).toMatchObject({ resultType: "complete", isError: true });
    await upstream.open("end");
    await first;
    expect(await upstream.sent("tools/call")).toHaveLength(0);
  });

  test.for(["modern", "legacy"] as const)(
    "is not made up by a %s server, whose error does not speak as the gateway does",
    async (server, { expect }) => {
      const own = { retries: 0 };
      const data = { upstream: "me", reason: "overloaded", retryAfter: 0, ...own };
      const error = { code: -32000, message: "No", data };
      const upstream = await Upstream.take({
        ...{ server, reactions: { "prompts/get": [jsonOf({ error })] } },
      });
      const response = await modern(upstream, "prompts/get", greet);
      expect(response.status).not.toBe(429);
      expect(response.headers.get("retry-after")).toBeNull();
      expect((await responseIn(response)).error?.data).toEqual(own);
    },
  );
});
