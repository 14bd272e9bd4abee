/**
 * `edgeway connect` loses its gateway, or the network, at seeded moments of streamed calls. Its host has what the
 * server sent: all of it, once, in order. No call reaches the server twice.
 */

import { afterAll, beforeAll, describe, test as base } from "vitest";

import { type RawHost, startCli } from "../support/cli.ts";
import type { Json } from "../support/clients-face.ts";
import { startCuttingProxy } from "../support/cutting-proxy.ts";
import { type KillableGateway, startKillableGateway } from "../support/killable-gateway.ts";
import { INITIALIZE } from "../support/raw-session.ts";
import { seeded } from "../support/seeded.ts";
import { seedsUpTo } from "../support/seeds.ts";
import { sharedServers } from "../support/shared-servers.ts";
import { type StreamingUpstream, startStreamingUpstream } from "../support/streaming-upstream.ts";
import { pause, until } from "../support/until.ts";
import { hasCome, paramsOf, progressTokenOf, sentBy } from "./killing-caller.ts";
import { type Finding, findingsOf } from "./killing-findings.ts";
import { type Plan, plansOf, runUpOf } from "./killing-plan.ts";

/** With 14 calls, each killed twice, and the cuts below: more than two hundred moments. */
const SEEDS = seedsUpTo(3);
const CUTS = 120;
const CUT_CALLS = 24;
const MODERN = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};
const UNKNOWN = /whether the call ran is unknown/;

let upstreams: Readonly<Record<Plan["upstream"], StreamingUpstream>>;
let gateway: KillableGateway;

beforeAll(async () => {
  upstreams = {
    resumable: await startStreamingUpstream(),
    forgetful: await startStreamingUpstream({ givesEventIds: false }),
  };
  gateway = await startKillableGateway({
    servers: {
      resumable: { url: upstreams.resumable.url },
      forgetful: { url: upstreams.forgetful.url },
      fixture: { url: sharedServers().fixture },
    },
    limits: { streamAfterSeconds: 1 },
  });
});

afterAll(async () => {
  await gateway.remove();
  await Promise.all(Object.values(upstreams).map((upstream) => upstream.close()));
});

type Connect = (url: string) => RawHost;

// oxlint-disable-next-line no-empty-pattern -- vitest reads what a fixture needs off the pattern
const test = base.extend("connect", async ({}, { onCleanup }): Promise<Connect> => {
  const hosts: RawHost[] = [];
  onCleanup(() => hosts.forEach((host) => host.kill("SIGKILL")));
  return (url) => {
    const host = startCli(["connect", url, "--deadline", "120"]);
    hosts.push(host);
    return host;
  };
});

async function introduced(host: RawHost): Promise<RawHost> {
  host.send(INITIALIZE);
  await host.answer(INITIALIZE.id);
  host.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  return host;
}

function call(host: RawHost, plan: Plan): void {
  const id = plan.script.call;
  host.send({ jsonrpc: "2.0", id, method: "tools/call", params: paramsOf(plan) });
}

/** What the host has got of one call, in order. */
function messagesOf({ messages }: RawHost, plan: Plan): readonly Json[] {
  const { call: name } = plan.script;
  return messages.filter(({ id, params = {} }) => {
    const { progressToken, logger } = params as Json;
    return id === name || progressToken === progressTokenOf(plan) || logger === name;
  });
}

function answerOf(host: RawHost, plan: Plan): Json | undefined {
  return messagesOf(host, plan).find(({ id }) => id !== undefined);
}

function isAtItsMoment(host: RawHost, plan: Plan): boolean {
  const upstream = upstreams[plan.upstream].call(plan.script.call);
  if (plan.phase === "at any time") return messagesOf(host, plan).length > 0;
  if (plan.phase === "before the answer begins") return hasCome(plan, upstream);
  return hasCome(plan, upstream) && messagesOf(host, plan).length === sentBy(plan);
}

/** @returns what is not as it should be. */
function faultsOf(host: RawHost, plan: Plan): readonly Finding[] {
  const messages = messagesOf(host, plan);
  const { error } = answerOf(host, plan) ?? {};
  // No event had come by which the stream could be taken up: then there is nothing but this error.
  const isLost = UNKNOWN.test(String((error as Json | undefined)?.["message"]));
  const upstream = upstreams[plan.upstream].call(plan.script.call);
  return [
    ...findingsOf({ plan, upstream, messages, wasResumable: !isLost }),
    { what: `answers of ${plan.script.call}`, is: answersTo(messages), shouldBe: 1 },
    ...(isLost ? [{ what: "events before an error", is: messages.length - 1, shouldBe: 0 }] : []),
  ];
}

function answersTo(messages: readonly Json[]): number {
  return messages.filter(({ id }) => id !== undefined).length;
}

describe("the gateway is killed twice in the middle of calls,", () => {
  test.for(SEEDS)("seed %i", async (seed, { expect, connect }) => {
    const hosts = {
      resumable: await introduced(connect(`${gateway.url}/mcp/resumable`)),
      forgetful: await introduced(connect(`${gateway.url}/mcp/forgetful`)),
    };
    const plans = plansOf(seed);
    const each = (visit: (host: RawHost, plan: Plan) => void): void => {
      for (const plan of plans) visit(hosts[plan.upstream], plan);
    };
    each((host, plan) => call(host, plan));
    const late = (): readonly Plan[] =>
      plans.filter((plan) => !isAtItsMoment(hosts[plan.upstream], plan));
    await until(
      () => late().length === 0,
      () => `the moments of ${JSON.stringify(late())}`,
    );
    await pause(runUpOf(seed));
    await gateway.kill();
    const release = (when: Plan["goesOn"]): void =>
      each((_, plan) => {
        if (plan.goesOn === when) upstreams[plan.upstream].call(plan.script.call).release();
      });
    release("while the gateway is dead");
    await gateway.start();
    release("once the client is back");
    await pause(seeded(seed).int(0, 400));
    await gateway.kill();
    await gateway.start();

    const open = (): readonly Plan[] =>
      plans.filter((plan) => answerOf(hosts[plan.upstream], plan) === undefined);
    await until(
      () => open().length === 0,
      () => `answers of ${JSON.stringify(open())}`,
    );
    const faults = plans.flatMap((plan) => faultsOf(hosts[plan.upstream], plan));
    for (const { what, is, shouldBe } of faults) {
      expect.soft(is, what).toEqual(shouldBe);
    }
  });
});

test("the network breaks more than a hundred times", async ({ expect, connect }) => {
  const proxy = await startCuttingProxy(gateway.url, seeded(7), [700, 6000], CUTS);
  try {
    const host = await introduced(connect(`${proxy.origin}/mcp/resumable`));
    const [like] = plansOf(1);
    if (like === undefined) throw new Error("no plan");
    const plans = Array.from({ length: CUT_CALLS }, (_, index): Plan => {
      const script = { call: `cut-${index}`, events: 60, intervalMs: 5, bytes: 400 };
      return { ...like, phase: "at any time", upstream: "resumable", replay: undefined, script };
    });
    for (const plan of plans) call(host, plan);
    await until(() => plans.every((plan) => answerOf(host, plan) !== undefined), "every answer");
    for (const { what, is, shouldBe } of plans.flatMap((plan) => faultsOf(host, plan))) {
      expect.soft(is, what).toEqual(shouldBe);
    }
    expect(proxy.cuts).toBeGreaterThan(100);
    const whole = plans.filter((plan) => "result" in (answerOf(host, plan) ?? {}));
    expect(whole.length).toBeGreaterThan(CUT_CALLS / 2);
  } finally {
    await proxy.close();
  }
});

test("a host of 2026-07-28 gets one error for a call that is lost, and its list is announced again", async ({
  expect,
  connect,
}) => {
  const host = connect(`${gateway.url}/mcp/fixture`);
  const filter = { toolsListChanged: true };
  const params = { _meta: MODERN, notifications: filter };
  host.send({ jsonrpc: "2.0", id: "listen", method: "subscriptions/listen", params });
  const acknowledged = "notifications/subscriptions/acknowledged";
  await host.next(({ method }) => method === acknowledged, "the acknowledgement");
  const _meta = { ...MODERN, progressToken: "held" };
  const args = { name: "test_hold", arguments: { name: "killed" }, _meta };
  host.send({ jsonrpc: "2.0", id: "held", method: "tools/call", params: args });
  await host.next(({ method }) => method === "notifications/progress", "the call runs");
  await gateway.kill();
  await gateway.start();
  const { error } = (await host.answer("held")) as { error: Json };
  expect(error["message"]).toMatch(UNKNOWN);
  const change = await host.next(
    ({ method }) => method === "notifications/tools/list_changed",
    "the announcement",
  );
  expect(change["params"]).toEqual({
    _meta: { "io.modelcontextprotocol/subscriptionId": "listen" },
  });
  expect(host.messages.filter(({ method }) => method === acknowledged)).toHaveLength(1);
  expect(host.messages.filter(({ id }) => id === "held")).toHaveLength(1);
  expect(host.messages.filter(({ id }) => id === "listen")).toEqual([]);
});
