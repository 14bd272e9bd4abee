/** The places of streams: of one person, and of everybody in an isolate. */

import { describe, test } from "vitest";

import { inStreamPlace } from "../../../src/http/stream-places.ts";

const LIMITS = { streamsPerPerson: 2, streamsPerIsolate: 3 };

function ask(method: string, person: string): Promise<Response> {
  const headers = { "Content-Type": "text/event-stream" };
  const request = new Request("http://localhost/mcp", { method });
  const answer = (): Promise<Response> =>
    Promise.resolve(new Response(new ReadableStream(), { headers }));
  return inStreamPlace(request, person, LIMITS, answer);
}

const statuses = (responses: readonly Response[]): readonly number[] =>
  responses.map(({ status }) => status);

async function end(responses: readonly (Response | undefined)[]): Promise<void> {
  for (const response of responses) await response?.body?.cancel();
}

describe("the places of streams", () => {
  test("are limited for one person, with 429", async ({ expect }) => {
    const open = [await ask("GET", "ann"), await ask("GET", "ann"), await ask("GET", "ann")];
    expect(statuses(open)).toEqual([200, 200, 429]);
    await end(open);
  });

  test("are limited for an isolate, with 503, until a stream ends", async ({ expect }) => {
    const open = [await ask("GET", "ann"), await ask("GET", "bob"), await ask("GET", "cyd")];
    const refused = await ask("GET", "dan");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(await refused.json()).toMatchObject({
      error: {
        message: "This instance of the gateway holds 3 streams, its limit; come back in 5 s",
        data: { reason: "overloaded", retryAfter: 5 },
      },
    });

    await end([open.pop()]);
    open.push(await ask("GET", "dan"));
    expect(statuses(open)).toEqual([200, 200, 200]);
    await end(open);
  });

  test("of GET leave those of POST free, and DELETE needs none", async ({ expect }) => {
    const open = [await ask("GET", "ann"), await ask("GET", "bob"), await ask("GET", "cyd")];
    const others = [await ask("POST", "ann"), await ask("DELETE", "ann")];
    expect(statuses(others)).toEqual([200, 200]);
    await end([...open, ...others]);
  });
});
