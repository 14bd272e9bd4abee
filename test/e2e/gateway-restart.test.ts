/** The gateway itself is restarted, as by a deploy: its sessions go on under their own ids. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";

import { endpointFor, test } from "../support/clients.ts";
import { freePort } from "../support/free-port.ts";
import { startWithNpm } from "../support/servers.ts";
import { sharedServers } from "../support/shared-servers.ts";
import { textOf } from "./outcome.ts";

const SOON = { timeout: 30_000, interval: 100 };
const WATCHED = "test://watched-resource";

const PLANS = [
  ["v1-http", "fixture"],
  ["v2-legacy", "fixture"],
  ["v1-http", "everything"],
  ["v1-http", "everything-sse"],
  ["v1-http", "demo"],
] as const;

test("sessions outlive the gateway", async ({ expect, connect, onTestFinished }) => {
  const persistTo = await mkdtemp(join(tmpdir(), "edgeway-restart-"));
  const options = {
    port: await freePort(),
    persistTo,
    servers: {
      fixture: { url: sharedServers().fixture },
      everything: { url: sharedServers().everything },
      "everything-sse": { url: sharedServers().everythingSse, type: "sse" },
      demo: { service: "DEMO" },
    },
  };
  let gateway = await startWithNpm(options);
  onTestFinished(async () => {
    await gateway.stop();
    await rm(persistTo, { recursive: true, force: true });
  });
  const clients = await Promise.all(
    PLANS.map(([kind, slug]) => connect(kind, endpointFor(kind, slug, gateway.url))),
  );
  const ids = clients.map(({ sessionId }) => sessionId);
  const before = await Promise.all(clients.map((client) => client.request("tools/list")));
  await clients[0]?.watch(WATCHED);

  await gateway.stop();
  gateway = await startWithNpm(options);

  const after = await Promise.all(clients.map((client) => client.request("tools/list")));
  expect(after).toEqual(before);
  expect(clients.map(({ sessionId }) => sessionId)).toEqual(ids);

  // A server asks on the stream of the call, or on the client's own, which the SDK opens again.
  const [fixture, fixture2, everything, everythingSse, demo] = clients;
  for (const client of [fixture, fixture2]) {
    const result = await client?.callTool("test_sampling", { prompt: "hello" });
    expect(textOf(result ?? {})).toBe("LLM response: You said: hello");
  }
  for (const client of [everything, everythingSse]) {
    const result = await client?.callTool("trigger-sampling-request", { prompt: "hello" });
    expect(textOf(result ?? {})).toContain("You said: ");
  }
  expect(textOf((await demo?.callTool("write_haiku")) ?? {})).toContain("You said: ");

  // The subscription was made before; the stream for its news is opened again by the SDK.
  await vi.waitFor(async () => {
    await fixture?.callTool("test_touch_watched");
    expect(fixture?.notifications.map(({ params }) => params["uri"])).toContain(WATCHED);
  }, SOON);
});
