/**
 * The official conformance suite, through the gateway with sign-in and without, and directly, with
 * no expected failures. The totals of all three ways must be the same.
 *
 * It passes at `/mcp` of three servers too. It knows the tools of one by their own names, so a proxy
 * puts the prefix on there; and merged lists are answered with JSON where that server has a stream
 * of one event, so scenarios are compared, and not totals.
 */

import { afterAll, beforeAll, describe, inject, test } from "vitest";

import { type BearerProxy, startBearerProxy } from "../support/oauth-bearer-proxy.ts";
import { obtainToken } from "../support/oauth-client.ts";
import { overHttp } from "../support/oauth-over-http.ts";
import { OWNER_CODE } from "../support/oauth-owner.ts";
import { type RenamingProxy, startRenamingProxy } from "../support/renaming-proxy.ts";
import { type Server, startGateway } from "../support/servers.ts";
import {
  newWarnings,
  OTHER_EXTENSIONS,
  RUN_TIMEOUT_MS,
  RUNS,
  runServerSuite,
  type Verdict,
  warmUp,
} from "./suite.ts";

describe.each(RUNS)("conformance, $name", ({ args }) => {
  let direct: Verdict[];
  beforeAll(async () => {
    direct = await runServerSuite(inject("fixture"), args);
  }, RUN_TIMEOUT_MS);

  describe.each(["none", "oauth"] as const)("sign-in: %s", (auth) => {
    let gateway: Server;
    let proxy: BearerProxy | undefined;
    let through: Verdict[];

    beforeAll(async () => {
      gateway = await startGateway({ auth, servers: { fixture: { url: inject("fixture") } } });
      if (auth === "oauth") {
        // The suite has no way to sign in to what it tests.
        const { tokens } = await obtainToken(
          { origin: gateway.url, send: overHttp },
          { code: OWNER_CODE },
        );
        proxy = await startBearerProxy(gateway.url, tokens.access_token);
      }
      const url = `${proxy?.origin ?? gateway.url}/mcp`;
      await warmUp(url, args);
      through = await runServerSuite(url, args);
    }, RUN_TIMEOUT_MS);
    afterAll(async () => {
      await Promise.all([gateway.stop(), proxy?.close()]);
    });

    test("B111: every scenario passes, that of DNS rebinding too", ({ expect }) => {
      const failing = through.filter(
        ({ scenario, failed }) => failed > 0 && !OTHER_EXTENSIONS.test(scenario),
      );
      expect(failing).toEqual([]);
    });

    test("the fixture reached directly gives the same totals, warnings too", ({ expect }) => {
      expect(through).toEqual(direct);
    });
  });

  describe("one of three servers", () => {
    let gateway: Server;
    let proxy: RenamingProxy;
    let through: Verdict[];

    beforeAll(async () => {
      gateway = await startGateway({
        servers: {
          fixture: { url: inject("fixture") },
          everything: { url: inject("everything") },
          demo: { service: "DEMO" },
        },
      });
      proxy = await startRenamingProxy(gateway.url, "fixture__");
      const url = `${proxy.origin}/mcp`;
      await warmUp(url, args);
      through = await runServerSuite(url, args);
    }, RUN_TIMEOUT_MS);
    afterAll(async () => {
      await Promise.all([gateway.stop(), proxy.close()]);
    });

    test("every scenario passes that does directly", ({ expect }) => {
      expect(through.map(failuresOf)).toEqual(direct.map(failuresOf));
    });

    test("no scenario has a warning that it does not have directly", ({ expect }) => {
      expect(newWarnings(through, direct)).toEqual([]);
    });
  });
});

function failuresOf({ scenario, failed }: Verdict): string {
  return `${scenario}: ${failed} failed`;
}
