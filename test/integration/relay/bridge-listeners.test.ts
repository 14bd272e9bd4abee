/**
 * A modern client that listens at a legacy server receives the updates of its own session there once,
 * from the first tool call on; and costs nothing before.
 */

import { abortAllDurableObjects, evictDurableObject, runInDurableObject } from "cloudflare:test";
import { describe, test, vi } from "vitest";
import { readStored } from "../../../durable-objects/stored-json.ts";

import type { BridgeObject } from "../../../durable-objects/bridge-object.ts";
import type { StoredBridge } from "../../../durable-objects/bridge-store.ts";
import { BridgeClient } from "./bridge-client.ts";
import {
  bridgesOf,
  inOwnSession,
  linesOf,
  listen,
  takeLegacy,
  untilLines,
  updated,
} from "./bridge-listeners.ts";
import { until, within } from "../bounded.ts";
import { modern, modernCall } from "../client.ts";
import { responseIn } from "../event-reader.ts";
import { setLimits } from "../own-limits.ts";
import { methodOf, sessionOf, type Upstream } from "../upstream.ts";

const IDLE_MS = 60_000;
const KEPT_MS = 30_000;
setLimits({ bridgeIdleMinutes: IDLE_MS / 60_000 });

const A = "file:///a";
const B = "file:///b";
const C = "file:///c";
/** More than the platform keeps with a socket. */
const LONG = Array.from({ length: 3 }, (_, n) => `file:///${n}/${"x".repeat(1000)}`);
type Stub = DurableObjectStub<BridgeObject>;

async function call(upstream: Upstream): Promise<void> {
  const { error } = await responseIn(await modernCall(upstream));
  if (error !== undefined) throw new Error(JSON.stringify(error));
}

/** Opens the session without calling a tool. */
async function read(upstream: Upstream): Promise<void> {
  await responseIn(await modern(upstream, "resources/read", { uri: A }));
  await upstream.receives("resources/read");
}

/** Waits until so many listeners have reached the object. */
async function listeningClients(stub: Stub, count: number): Promise<void> {
  await until(async () => {
    const attached = await runInDurableObject(stub, (_instance, ctx) =>
      ctx.getWebSockets().filter((socket) => socket.deserializeAttachment() !== null),
    ).then((sockets) => sockets.length);
    return attached === count ? true : undefined;
  }, `${count} to listen at the bridge`);
}

function letGo(stub: Stub): Promise<void> {
  return within(evictDurableObject(stub), "an object that only listens to be let go");
}

/** Rings the alarm, after so long. @returns when it rings next. */
async function ring(stub: Stub, afterMs = 0): Promise<number | null> {
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(Date.now() + afterMs);
  return runInDurableObject<BridgeObject, number | null>(stub, async (instance, { storage }) => {
    await storage.deleteAlarm();
    await instance.alarm();
    return storage.getAlarm();
  });
}

function usedAt(stub: Stub): Promise<unknown> {
  return runInDurableObject(
    stub,
    (_instance, { storage }) =>
      (readStored(storage.kv.get("bridge")) as StoredBridge | undefined)?.usedAt,
  );
}

describe("a client's own session", () => {
  test("is not subscribed before a tool is called, and then before the call is sent", async ({
    expect,
  }) => {
    const upstream = await takeLegacy([], []);
    const { value: listener, bridge } = await bridgesOf(() => listen(upstream, [A, B]));
    await listeningClients(bridge, 1);
    await read(upstream);
    await letGo(bridge);
    await read(upstream);
    await call(upstream);
    const lines = await linesOf(upstream);
    expect(lines.toSorted()).toEqual([`+${A}`, `+${B}`, "call"]);
    expect(lines.at(-1)).toBe("call");
    const methods = (await inOwnSession(upstream)).map(methodOf);
    const isReadFirst = methods.indexOf("resources/read") < methods.indexOf("resources/subscribe");
    expect([isReadFirst, methods.indexOf("GET") > methods.indexOf("resources/read")]).toEqual([
      true,
      true,
    ]);
    await call(upstream);
    expect((await linesOf(upstream)).slice(3)).toEqual(["call"]);
    await listener.stream.cancel();
  });

  test("delivers a change once that the feed announces, too", async ({ expect }) => {
    const upstream = await takeLegacy([A, B], [updated(A)]);
    const listener = await listen(upstream, [A, B]);
    await call(upstream);
    expect(await listener.tells(1)).toEqual([A]);
    await upstream.open("feed");
    expect(await listener.tells(2)).toEqual([A, B]);
    // Of what is not asked for, nothing; of what is, while nothing runs.
    await upstream.send(updated(C));
    await upstream.send(updated(B));
    await upstream.send(updated(B));
    expect((await listener.tells(3)).slice(0, 3)).toEqual([A, B, B]);
    expect(listener.updates()).not.toContain(C);
    await listener.stream.cancel();
  });

  test("loses each listener that hangs up, and is not listened to after the last", async ({
    expect,
  }) => {
    const upstream = await takeLegacy([], []);
    const { value: first, bridge } = await bridgesOf(() => listen(upstream, [A, B]));
    const second = await listen(upstream, [B, C]);
    await listeningClients(bridge, 2);
    await call(upstream);
    const joined = [`+${A}`, `+${B}`, `+${C}`, "call"];
    await untilLines(upstream, joined);
    await first.stream.cancel();
    await untilLines(upstream, [...joined, `-${A}`]);
    expect(await ring(bridge, 2 * IDLE_MS)).toBe(Date.now() + KEPT_MS);
    expect(await usedAt(bridge)).toBe(Date.now());
    vi.setSystemTime(Date.now() + 2 * IDLE_MS);
    await second.stream.cancel();
    await untilLines(upstream, [...joined, `-${A}`, `-${B}`, `-${C}`]);
    await until(async () => {
      const streams = (await inOwnSession(upstream)).filter(({ method }) => method === "GET");
      return streams.every(({ isCutOff }) => isCutOff) ? true : undefined;
    }, "the stream of the session to be closed");
    expect(await ring(bridge)).toBeGreaterThan(Date.now() + IDLE_MS / 2);
    expect((await inOwnSession(upstream)).map(methodOf)).not.toContain("DELETE");
    await ring(bridge, IDLE_MS);
    await upstream.receives("DELETE");
  });

  test("is not used for another principal, who is notified through the feed", async ({
    expect,
  }) => {
    const upstream = await takeLegacy([B], [updated(A)]);
    const listener = await listen(upstream, [A, B]);
    const other = new BridgeClient(upstream, { principal: "another", capabilities: {} });
    expect((await other.call()).result).toBeDefined();
    expect(await linesOf(upstream)).toEqual(["call"]);
    await upstream.open("feed");
    expect(await listener.tells(1)).toEqual([B]);
    await call(upstream);
    expect(await listener.tells(2)).toEqual([B, A]);
    await listener.stream.cancel();
  });

  test("that the server has forgotten is subscribed again before the call is repeated", async ({
    expect,
  }) => {
    const upstream = await takeLegacy([], []);
    const listener = await listen(upstream, [A]);
    await call(upstream);
    await upstream.forget();
    await call(upstream);
    const calls = await upstream.sent("tools/call");
    const [again] = calls.slice(-1).map(sessionOf);
    const methods = (await upstream.log())
      .filter((record) => sessionOf(record) === again)
      .map(methodOf)
      .filter((method) => /subscribe|tools/.test(method));
    expect(calls.map(({ status }) => status)).toEqual([200, 404, 200]);
    expect(methods).toEqual(["resources/subscribe", "tools/call"]);
    await listener.stream.cancel();
  });
});

describe("the object that holds the session", () => {
  test.for([
    { name: "little", uris: [A] },
    { name: "much", uris: LONG },
  ])(
    "sleeps until a tool is called, for one who listens for $name",
    async ({ uris }, { expect }) => {
      const upstream = await takeLegacy([], [updated(uris[0] ?? "")]);
      const { value: listener, bridge } = await bridgesOf(() => listen(upstream, uris));
      await listeningClients(bridge, 1);
      await letGo(bridge);
      await call(upstream);
      const lines = await linesOf(upstream);
      expect(lines.toSorted()).toEqual([...uris.map((uri) => `+${uri}`), "call"].toSorted());
      expect(lines.at(-1)).toBe("call");
      expect(await listener.tells(1)).toEqual([uris[0]]);
      await listener.stream.cancel();
    },
  );

  test("is lost while it listens, and its next life listens again", async ({ expect }) => {
    const upstream = await takeLegacy([], [updated(A)]);
    const listener = await listen(upstream, [A]);
    await call(upstream);
    await listener.tells(1);
    await abortAllDurableObjects();
    await untilLines(upstream, [`+${A}`, "call", `+${A}`]);
    // The feed was lost as well: possible changes are announced.
    await listener.tells(2);
    const before = listener.updates().length;
    await call(upstream);
    await listener.tells(before + 1);
    expect((await upstream.sessions()).length).toBeGreaterThan(0);
    await listener.stream.cancel();
    await untilLines(upstream, [`+${A}`, "call", `+${A}`, "call", `-${A}`]);
  });

  test("is emptied despite a listener when no tool was ever called", async ({ expect }) => {
    const upstream = await takeLegacy([], [updated(A)]);
    const { value: listener, bridge } = await bridgesOf(() => listen(upstream, [A]));
    await listeningClients(bridge, 1);
    await read(upstream);
    await letGo(bridge);
    await ring(bridge, IDLE_MS);
    await upstream.receives("DELETE");
    vi.useRealTimers();
    expect(await upstream.sent("resources/subscribe")).toHaveLength(1);
    await call(upstream);
    expect(await linesOf(upstream)).toEqual([`+${A}`, "call"]);
    expect(await listener.tells(1)).toEqual([A]);
    await listener.stream.cancel();
  });
});
