/** A client cancels a call: the upstream is notified, and stops. A lost connection alone does not cancel. */

import { describe, vi } from "vitest";

import { type Client, KINDS } from "../support/clients-face.ts";
import { endpointFor, test } from "../support/clients.ts";
import { textOf } from "./outcome.ts";
import { wiretap } from "./wiretap.ts";

const LONG_MS = 30_000;

async function cancelledCount(client: Client): Promise<number> {
  return Number(textOf(await client.callTool("test_cancelled_count")));
}

describe.each(KINDS)("a cancellation, %s,", (kind) => {
  const url = endpointFor(kind, "fixture");

  test("stops the call at the upstream, and no other call", async ({ expect, connect }) => {
    const client = await connect(kind, url);
    const before = await cancelledCount(client);
    const controller = new AbortController();
    const { signal } = controller;
    const name = crypto.randomUUID();
    const cancelled = client.callTool("test_wait", { ms: LONG_MS, name }, { signal });
    const gaveUp = expect(cancelled).rejects.toThrow("no longer needed");
    const other = client.callTool("test_wait", { ms: 300 });
    await client.callTool("test_wait_begun", { name });
    expect(await cancelledCount(client)).toBe(before);

    controller.abort(new Error("no longer needed"));
    await gaveUp;
    await vi.waitFor(async () => expect(await cancelledCount(client)).toBe(before + 1), {
      timeout: 30_000,
    });
    expect(textOf(await other)).toBe("Waited 300 ms");
    expect(await cancelledCount(client)).toBe(before + 1);
  });
});

test("a brew that is cancelled in mid-stream sends no more messages", async ({
  expect,
  connect,
}) => {
  // It takes two seconds, so all kinds brew at once.
  const clients = await Promise.all(KINDS.map((kind) => connect(kind, endpointFor(kind, "demo"))));
  await Promise.all(
    clients.map(async (client) => {
      const controller = new AbortController();
      const { signal } = controller;
      const onprogress = (): void => controller.abort(new Error("coffee then"));
      const brewing = client.callTool("brew_tea", { tea: "sencha" }, { signal, onprogress });
      await expect(brewing).rejects.toThrow("coffee then");
      // The next brew arrives to its end, and no message of the first with it.
      await client.callTool("brew_tea", { tea: "assam" }, { onprogress: () => undefined });
    }),
  );
  for (const { progress, replies } of clients) {
    const tokens = [...new Set(progress.map(({ progressToken }) => progressToken))];
    const [first, second] = tokens.map((token) =>
      progress.filter((report) => report["progressToken"] === token),
    );
    expect(tokens).toHaveLength(2);
    // Messages that were on their way at the cancellation may arrive, but not the last one.
    expect(first?.length).toBeLessThan(5);
    expect(second?.map((report) => report["progress"])).toEqual([1, 2, 3, 4, 5]);
    expect(replies.filter((reply) => "error" in reply)).toEqual([]);
  }
});

test("a modern client can cancel a call whose response already streams", async ({
  expect,
  connect,
}) => {
  const tap = wiretap();
  const client = await connect("v2-modern", endpointFor("v2-modern", "fixture"), {
    fetch: tap.fetch,
  });
  const before = await cancelledCount(client);
  const controller = new AbortController();
  const { signal } = controller;
  const noted = tap.noted.length;
  const call = client.callTool("test_wait", { ms: LONG_MS }, { signal });
  const gaveUp = expect(call).rejects.toThrow("no longer needed");
  // An answer that takes its time becomes a stream.
  await vi.waitFor(() => expect(tap.noted.length).toBe(noted + 1), { timeout: 30_000 });
  controller.abort(new Error("no longer needed"));
  await gaveUp;
  await vi.waitFor(async () => expect(await cancelledCount(client)).toBe(before + 1), {
    timeout: 30_000,
  });
});
