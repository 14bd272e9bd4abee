/**
 * Calls of modern clients at a legacy server that asks in mid-call, when something goes down: the
 * gateway is killed, the server is, or the network between them breaks, at seeded moments. Each
 * client has its result or one clear error, and no call reaches the server twice.
 *
 * A failure shows the plan of the call that it is about, and the seed in the test's name makes the
 * same plans again.
 */

import { afterAll, beforeAll, describe } from "vitest";

import { type AskingUpstream, startAskingUpstream } from "../support/asking-upstream.ts";
import { messageOf } from "../support/asking-call.ts";
import type { Json } from "../support/clients-face.ts";
import { test } from "../support/clients.ts";
import { inParallel } from "../support/in-parallel.ts";
import { type KillableGateway, startKillableGateway } from "../support/killable-gateway.ts";
import { ModernCaller } from "../support/modern-caller.ts";
import { seeded } from "../support/seeded.ts";
import { seedsUpTo } from "../support/seeds.ts";
import { pause, until } from "../support/until.ts";
import { textOf } from "./outcome.ts";
import { type Fault, findingsOf } from "./parking-findings.ts";
import { ParkingClient } from "./parking-client.ts";
import { type Plan, plansOf } from "./parking-plan.ts";

const SEEDS = seedsUpTo(3);
const TEST_TIMEOUT_MS = 240_000;
const MANY = 200;

let upstreams: Readonly<Record<Plan["upstream"], AskingUpstream>>;
let gateway: KillableGateway;

beforeAll(async () => {
  upstreams = {
    resumable: await startAskingUpstream(true),
    forgetful: await startAskingUpstream(false),
  };
  gateway = await startKillableGateway({
    servers: {
      resumable: { url: upstreams.resumable.url },
      forgetful: { url: upstreams.forgetful.url },
    },
    // A server that is down is down here for a reason, and is to be asked all the same.
    limits: { failuresBeforePause: 1000 },
  });
});
afterAll(async () => {
  await gateway.remove();
  await Promise.all(Object.values(upstreams).map((upstream) => upstream.close()));
});

interface Outage {
  readonly fault: Fault;
  /** Takes something down. */
  readonly begin: () => Promise<void>;
  /** @returns when everything is there that will be. */
  readonly end: () => Promise<void>;
}

const OUTAGES: readonly Outage[] = [
  {
    fault: "the gateway was killed",
    begin: () => gateway.kill(),
    end: () => gateway.start(),
  },
  {
    fault: "the connection was cut",
    begin: async () => {
      for (const upstream of Object.values(upstreams)) upstream.cut();
    },
    end: () => Promise.resolve(),
  },
  {
    fault: "the server was killed",
    begin: killServers,
    // For those who come after these.
    end: () => Promise.resolve(),
  },
  {
    fault: "the server was killed and is back",
    begin: killServers,
    end: startServers,
  },
];

async function killServers(): Promise<void> {
  await Promise.all(Object.values(upstreams).map((upstream) => upstream.kill()));
}

async function startServers(): Promise<void> {
  await Promise.all(Object.values(upstreams).map((upstream) => upstream.start()));
}

describe.each(OUTAGES)("a call that is parked when $fault", ({ fault, begin, end }) => {
  test.for(SEEDS)(
    "has its result or one error, and ran once, seed %i",
    { timeout: TEST_TIMEOUT_MS },
    async (seed, { expect, onTestFinished }) => {
      if (fault === "the server was killed") onTestFinished(startServers);
      const dice = seeded(seed);
      const clients = plansOf(`${fault}, ${seed}`, dice).map(
        (plan) =>
          new ParkingClient(plan, gateway.url, upstreams[plan.upstream].call(plan.script.call)),
      );
      await Promise.all(clients.filter(isPatient).map((client) => client.begin()));
      await Promise.all(
        clients.filter((client) => !isPatient(client)).map((client) => client.begin()),
      );
      await pause(dice.int(0, 150));
      await begin();
      const isBack = end();
      await Promise.all(clients.map((client) => client.finish(isBack)));
      for (const { what, is, shouldBe } of clients.flatMap((client) => findingsOf(client, fault))) {
        expect.soft(is, what).toEqual(shouldBe);
      }
    },
  );
});

/** Calls that wait for no person are begun last. */
function isPatient({ plan }: ParkingClient): boolean {
  return plan.phase !== "at any time";
}

test(
  "the decision of a person arrives though the gateway is killed meanwhile: SDK 2",
  { timeout: TEST_TIMEOUT_MS },
  async ({ expect, connect }) => {
    const decision = Promise.withResolvers<void>();
    const client = await connect("v2-modern", `${gateway.url}/mcp/resumable`, {
      answers: {
        elicitation: async () => {
          await decision.promise;
          return { action: "accept", content: { answer: "yes" } };
        },
      },
    });
    const call = client.callTool("ask", { call: "of SDK 2", questions: 1 });
    await until(() => client.asked.length === 1, "the client is asked");
    await gateway.kill();
    await gateway.start();
    decision.resolve();
    expect(textOf(await call)).toBe("yes");
    expect(upstreams.resumable.call("of SDK 2").posts).toBe(1);
  },
);

test.for(["resumable", "forgetful"] as const)(
  `${MANY} calls wait at once, and each gets its own answer, %s`,
  { timeout: TEST_TIMEOUT_MS },
  async (slug, { expect }) => {
    const names = Array.from({ length: MANY }, (_, index) => `${slug}, one of many, ${index}`);
    const parked = await inParallel(MANY, 20, async (index) => {
      const name = names[index] ?? "";
      const args = { call: name, questions: 1 };
      const caller = new ModernCaller(`${gateway.url}/mcp/${slug}`, "ask", args);
      return { name, caller, turn: await caller.begin() };
    });
    const asked = parked.map(({ turn }) =>
      turn.kind === "asked" ? messageIn(turn.questions) : turn,
    );
    expect(asked).toEqual(names.map((name) => messageOf(name, 1)));

    const inAnyOrder = shuffled(parked, 7);
    const told = await inParallel(MANY, 20, async (place) => {
      const { name, caller, turn } = inAnyOrder[place] ?? {};
      if (turn?.kind !== "asked" || caller === undefined) return turn;
      const [key = ""] = Object.keys(turn.questions);
      const answers = { [key]: { action: "accept", content: { answer: `${name} says yes` } } };
      const end = await caller.answer(turn.state, answers);
      return end.kind === "over" ? textOf(end.result) : end;
    });
    expect(told).toEqual(inAnyOrder.map(({ name }) => `${name} says yes`));
    const posts = names.map((name) => upstreams[slug].call(name).posts);
    expect(posts.filter((count) => count !== 1)).toEqual([]);
  },
);

function messageIn(questions: Readonly<Record<string, Json>>): unknown {
  const [question] = Object.values(questions);
  return (question?.["params"] as Json | undefined)?.["message"];
}

function shuffled<T>(values: readonly T[], seed: number): readonly T[] {
  const { int } = seeded(seed);
  const left = [...values];
  return values.flatMap(() => left.splice(int(0, left.length - 1), 1));
}
