/** Limits of a test file's own, where those that all share do not show what is to be seen. */

import { env } from "cloudflare:workers";

import type { LimitName } from "../../src/policy/limits.ts";
import type { Json } from "../support/scripted-upstream-script.ts";

/**
 * The configuration is read once by an isolate, and a test file that imports this has an isolate of its own: to be
 * called before the first request of a file, and once.
 */
export function setLimits(limits: Partial<Record<LimitName, number>>): void {
  const shared = JSON.parse(String(env["LIMITS"])) as Json;
  Object.assign(env, { LIMITS: JSON.stringify({ ...shared, ...limits }) });
}
