/**
 * The official conformance suite at a server that has nothing but stdio, published from a second process tree, through
 * the gateway: what it requires of each revision, beside the same server over HTTP.
 */

import { afterAll, beforeAll, describe, test } from "vitest";

import { published, PublishingMachine } from "../support/laptop-command.ts";
import { NODE, ROOT } from "../support/process.ts";
import { type Server, startGateway } from "../support/servers.ts";
import { sharedServers } from "../support/shared-servers.ts";
import {
  newWarnings,
  OTHER_EXTENSIONS,
  RUN_TIMEOUT_MS,
  RUNS,
  runServerSuite,
  type Verdict,
  warmUp,
} from "./suite.ts";

/** The SDK serves the extension for tasks over HTTP alone, so that the server has no tools for it over stdio. */
const OF_TASKS = /^tasks-/;
/** The SDK's server knows the capabilities that a request declares over HTTP alone: reached directly, it fails as well. */
const OF_THE_SERVER = "input-required-result-capability-check";

/**
 * Of these the suite makes one check less than over HTTP, in 2025-11-25 alone, and none of them fails. The first one
 * looks at streams where lists come on some: the gateway answers lists of a published server from what it keeps of
 * them, with JSON. The second one takes a stream up that a tool has closed on its client: over stdio the tool has no
 * stream to close, so that its result comes on the first one.
 */
const ONE_LESS = ["server-sse-multiple-streams", "server-sse-polling"];

let gateway: Server;
let machine: PublishingMachine;

beforeAll(async () => {
  gateway = await startGateway({ vars: { PUBLISHING: "on" } });
  machine = await PublishingMachine.turnOn(`${gateway.url}/mcp`);
  const fixture = `${ROOT}test/fixture-server/stdio.ts`;
  await published(machine.start(["fixture", "--", NODE, fixture]));
});

afterAll(async () => {
  await machine?.turnOff();
  await gateway?.stop();
});

describe.each(RUNS)("conformance over stdio, $name", ({ args }) => {
  let direct: readonly Verdict[];
  let through: readonly Verdict[];

  beforeAll(async () => {
    const url = `${gateway.url}/mcp/my-fixture`;
    await warmUp(url, args);
    direct = await runServerSuite(sharedServers().fixture, args);
    through = await runServerSuite(url, args);
  }, RUN_TIMEOUT_MS);

  test("every scenario passes that such a server passes by itself", ({ expect }) => {
    const failing = through.filter(
      ({ scenario, failed }) =>
        failed > 0 && !OTHER_EXTENSIONS.test(scenario) && !OF_TASKS.test(scenario),
    );
    const others = failing.filter(({ scenario }) => scenario !== OF_THE_SERVER);
    expect(others).toEqual([]);
  });

  test("the scenarios are those of the same server over HTTP, with no new warnings", ({
    expect,
  }) => {
    expect(through.map(({ scenario }) => scenario)).toEqual(direct.map(({ scenario }) => scenario));
    expect(newWarnings(through, direct)).toEqual([]);
  });

  test("all their checks are made, but for what HTTP alone can show", ({ expect }) => {
    const less = through.filter((verdict, place) => {
      const missing = checksOf(direct[place] ?? verdict) - checksOf(verdict);
      return missing !== 0 && !OF_TASKS.test(verdict.scenario);
    });
    expect(less.map(({ scenario }) => scenario).toSorted()).toEqual(
      String(args).includes("2025-11-25") ? ONE_LESS : [],
    );
  });
});

function checksOf({ passed, failed }: Verdict): number {
  return passed + failed;
}
