/** The handshake over HTTP+SSE: where it is posted to, and servers that never get that far. */

import { afterEach, describe, test, vi } from "vitest";

import { failureOf, fakeTarget, html } from "../fake-target.ts";
import { EVENTS, recorded, shakeHands, sseServer } from "./legacy-servers.ts";

describe("connect() over HTTP+SSE", () => {
  afterEach(() => {
    vi.useRealTimers();
  });
  const headers = { Authorization: "Bearer k" };

  test.for([
    { name: "a path", endpoint: "/messages?id=1" },
    { name: "a relative path", endpoint: "messages" },
    { name: "a whole URL of the same origin", endpoint: "http://posts.test/messages" },
  ])("posts to $name, with the operator's headers", async ({ endpoint }, { expect }) => {
    const server = recorded(sseServer(() => html(404), endpoint));
    const target = fakeTarget(server.answer, {
      endpoint: new URL("http://posts.test/mcp"),
      transport: "sse",
      headers,
    });
    const { wire } = await shakeHands(target);
    expect(server.asked()).toEqual(["GET /mcp", "POST /messages"]);
    expect(server.seen.map((seen) => seen.headers.get("authorization"))).toEqual([
      "Bearer k",
      "Bearer k",
    ]);
    await wire.close();
  });

  test.for([
    "http://evil.test/messages",
    "//evil.test/messages",
    "https://evil.test/",
    "data:text/plain,x",
    "http://[",
  ])("posts nothing to the endpoint %j of another origin", async (endpoint, { expect }) => {
    const server = recorded(sseServer(() => html(404), endpoint));
    const target = fakeTarget(server.answer, { transport: "sse", headers });
    expect(await failureOf(shakeHands(target))).toMatchObject({
      failure: "malformed",
      message: 'Upstream "fake" named an endpoint outside its own origin',
    });
    expect(server.asked()).toEqual(["GET /mcp"]);
  });

  test.for([
    { name: "HTML", answer: () => html(200) },
    { name: "a stream that ends at once", answer: () => new Response("", { headers: EVENTS }) },
    {
      name: "a message first, and no endpoint",
      answer: () => new Response("data: {}\n\n", { headers: EVENTS }),
    },
  ])("takes no stream that is $name", async ({ answer }, { expect }) => {
    const server = recorded(answer);
    const failure = await failureOf(shakeHands(fakeTarget(server.answer, { transport: "sse" })));
    expect(failure).toMatchObject({ name: "UpstreamError", failure: "malformed" });
    expect(server.asked()).toEqual(["GET /mcp"]);
  });

  test.for([
    { name: "sends nothing", hasHeaders: false },
    { name: "opens a stream without an endpoint", hasHeaders: true },
  ])("gives up, in a sentence, on a server that $name", async ({ hasHeaders }, { expect }) => {
    vi.useFakeTimers();
    const target = fakeTarget(
      ({ signal }) => {
        if (!hasHeaders) {
          return new Promise((_, reject) => {
            signal?.addEventListener("abort", () => reject(signal.reason as Error));
          });
        }
        const source = new ReadableStream<Uint8Array>({
          start: (controller) => {
            signal?.addEventListener("abort", () => controller.error(signal.reason));
          },
        });
        return new Response(source, { headers: EVENTS });
      },
      { transport: "sse" },
    );
    const failure = failureOf(shakeHands(target));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await failure).toMatchObject({ name: "UpstreamError" });
  });
});
