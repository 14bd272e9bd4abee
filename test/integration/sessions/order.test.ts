/** What an upstream of HTTP+SSE says in one breath, a client of HTTP+SSE hears in that order. */

import { describe, test } from "vitest";

import { SseSession } from "../sse-client.ts";
import { ANSWER, event, LOG, progress, Upstream } from "../upstream.ts";

describe("in one chunk of the upstream's stream", () => {
  test.for([
    { name: "an answer and a notification", said: [ANSWER, LOG], received: ["answer", LOG.method] },
    { name: "a notification and an answer", said: [LOG, ANSWER], received: [LOG.method, "answer"] },
    {
      name: "an answer between others",
      said: [progress(1), LOG, ANSWER, LOG, LOG],
      received: ["notifications/progress", LOG.method, "answer", LOG.method, LOG.method],
    },
  ])("$name keep their order", async ({ said, received }, { expect }) => {
    const chunk = said.map((message) => event(message)).join("");
    const upstream = await Upstream.take({
      server: "sse",
      reactions: { "tools/call": [{ pieces: [chunk], end: "never", isLasting: true }] },
    });
    const session = await SseSession.open(upstream.sse);
    const params = { name: "work", _meta: { progressToken: "p" } };
    for (let id = 1; id <= 5; id++) {
      await session.post({ id, method: "tools/call", params });
      const seen: unknown[] = [];
      while (seen.length < received.length) {
        const message = await session.stream.message();
        seen.push(message.method ?? (message.id === id ? "answer" : message));
      }
      expect(seen).toEqual(received);
    }
    await session.stream.silence();
    await session.stream.cancel();
  });
});
