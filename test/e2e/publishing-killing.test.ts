/**
 * Servers of a laptop, while what carries them dies at seeded moments: the gateway, the command, the local server, the
 * network between. No call runs twice, a call that is lost has one error, and all is back within 35 seconds.
 */

import { afterAll, beforeAll, describe } from "vitest";

import type { RawHost } from "../support/cli.ts";
import type { Client, Json } from "../support/clients-face.ts";
import { test } from "../support/clients.ts";
import { type CuttingProxy, startCuttingProxy } from "../support/cutting-proxy.ts";
import { type KillableGateway, startKillableGateway } from "../support/killable-gateway.ts";
import { killProcess, published, PublishingMachine } from "../support/laptop-command.ts";
import { type Seeded, seeded } from "../support/seeded.ts";
import { seedsUpTo } from "../support/seeds.ts";
import { pause, until } from "../support/until.ts";
import { outcomeOf } from "./outcome.ts";

const SEEDS = seedsUpTo(4);
const VICTIMS = ["gateway", "command", "local server", "network"] as const;
const BACK_MS = 35_000;
const CALLS = 8;
/** How long a call runs at the most. */
const CALL_MS = 300;

let gateway: KillableGateway;
beforeAll(async () => {
  gateway = await startKillableGateway({ vars: { PUBLISHING: "on" } });
});
afterAll(() => gateway.remove());

interface Laptop {
  readonly machine: PublishingMachine;
  readonly proxy: CuttingProxy;
  command: RawHost;
}

type Connecting = () => Promise<Client>;

interface Lost {
  readonly name: string;
  readonly runs: number;
  readonly outcome: Json;
}

describe.each(VICTIMS)("the %s is killed while calls run,", (victim) => {
  test.for(SEEDS)("seed %i", async (seed, { connect, expect, onTestFinished }) => {
    const dice = seeded(seed * 10 + VICTIMS.indexOf(victim));
    const kind = dice.pick(["v1-http", "v2-modern"] as const);
    // One for all seeds: a person may publish no more than 16.
    const name = victim.replaceAll(" ", "-");
    const proxy = await startCuttingProxy(gateway.url, dice, [0, 0], 0);
    const machine = await PublishingMachine.turnOn(`${proxy.origin}/mcp`);
    onTestFinished(async () => {
      await machine.turnOff();
      await proxy.close();
    });
    const laptop: Laptop = { machine, proxy, command: machine.publish(name) };
    await published(laptop.command);
    const open: Connecting = () => connect(kind, `${gateway.url}/mcp/my-${name}`);
    const client = await open();
    await client.callTool("run", { name: "warm" });

    const calls = Array.from({ length: CALLS }, (_, index) =>
      callLater(client, `call-${index}`, dice),
    );
    await pause(dice.int(0, CALL_MS));
    const before = (await machine.processes()).started;
    await kill(victim, laptop, name);
    // A client whose gateway has died may wait for it for long.
    const again = victim === "gateway" ? await open() : client;
    await until(
      async () => "content" in (await outcomeOf(again.callTool("run", { name: "back" }))),
      () => `it is back: ${laptop.command.stderr()}`,
      BACK_MS,
    );
    if (victim === "gateway") await client.disconnect();
    const outcomes = await Promise.all(calls);
    const runs = await Promise.all(outcomes.map((one) => machine.runs(one.name)));
    const found = outcomes.map((one, index) => ({ ...one, runs: runs[index] ?? 0 }));
    expect(found.filter((one) => isWrong(one))).toEqual([]);
    expect(await machine.runs("back")).toBe(1);
    // A process of before ends by itself: its stdin has, or its connection is over.
    await until(async () => {
      const { running } = await machine.processes();
      return !running.some((pid) => before.includes(pid));
    }, "the processes of before have ended");
  });
});

async function callLater(client: Client, name: string, dice: Seeded): Promise<Omit<Lost, "runs">> {
  const [wait, ms] = [dice.int(0, CALL_MS), dice.int(0, CALL_MS)];
  await pause(wait);
  return { name, outcome: await outcomeOf(client.callTool("run", { name, ms })) };
}

/** A call has its result and ran once, or it has an error in words and ran at most once. */
function isWrong({ runs, outcome }: Lost): boolean {
  if ("content" in outcome) return runs !== 1;
  return runs > 1 || typeof outcome["message"] !== "string" || outcome["message"] === "";
}

async function kill(victim: (typeof VICTIMS)[number], laptop: Laptop, name: string): Promise<void> {
  switch (victim) {
    case "gateway":
      await gateway.kill();
      await gateway.start();
      return;
    case "command":
      laptop.command.kill("SIGKILL");
      await laptop.command.exitCode;
      laptop.command = laptop.machine.publish(name);
      return;
    case "network":
      laptop.proxy.cut();
      return;
    case "local server":
      for (const pid of (await laptop.machine.processes()).running) killProcess(pid);
  }
}
