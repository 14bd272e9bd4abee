/**
 * The only server of an endpoint is paused, and its session learns that from a request before the news of it arrives:
 * it takes its subscriptions back, so the news does not arrive any more.
 */

import { env } from "cloudflare:workers";
import { afterEach, beforeAll, test, vi } from "vitest";

import { FanOutObject } from "../../../durable-objects/fan-out-object.ts";
import { renewConfig, serverStoreIn } from "../../../durable-objects/live-config.ts";
import { writeClaims } from "../../../src/sessions/session-id.ts";
import { add, addedEntry, change, configureOnly, revisionOf } from "../added-server.ts";
import { until } from "../bounded.ts";
import { Session } from "../client.ts";
import { changed, resourceful, subscribe, updated } from "../merged-session.ts";
import { claimsOf, objectOf } from "../session-object.ts";
import { Upstream } from "../upstream.ts";

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

beforeAll(async () => configureOnly(await Upstream.take({ server: "legacy" })));
afterEach(() => void vi.restoreAllMocks());

test("when it is back, the client is told of its resources: they may have changed", async ({
  expect,
}) => {
  const upstream = await Upstream.take(resourceful("first"));
  await add(upstream);
  const session = await Session.open(upstream.mcp);
  const stream = await session.listen();
  const uri = "file:///first/1";
  await subscribe(session, uri);
  const [publish, unsubscribe] = [
    vi.spyOn(FanOutObject.prototype, "publish"),
    vi.spyOn(FanOutObject.prototype, "unsubscribe"),
  ];
  publish.mockImplementation(() => {
    throw new Error("It is being restarted");
  });
  const paused = { ...addedEntry(upstream), state: "paused" } as const;
  await serverStoreIn(env).putServer(paused, await revisionOf(upstream));
  await renewConfig(env);
  // A request that was let in before.
  const object = await objectOf(session);
  const claims = writeClaims(await claimsOf(session.id));
  expect(await object.receive(claims, PING)).toMatchObject({ status: 503 });
  await stream.rest();
  await until(async () => unsubscribe.mock.calls[0], "the session to take its subscriptions back");
  publish.mockClear();
  publish.mockReset();
  await until(async () => publish.mock.calls[0], "the news of the pause");
  await change(upstream, {});
  // Its feed tells a branch at which nobody wants it.
  const ofResource = (): unknown =>
    publish.mock.calls.find((call) => JSON.stringify(call).includes(uri));
  await until(async () => ofResource(), "the news of the resource");
  const again = await session.listen();
  for (const list of ["tools", "prompts", "resources"]) {
    expect(await again.message()).toMatchObject(changed(list));
  }
  expect(await again.message()).toMatchObject(updated(uri));
  await again.cancel();
});
