/**
 * The gateway is killed at seeded moments of streamed calls, and started again on what it had
 * stored. Its clients come back, and have what the upstream sent: all of it, once, in order. No
 * call reaches the upstream twice.
 *
 * The upstream decides when a moment has come: it stops there. A failure shows the plan of the call
 * that it is about, and the seed in the test's name makes the same plans again.
 */

import { afterAll, beforeAll, test } from "vitest";

import { type KillableGateway, startKillableGateway } from "../support/killable-gateway.ts";
import { seedsUpTo } from "../support/seeds.ts";
import { type StreamingUpstream, startStreamingUpstream } from "../support/streaming-upstream.ts";
import { pause } from "../support/until.ts";
import type { Caller } from "./killing-caller.ts";
import { findingsOf } from "./killing-findings.ts";
import { type Plan, plansOf, runUpOf } from "./killing-plan.ts";
import { RawCaller } from "./killing-raw-caller.ts";
import { SdkCaller } from "./killing-sdk-caller.ts";

const SEEDS = seedsUpTo(5);
const TEST_TIMEOUT_MS = 180_000;

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
    },
    // A client can come back as soon as it has an event id, so it gets one soon.
    limits: { streamAfterSeconds: 1 },
  });
});

afterAll(async () => {
  await gateway.remove();
  await Promise.all(Object.values(upstreams).map((upstream) => upstream.close()));
});

test("the plan has more than fifty moments, no two of them alike", ({ expect }) => {
  const plans = SEEDS.flatMap(plansOf);
  const again = plans.filter(({ replay }) => replay !== undefined);
  expect(plans.length + again.length).toBeGreaterThan(50);
  expect(new Set(plans.map((plan) => JSON.stringify(plan))).size).toBe(plans.length);
  expect(plans.filter(({ client }) => client !== "raw").length).toBeGreaterThanOrEqual(10);
});

test.for(SEEDS)(
  "no message is lost or duplicated, seed %i",
  { timeout: TEST_TIMEOUT_MS },
  async (seed, { expect, onTestFinished }) => {
    const callers = plansOf(seed).map(createCaller);
    onTestFinished(() => together(callers, (caller) => caller.close()));
    await begin(callers, seed);
    await gateway.kill();
    await restart((isUp) => together(callers, (caller) => caller.comeBack(isUp)));

    await together(callers, (caller) => caller.rush());
    await gateway.kill();
    await restart(() => together(callers, (caller) => caller.finish()));

    for (const { what, is, shouldBe } of callers.flatMap(findingsOf)) {
      expect.soft(is, what).toEqual(shouldBe);
    }
  },
);

test("at the end, no call has reached its upstream twice", ({ expect }) => {
  const calls = SEEDS.flatMap(plansOf).map(({ upstream, script }) => ({
    call: script.call,
    posts: upstreams[upstream].call(script.call).posts,
  }));
  expect(calls.filter(({ posts }) => posts !== 1)).toEqual([]);
});

/** Brings every call to its moment: those last that do not stop and wait for the others. */
async function begin(callers: readonly Caller[], seed: number): Promise<void> {
  const impatient = callers.filter((caller) => !isPatient(caller));
  await together(callers.filter(isPatient), (caller) => caller.begin(gateway.url));
  await together(impatient, (caller) => caller.begin(gateway.url));
  await pause(runUpOf(seed));
}

/** The clients reconnect by themselves, and find no gateway yet. */
async function restart(comeBack: (isUp: Promise<void>) => Promise<void>): Promise<void> {
  const isUp = gateway.start();
  try {
    await comeBack(isUp);
  } finally {
    await isUp;
  }
}

/** @throws Error that names every call that failed, not the first only. */
async function together(
  callers: readonly Caller[],
  step: (caller: Caller) => Promise<void>,
): Promise<void> {
  const outcomes = await Promise.allSettled(callers.map(step));
  const failures = outcomes.flatMap((outcome, index) =>
    outcome.status === "fulfilled"
      ? []
      : [`${String(outcome.reason)}, in ${JSON.stringify(callers[index]?.plan)}`],
  );
  if (failures.length > 0) throw new Error(failures.join("\n"));
}

function createCaller(plan: Plan): Caller {
  const call = upstreams[plan.upstream].call(plan.script.call);
  return plan.client === "raw" ? new RawCaller(plan, call) : new SdkCaller(plan, call);
}

function isPatient({ plan: { phase } }: Caller): boolean {
  return phase !== "at any time" && phase !== "before the answer begins";
}
