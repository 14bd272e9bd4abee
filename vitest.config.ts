import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: [
      {
        // Inside workerd: pure parts, Durable Objects, and the Worker as a black box.
        plugins: [
          cloudflareTest(({ inject }) => ({
            wrangler: { configPath: "./wrangler.toml" },
            // Known once the scripted upstreams run: their port is in them.
            miniflare: { bindings: inject("workerdBindings") },
          })),
        ],
        test: {
          name: "workerd",
          include: ["test/unit/**/*.test.ts", "test/integration/**/*.test.ts"],
          globalSetup: "test/support/workerd-setup.ts",
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
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // The gateway and its upstreams are shared, and two cores are all there is.
          fileParallelism: false,
        },
      },
    ],
  },
});
