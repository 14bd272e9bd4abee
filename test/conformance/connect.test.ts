/**
 * The official conformance suite for clients, with `edgeway connect` as the client: the suite plays a server, and a
 * host of its era over stdio is before the command. Nothing is expected to fail, and a warning is a failure too.
 */

import { describe } from "vitest";

import type { Client, Kind } from "../support/clients-face.ts";
import { test } from "../support/clients.ts";
import { MODERN_REVISION } from "../support/revisions.ts";
import { ACTS } from "./client-plays.ts";
import { runClientSuite, type Scenario } from "./client-suite.ts";
import { RUN_TIMEOUT_MS } from "./suite.ts";

/**
 * The command passes on what it is sent. The gateway drops tools whose headers are unlawful, and completes a result
 * without `resultType`, which the SDK of this host refuses: `clients.test.ts` has both scenarios.
 */
const OF_THE_GATEWAY: ReadonlySet<string> = new Set([
  "http-invalid-tool-headers",
  "sep-2322-client-request-state",
]);

/** The server refuses a revision first, so that the host has to find out the era by itself. */
const NEGOTIATES = "request-metadata";

function kindFor({ name, revision }: Scenario): Kind {
  if (name === NEGOTIATES) return "v2-stdio-auto";
  return revision === MODERN_REVISION ? "v2-stdio-modern" : "v2-stdio-legacy";
}

describe("the suite for clients, through the command", () => {
  test.for(["2026-07-28", "2025-11-25"])(
    "requirements %s: every scenario without sign-in passes",
    { timeout: RUN_TIMEOUT_MS },
    async (requirements, { connect, expect }) => {
      const wrong = await runClientSuite(["--requirements", requirements], async () => ({
        async play(scenario) {
          const clients: Client[] = [];
          const open = async (options: Parameters<typeof connect>[2]): Promise<Client> => {
            const client = await connect(kindFor(scenario), scenario.url, options);
            clients.push(client);
            return client;
          };
          await ACTS[scenario.name]?.(open, scenario);
          for (const client of clients) await client.disconnect();
        },
        close: () => Promise.resolve(),
      }));
      const mine = Object.keys(wrong).filter((name) => name in ACTS && !OF_THE_GATEWAY.has(name));
      expect(mine.length).toBeGreaterThan(3);
      const problems = mine.map((name) => [name, wrong[name] ?? []] as const);
      expect(Object.fromEntries(problems.filter(([, found]) => found.length > 0))).toEqual({});
    },
  );
});
