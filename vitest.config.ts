import { globSync, readFileSync } from "node:fs";

import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * An isolate of its own costs a test file two seconds of processor time. So files share one, except
 * those that say that they count or fill what all requests of their isolate have in common.
 */
const OWN_ISOLATE = /^\/\/ Has an isolate of its own: /m;

/** The files of a folder that share an isolate, and those that each have one, as projects have them. */
function testsOf(folder: string) {
  const all = `${folder}/**/*.test.ts`;
  const apart = globSync(all).filter((path) => OWN_ISOLATE.test(readFileSync(path, "utf8")));
  return { shared: { include: [all], exclude: apart, isolate: false }, apart: { include: apart } };
}

/**
 * These take longest, as `npm test` says at its end, so they begin first: then all processes of a project
 * end at about the same time. Half of them wait for real time to pass.
 */
const LONGEST = [
  "test/conformance/conformance.test.ts",
  "test/e2e/sign-in-expiry.test.ts",
  "test/e2e/idle-streams.test.ts",
  "test/e2e/account-killing.test.ts",
  "test/e2e/task-tools.test.ts",
  "test/e2e/matrix.test.ts",
  "test/simulation/simulation.test.ts",
  "test/e2e/cut-answers.test.ts",
  "test/e2e/starting.test.ts",
  "test/conformance/bridged.test.ts",
  "test/conformance/published.test.ts",
  "test/e2e/pages.test.ts",
  "test/e2e/deploy.test.ts",
  "test/e2e/publish-matrix.test.ts",
  "test/e2e/publishing.test.ts",
  "test/e2e/connect-matrix.test.ts",
  "test/e2e/publishing-killing.test.ts",
  "test/e2e/idle-publishing.test.ts",
  "test/conformance/clients-accounts.test.ts",
  "test/e2e/killing.test.ts",
  "test/e2e/hosts.test.ts",
];

function rank({ moduleId }: TestSpecification): number {
  const place = LONGEST.findIndex((path) => moduleId.endsWith(path));
  return place === -1 ? LONGEST.length : place;
}

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- the sequencer's own, which changes nothing
    const others = await super.sort(files);
    return others.toSorted((one, other) => rank(one) - rank(other));
  }
}

const integration = testsOf("test/integration");
const signIn = testsOf("test/sign-in");

const withoutSignIn = cloudflareTest(({ inject }) => ({
  wrangler: { configPath: "./wrangler.toml" },
  // Known once the scripted upstreams run: their port is in them.
  miniflare: { bindings: inject("workerdBindings") },
}));

/** How long a condition may take to come true: only what fails waits to the end. */
const soon = { poll: { timeout: 20_000, interval: 20 } };

const withSignIn = cloudflareTest(({ inject }) => ({
  wrangler: { configPath: "./wrangler.toml" },
  miniflare: {
    bindings: inject("signInBindings"),
    outboundService: "way-out",
    workers: [
      {
        name: "way-out",
        modules: true,
        scriptPath: "test/support/way-out.mjs",
        compatibilityDate: "2026-10-23",
        bindings: { CANARY: inject("canary") },
      },
    ],
  },
}));

/** A test waits for several things, one after the other; some do a thousand sign-ins. */
const patient = { testTimeout: 60_000, hookTimeout: 60_000, expect: soon };

/** Inside workerd: Durable Objects, and the Worker as a black box that nobody signs in to. */
const integrationTest = {
  globalSetup: "test/support/workerd-setup.ts",
  setupFiles: "test/integration/load-worker.ts",
  ...patient,
};

/**
 * Inside workerd too: the Worker as it is deployed, with sign-in, at a public origin, and with no way
 * out but to the scripted upstreams and the canary.
 */
const signInTest = {
  globalSetup: "test/support/sign-in-setup.ts",
  setupFiles: "test/integration/load-worker.ts",
  ...patient,
};

export default defineConfig({
  test: {
    // The log of the gateway is the console: it is shown of tests that fail.
    silent: "passed-only",
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        // Inside workerd: pure parts. They keep nothing, so all of them share one.
        plugins: [withoutSignIn],
        test: {
          name: "unit",
          include: ["test/unit/**/*.test.ts"],
          globalSetup: "test/support/workerd-setup.ts",
          isolate: false,
          testTimeout: 20_000,
          expect: soon,
        },
      },
      {
        plugins: [withoutSignIn],
        test: { name: "workerd", ...integrationTest, ...integration.shared },
      },
      {
        plugins: [withoutSignIn],
        test: { name: "workerd-apart", ...integrationTest, ...integration.apart },
      },
      {
        plugins: [withSignIn],
        test: { name: "sign-in", ...signInTest, ...signIn.shared },
      },
      {
        plugins: [withSignIn],
        test: { name: "sign-in-apart", ...signInTest, ...signIn.apart },
      },
      {
        // Real clients, real servers, and the gateway as it is deployed.
        test: {
          name: "node",
          include: [
            "test/architecture/**/*.test.ts",
            "test/e2e/**/*.test.ts",
            "test/conformance/**/*.test.ts",
            "test/simulation/**/*.test.ts",
          ],
          globalSetup: "test/support/e2e-setup.ts",
          testTimeout: 180_000,
          hookTimeout: 180_000,
          // Each process has servers of its own that its files share: test/support/shared-servers.ts.
          isolate: false,
          maxWorkers: 4,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
