/**
 * The official conformance suite at `/mcp` with three servers behind it. The suite knows the tools
 * of one by their own names, so a proxy puts the prefix on. Merged lists are answered with JSON where
 * that server has a stream of one event, so totals are not compared, but scenarios.
 */

import { afterAll, beforeAll, describe, inject, test } from "vitest";

import { type RenamingProxy, startRenamingProxy } from "../support/renaming-proxy.ts";
import { type Server, startEverything, startGateway } from "../support/servers.ts";
import { OTHER_EXTENSIONS, RUN_TIMEOUT_MS, RUNS, runServerSuite, type Verdict } from "./suite.ts";

let gateway: Server;
let everything: Server;
let proxy: RenamingProxy;

beforeAll(async () => {
  everything = await startEverything("streamableHttp");
  gateway = await startGateway({
    servers: {
      fixture: { url: inject("fixture") },
      everything: { url: everything.url },
      demo: { service: "DEMO" },
    },
  });
  proxy = await startRenamingProxy(gateway.url, "fixture__");
}, RUN_TIMEOUT_MS);
afterAll(async () => {
  await proxy.close();
  await Promise.all([gateway.stop(), everything.stop()]);
});

describe.each(RUNS)("conformance with three servers, $name", ({ args }) => {
  let direct: Verdict[];
  let through: Verdict[];
  beforeAll(async () => {
    direct = await runServerSuite(inject("fixture"), args);
    through = await runServerSuite(`${proxy.origin}/mcp`, args);
  }, 2 * RUN_TIMEOUT_MS);

  test("every scenario passes", ({ expect }) => {
    const failing = through.filter(
      ({ scenario, failed }) => failed > 0 && !OTHER_EXTENSIONS.test(scenario),
    );
    expect(failing).toEqual([]);
  });

  test("the scenarios are those of the server reached directly", ({ expect }) => {
    expect(through.map(failuresOf)).toEqual(direct.map(failuresOf));
  });
});

function failuresOf({ scenario, failed }: Verdict): string {
  return `${scenario}: ${failed} failed`;
}
