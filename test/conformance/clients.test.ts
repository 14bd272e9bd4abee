/**
 * The official conformance suite for clients, with the gateway as the client: the suite plays a server, the gateway
 * stands before it, and an application of each era before the gateway. Nothing is expected to fail, and a warning is
 * a failure too.
 */

import { describe } from "vitest";

import { type Kind } from "../support/clients-face.ts";
import { endpointFor, test } from "../support/clients.ts";
import { MODERN_REVISION } from "../support/revisions.ts";
import { startGateway } from "../support/servers.ts";
import { ACTS } from "./client-plays.ts";
import { type Play, runClientSuite, type Scenario } from "./client-suite.ts";
import { RUN_TIMEOUT_MS } from "./suite.ts";

/** The server refuses a revision first, so that the gateway has to find out the era by itself. */
const NEGOTIATES = "request-metadata";

function eraOf({ name, revision }: Scenario): { readonly era?: "legacy" | "modern" } {
  if (name === NEGOTIATES) return {};
  return { era: revision === MODERN_REVISION ? "modern" : "legacy" };
}

/** A client of the legacy era would have the gateway try that era first, of which this server knows nothing. */
function kindsFor({ name }: Scenario): readonly Kind[] {
  return name === NEGOTIATES ? ["v2-modern"] : ["v2-legacy", "v2-modern"];
}

const RUNS: readonly (readonly [name: string, args: readonly string[]])[] = [
  ["requirements 2026-07-28", ["--requirements", "2026-07-28"]],
  ["requirements 2025-11-25", ["--requirements", "2025-11-25"]],
  ["spec version 2025-06-18", ["--suite", "all", "--spec-version", "2025-06-18"]],
];

describe("the suite for clients", () => {
  test.for(RUNS)(
    "%s: every scenario without sign-in passes",
    { timeout: RUN_TIMEOUT_MS },
    async ([, args], { connect, expect, onTestFinished }) => {
      const wrong = await runClientSuite(args, async (scenarios) => {
        const slugs = new Map(scenarios.map(({ name }, index) => [name, `scenario-${index}`]));
        const slugOf = ({ name }: Scenario): string => slugs.get(name) ?? "";
        const servers = scenarios.map((one) => [slugOf(one), { url: one.url, ...eraOf(one) }]);
        const gateway = await startGateway({ servers: Object.fromEntries(servers) });
        onTestFinished(() => gateway.stop());
        const play: Play = async (scenario) => {
          const act = ACTS[scenario.name];
          for (const kind of act === undefined ? [] : kindsFor(scenario)) {
            const url = endpointFor(kind, slugOf(scenario), gateway.url);
            await act?.((options) => connect(kind, url, options), scenario);
          }
        };
        return { play, close: () => gateway.stop() };
      });
      const others = Object.keys(wrong).filter((name) => ACTS[name] === undefined);
      expect(others.filter((name) => !name.startsWith("auth/"))).toEqual([]);
      const mine = Object.entries(wrong).filter(([name]) => ACTS[name] !== undefined);
      expect(Object.fromEntries(mine.filter(([, problems]) => problems.length > 0))).toEqual({});
    },
  );
});
