/** `edgeway publish` at a gateway that `npm start` runs, as everybody tries it first. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { test } from "../support/clients.ts";
import { freePort } from "../support/free-port.ts";
import { published, PublishingMachine } from "../support/laptop-command.ts";
import { startWithNpm } from "../support/servers.ts";
import { until } from "../support/until.ts";
import { outcomeOf, textOf } from "./outcome.ts";

test("a server of this machine is called, and is back after a restart of the gateway", async ({
  expect,
  connect,
  onTestFinished,
}) => {
  const persistTo = await mkdtemp(join(tmpdir(), "edgeway-at-home-"));
  const options = { port: await freePort(), persistTo, vars: { PUBLISHING: "on" } };
  let gateway = await startWithNpm(options);
  const machine = await PublishingMachine.turnOn(`${gateway.url}/mcp`);
  onTestFinished(async () => {
    await machine.turnOff();
    await gateway.stop();
    await rm(persistTo, { recursive: true, force: true });
  });
  const command = machine.publish("files");
  await published(command);
  const client = await connect("v2-modern", `${gateway.url}/mcp`);
  const run = () => client.callTool("my-files__run", { name: "home" });
  expect(textOf(await run())).toContain("home");

  await gateway.stop();
  gateway = await startWithNpm(options);
  await published(command, 2);
  await until(async () => "content" in (await outcomeOf(run())), "it is called again");
});
