/**
 * The official conformance suite, through the gateway with sign-in and without, and directly, with
 * no expected failures. The totals of all three ways must be the same.
 *
 * It passes at `/mcp` of three servers too. It knows the tools of one by their own names, so a proxy
 * puts the prefix on there; and merged lists are answered with JSON where that server has a stream
 * of one event, so scenarios are compared, and not totals.
 */

import { afterAll, beforeAll, describe, test } from "vitest";

import { startBearerProxy } from "../support/oauth-bearer-proxy.ts";
import { obtainToken } from "../support/oauth-client.ts";
import { overHttp } from "../support/oauth-over-http.ts";
import { OWNER_CODE } from "../support/oauth-owner.ts";
import { startRenamingProxy } from "../support/renaming-proxy.ts";
import { startGateway } from "../support/servers.ts";
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

/** The endpoint for each run of the suite: without sign-in, with it, and for three servers. */
let endpoints: Readonly<Record<"none" | "oauth" | "three", string>>;
const started: { stop(): Promise<void> }[] = [];

beforeAll(async () => {
  const servers = { fixture: { url: sharedServers().fixture } };
  const [none, oauth, three] = await Promise.all([
    startGateway({ servers }),
    startGateway({ auth: "oauth", servers }),
    startGateway({
      servers: {
        ...servers,
        everything: { url: sharedServers().everything },
        demo: { service: "DEMO" },
      },
    }),
  ]);
  started.push(none, oauth, three);
  // The suite has no way to sign in to what it tests.
  const authorizationServer = { origin: oauth.url, send: overHttp };
  const { tokens } = await obtainToken(authorizationServer, { code: OWNER_CODE });
  const bearer = await startBearerProxy(oauth.url, tokens.access_token);
  const renaming = await startRenamingProxy(three.url, "fixture__");
  started.push({ stop: () => bearer.close() }, { stop: () => renaming.close() });
  endpoints = {
    none: `${none.url}/mcp`,
    oauth: `${bearer.origin}/mcp`,
    three: `${renaming.origin}/mcp`,
  };
});
afterAll(async () => {
  await Promise.all(started.map((one) => one.stop()));
});

describe.each(RUNS)("conformance, $name", ({ args }) => {
  let direct: Verdict[];
  beforeAll(async () => {
    direct = await runServerSuite(sharedServers().fixture, args);
  }, RUN_TIMEOUT_MS);

  describe.each(["none", "oauth"] as const)("sign-in: %s", (auth) => {
    let through: Verdict[];

    beforeAll(async () => {
      await warmUp(endpoints[auth], args);
      through = await runServerSuite(endpoints[auth], args);
    }, RUN_TIMEOUT_MS);

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

  describe("one of three servers,", () => {
    let through: Verdict[];

    beforeAll(async () => {
      await warmUp(endpoints.three, args);
      through = await runServerSuite(endpoints.three, args);
    }, RUN_TIMEOUT_MS);

    test("reached through the gateway, passes every scenario that it passes directly", ({
      expect,
    }) => {
      expect(through.map(failuresOf)).toEqual(direct.map(failuresOf));
    });

    test("reached through the gateway, has no warning that it does not have directly", ({
      expect,
    }) => {
      expect(newWarnings(through, direct)).toEqual([]);
    });
  });
});

function failuresOf({ scenario, failed }: Verdict): string {
  return `${scenario}: ${failed} failed`;
}
