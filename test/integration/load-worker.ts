/**
 * Loads the Worker under test before the clock of any test runs: on a machine that is busy, that alone
 * takes longer than a test may wait for an answer. A file that shares the isolate of others finds the
 * usual configuration, and each test the clock of the machine.
 */

import { afterAll, afterEach, vi } from "vitest";

import "../../src/index.ts";
import { restoreConfiguration } from "./configuration.ts";
import { hangUpAll } from "./hang-up.ts";
import { holdLog, letLogGo } from "./held-log.ts";

holdLog();
await restoreConfiguration();

afterEach(({ task }) => {
  vi.useRealTimers();
  letLogGo(task.result?.state === "fail");
});

afterAll(hangUpAll);
