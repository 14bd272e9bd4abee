import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

const withoutSignIn = cloudflareTest(({ inject }) => ({
  wrangler: { configPath: "./wrangler.toml" },
  // Known once the scripted upstreams run: their port is in them.
  miniflare: { bindings: inject("workerdBindings") },
}));

/** How long a condition may take to come true: only what fails waits to the end. */
const soon = { poll: { timeout: 20_000, interval: 20 } };

export default defineConfig({
  test: {
    // The log of the gateway is the console: it is shown of tests that fail.
    silent: "passed-only",
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
        // Inside workerd: Durable Objects, and the Worker as a black box that nobody signs in to.
        plugins: [withoutSignIn],
        test: {
          name: "workerd",
          include: ["test/integration/**/*.test.ts"],
          globalSetup: "test/support/workerd-setup.ts",
          setupFiles: "test/integration/load-worker.ts",
          // A test waits for several things, one after the other.
          testTimeout: 60_000,
          hookTimeout: 60_000,
          expect: soon,
        },
      },
      {
        // Inside workerd too: the Worker as it is deployed, with sign-in, at a public origin, and
        // with no way out but to the scripted upstreams and the canary.
        plugins: [
          cloudflareTest(({ inject }) => ({
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
          })),
        ],
        test: {
          name: "sign-in",
          include: ["test/sign-in/**/*.test.ts"],
          globalSetup: "test/support/sign-in-setup.ts",
          setupFiles: "test/integration/load-worker.ts",
          // Some do a thousand sign-ins, or wake dozens of objects.
          testTimeout: 60_000,
          hookTimeout: 60_000,
          expect: soon,
        },
      },
      {
        // Real clients, real servers, and the gateway as `npm start` runs it.
        test: {
          name: "node",
          include: [
            "test/architecture/**/*.test.ts",
            "test/e2e/**/*.test.ts",
            "test/conformance/**/*.test.ts",
          ],
          globalSetup: "test/support/e2e-setup.ts",
          testTimeout: 180_000,
          hookTimeout: 180_000,
          // The gateway and its upstreams are shared, and two cores are all there is.
          fileParallelism: false,
        },
      },
    ],
  },
});
