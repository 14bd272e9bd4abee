/**
 * A bridge whose server was added by an operator, and whose object comes to life while nobody can be asked what was
 * added; and one whose server is switched off.
 */

import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, test, vi } from "vitest";

import type { BridgeObject } from "../../../durable-objects/bridge-object.ts";
import { serverStoreIn } from "../../../durable-objects/live-config.ts";
import { add, addedEntry, configureOnly, revisionOf, startAnewUnasked } from "../added-server.ts";
import { event, RESULT, streamOf, Upstream } from "../upstream.ts";
import { BridgeClient, continueWith, holderOf } from "./bridge-client.ts";
import { bridgesOf } from "./bridge-listeners.ts";

const ELICIT = { id: "s1", method: "elicitation/create", params: { message: "Sure?" } };
const ACCEPT = { action: "accept", content: { ok: true } };
const ANSWER = { id: "{{id}}", result: RESULT };
const NEVER = { gate: "never" } as const;
const HOUR_MS = 3_600_000;

beforeAll(async () => configureOnly(await Upstream.take({ server: "legacy" })));

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** A server that was added, and asks in a call. */
async function asking(): Promise<Upstream> {
  const upstream = await Upstream.take({
    server: "legacy",
    reactions: { "tools/call": [streamOf(event(ELICIT, { id: "e-1" }), NEVER)] },
  });
  await add(upstream);
  return upstream;
}

describe("a bridge whose object cannot ask at first what was added", () => {
  test("sends no call again, and goes on with it when the client comes back later", async ({
    expect,
  }) => {
    const upstream = await asking();
    const client = new BridgeClient(upstream);
    const asked = await client.asked();
    const { asked: wasAsked } = await startAnewUnasked();
    const { error } = await client.retry(asked, { r1: ACCEPT });
    expect(error?.message).toContain("send this request again later");
    expect(await runDurableObjectAlarm(holderOf(asked))).toBe(true);
    wasAsked();
    await continueWith(upstream, ANSWER);
    expect((await client.retry(asked, { r1: ACCEPT })).result).toMatchObject(RESULT);
    expect(await upstream.sent("tools/call")).toHaveLength(1);
  });

  test("cancels a call of before whose client does not come back", async ({ expect }) => {
    const upstream = await asking();
    const client = new BridgeClient(upstream);
    const asked = await client.asked();
    const { asked: wasAsked } = await startAnewUnasked();
    await runDurableObjectAlarm(holderOf(asked));
    wasAsked();
    vi.useFakeTimers({ toFake: ["Date"] });
    vi.setSystemTime(Date.now() + HOUR_MS);
    await runDurableObjectAlarm(holderOf(asked));
    expect(await upstream.receivesAnswer("s1")).toMatchObject({ error: { code: -32603 } });
    await upstream.receives("notifications/cancelled");
  });

  test("closes its session when it can ask, though it was unused for long enough before", async ({
    expect,
  }) => {
    const upstream = await Upstream.take({ server: "legacy" });
    await add(upstream);
    const { bridge } = await bridgesOf(() => new BridgeClient(upstream).call());
    const { asked: wasAsked } = await startAnewUnasked();
    vi.useFakeTimers({ toFake: ["Date"] });
    vi.setSystemTime(Date.now() + HOUR_MS);
    await runDurableObjectAlarm(bridge);
    expect(await isEmpty(bridge)).toBe(false);
    wasAsked();
    await runDurableObjectAlarm(bridge);
    await upstream.receives("DELETE");
    expect(await isEmpty(bridge)).toBe(true);
  });
});

test("a bridge whose server is switched off stays for as long as it would be kept, and wakes no more then", async ({
  expect,
}) => {
  const upstream = await asking();
  const asked = await new BridgeClient(upstream).asked();
  const paused = { ...addedEntry(upstream), state: "paused" } as const;
  await serverStoreIn(env).putServer(paused, await revisionOf(upstream));
  const holder = holderOf(asked);
  await runDurableObjectAlarm(holder);
  expect(await isEmpty(holder)).toBe(false);
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(Date.now() + HOUR_MS);
  await runDurableObjectAlarm(holder);
  expect(await isEmpty(holder)).toBe(true);
});

/** True when the holder has stored nothing, and is not woken. */
function isEmpty(holder: DurableObjectStub<BridgeObject>): Promise<boolean> {
  return runInDurableObject(
    holder,
    async (_instance, { storage }) =>
      [...storage.kv.list()].length === 0 && (await storage.getAlarm()) === null,
  );
}
