/** Progress: every report, in order, under the caller's own token, whatever else is going on. */

import { describe } from "vitest";

import { type Client, type Json, KINDS } from "../support/clients-face.ts";
import { endpointFor, test } from "../support/clients.ts";
import { textOf } from "./outcome.ts";

const BURST = 3000;

/** Asks for progress; what comes is looked at on the wire, where tokens can be seen. */
function onprogress(): void {}

/** What was reported to each token. */
function byToken({ progress }: Client): Map<unknown, unknown[]> {
  const reports = Map.groupBy(progress, ({ progressToken }) => progressToken);
  return new Map(
    [...reports].map(([token, of]) => [token, of.map((report) => report["progress"])]),
  );
}

describe.concurrent.each(KINDS)("progress, %s,", (kind) => {
  test("of the fixture is passed to the caller", async ({ expect, connect }) => {
    const client = await connect(kind, endpointFor(kind, "fixture"));
    const seen: Json[] = [];
    const look = (report: Json): void => void seen.push(report);
    const result = await client.callTool("test_tool_with_progress", {}, { onprogress: look });
    expect(textOf(result)).toBe("Tool with progress executed successfully");
    // Over HTTP+SSE the SDK may lose the last one, see `clients-v1`.
    const known = kind === "v1-sse" ? seen.length : 3;
    expect(seen).toEqual(
      [0, 50, 100]
        .map((progress) => ({ progress, total: 100, message: `${progress} of 100` }))
        .slice(0, known),
    );
    expect(client.progress).toMatchObject([{ progress: 0 }, { progress: 50 }, { progress: 100 }]);
    expect(client.errors).toEqual([]);
  });

  test.for(["a text", "0", 0, 12_345] as const)(
    "comes under the client's own token: %j",
    async (progressToken, { expect, connect }) => {
      const client = await connect(kind, endpointFor(kind, "fixture"));
      await client.request("tools/call", {
        name: "test_tool_with_progress",
        arguments: {},
        _meta: { progressToken },
      });
      expect(byToken(client)).toEqual(new Map([[progressToken, [0, 50, 100]]]));
    },
  );

  test("is kept apart for calls that run at once", async ({ expect, connect }) => {
    const client = await connect(kind, endpointFor(kind, "fixture"));
    const counts = [1, 20, 5, 12];
    const calls = counts.map((count) =>
      client.callTool("test_burst", { count, bytes: 10 }, { onprogress }),
    );
    const texts = (await Promise.all(calls)).map(textOf);
    expect(texts).toEqual(counts.map((count) => `Sent ${count} notifications of 10 characters`));
    const reports = [...byToken(client).entries()].toSorted(([a], [b]) => Number(a) - Number(b));
    expect(reports.map(([token]) => typeof token)).toEqual(counts.map(() => "number"));
    expect(reports.map(([, of]) => of)).toEqual(
      counts.map((count) => Array.from({ length: count }, (_, index) => index + 1)),
    );
  });

  test(`in ${BURST} reports arrives in order`, async ({ expect, connect }) => {
    const client = await connect(kind, endpointFor(kind, "fixture"));
    const burst = { count: BURST, bytes: 200 };
    const result = await client.callTool("test_burst", burst, { onprogress });
    expect(textOf(result)).toBe(`Sent ${BURST} notifications of 200 characters`);
    const [reports, ...others] = byToken(client).values();
    expect(reports).toEqual(Array.from({ length: BURST }, (_, index) => index + 1));
    expect(others).toEqual([]);
    expect(client.errors).toEqual([]);
  });
});

describe.concurrent.each([
  ["v1-http", "everything"],
  ["v1-sse", "everything"],
  ["v2-legacy", "everything"],
  ["v1-http", "everything-sse"],
] as const)("progress of server-everything, %s at %s,", (kind, slug) => {
  test("arrives step by step", async ({ expect, connect }) => {
    const client = await connect(kind, endpointFor(kind, slug));
    const steps = { duration: 0.4, steps: 4 };
    const result = await client.callTool("trigger-long-running-operation", steps, { onprogress });
    expect(textOf(result)).toContain("Long running operation completed");
    expect([...byToken(client).values()]).toEqual([[1, 2, 3, 4]]);
  });
});

test.concurrent("the demo brews tea for all clients at once", async ({ expect, connect }) => {
  const clients = await Promise.all(KINDS.map((kind) => connect(kind, endpointFor(kind, "demo"))));
  // It takes two seconds, so no client waits for another.
  const results = await Promise.all(
    clients.map((client) => client.callTool("brew_tea", { tea: "hojicha" }, { onprogress })),
  );
  for (const result of results) expect(textOf(result)).toContain("Your Hojicha is ready");
  for (const client of clients) expect([...byToken(client).values()]).toEqual([[1, 2, 3, 4, 5]]);
});
