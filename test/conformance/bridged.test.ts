/**
 * The official conformance suite across the eras: what it requires of 2026-07-28, through the gateway
 * in front of a server that has nothing but sessions; and what it requires of 2025-11-25, in front of
 * one that has none. The server is the fixture, behind a filter that leaves it one era.
 */

import { afterAll, beforeAll, describe, test } from "vitest";

import { type EraFilter, startEraFilter } from "../support/era-filter.ts";
import { type Server, startGateway } from "../support/servers.ts";
import { sharedServers } from "../support/shared-servers.ts";
import {
  newWarnings,
  OTHER_EXTENSIONS,
  RUN_TIMEOUT_MS,
  runServerSuite,
  type Verdict,
  warmUp,
} from "./suite.ts";

interface Run {
  readonly requirements: string;
  /** The era of the server. */
  readonly era: "legacy" | "modern";
  /** Scenarios with checks that no gateway can meet before such a server: how many, and why. */
  readonly cannot: Readonly<Record<string, { readonly failed: number; readonly because: string }>>;
  /** Likewise, of what is recommended: the warnings that the server itself does not get. */
  readonly warned: Readonly<
    Record<string, { readonly warnings: number; readonly because: string }>
  >;
}

/**
 * What such a server has instead, the tasks of 2025-11-25, a modern client does not see: a tool that
 * must run as one is run so by the gateway, and its result comes as of any call. That is asserted by
 * test/integration/bridge-object-tasks.test.ts.
 */
const NO_TASKS =
  "The extension for tasks, and the tools that the suite wants with it, are of 2026-07-28 alone: a " +
  "legacy server has neither, so the gateway does not offer it.";

const RUNS: readonly Run[] = [
  {
    requirements: "2026-07-28",
    era: "legacy",
    cannot: {
      // What comes instead is in the matrix, as "errors that name what a client has not declared".
      "server-stateless": {
        failed: 2,
        because:
          "A call that needs what the client has not declared is to be refused with -32021, and " +
          "400. A legacy server says so in words of its own, in a result like any other.",
      },
      // That the question is asked and the answer taken is in the matrix, as "forms".
      "input-required-result-basic-elicitation": {
        failed: 1,
        because:
          "The question is to have the key that the suite knows its server by. On the legacy " +
          "wire questions have no keys, so it has one of the gateway's.",
      },
      "tasks-lifecycle": { failed: 8, because: NO_TASKS },
      "tasks-capability-negotiation": { failed: 3, because: NO_TASKS },
      "tasks-wire-fields": { failed: 3, because: NO_TASKS },
      "tasks-request-state-removal": { failed: 1, because: NO_TASKS },
      "tasks-mrtr-input": { failed: 3, because: NO_TASKS },
      "tasks-request-headers": { failed: 3, because: NO_TASKS },
      "tasks-dispatch-and-envelope": { failed: 5, because: NO_TASKS },
      "tasks-required-task-error": { failed: 1, because: NO_TASKS },
      "tasks-mrtr-composition": { failed: 1, because: NO_TASKS },
    },
    warned: {
      "input-required-result-ignore-extra-params": {
        warnings: 1,
        because:
          "A first call brings the answer under the key that the suite knows its server's question " +
          "by. On the legacy wire questions have no keys, so the question is asked.",
      },
    },
  },
  { requirements: "2025-11-25", era: "modern", cannot: {}, warned: {} },
];

function names(verdicts: readonly Verdict[]): readonly string[] {
  return verdicts.map(({ scenario }) => scenario);
}

describe.each(RUNS)(
  "for conformance with $requirements, $era server,",
  ({ requirements, era, cannot, warned }) => {
    let filter: EraFilter;
    let gateway: Server;
    let through: readonly Verdict[];
    beforeAll(async () => {
      filter = await startEraFilter(sharedServers().fixture, { era });
      gateway = await startGateway({ servers: { fixture: { url: filter.url } } });
      const url = `${gateway.url}/mcp`;
      const args = ["--requirements", requirements];
      await warmUp(url, args);
      through = await runServerSuite(url, args);
    }, RUN_TIMEOUT_MS);
    afterAll(async () => {
      await gateway.stop();
      await filter.close();
    });

    test("every scenario passes, except those that cannot exist there", ({ expect }) => {
      const failing = through
        .filter(({ scenario, failed }) => failed > 0 && !OTHER_EXTENSIONS.test(scenario))
        .map(({ scenario, failed }) => [scenario, failed]);
      const known = Object.entries(cannot).map(([scenario, { failed }]) => [scenario, failed]);
      expect(Object.fromEntries(failing)).toEqual(Object.fromEntries(known));
    });

    test(
      "the scenarios are those of a server of both eras, and none has more warnings, except those that cannot exist there",
      async ({ expect }) => {
        const direct = await runServerSuite(sharedServers().fixture, [
          "--requirements",
          requirements,
        ]);
        expect(names(through)).toEqual(names(direct));
        expect(newWarnings(through, direct)).toEqual(
          Object.entries(warned).map(([scenario, { warnings }]) => ({ scenario, warnings })),
        );
      },
      RUN_TIMEOUT_MS,
    );
  },
);

test.for(RUNS)(
  "the filter itself removes nothing from its own era: $era",
  { timeout: RUN_TIMEOUT_MS },
  async ({ era }, { expect, onTestFinished }) => {
    const own = era === "legacy" ? "2025-11-25" : "2026-07-28";
    const filter = await startEraFilter(sharedServers().fixture, { era });
    onTestFinished(() => filter.close());
    const verdicts = await runServerSuite(filter.url, ["--requirements", own]);
    const failing = verdicts.filter(
      ({ scenario, failed }) => failed > 0 && !OTHER_EXTENSIONS.test(scenario),
    );
    expect(failing).toEqual([]);
  },
);
