/** Limits of a test file's own, where those that all share do not show what is to be seen. */

import { env } from "cloudflare:workers";

import type { LimitName } from "../../src/policy/limits.ts";
import type { Json } from "../support/scripted-upstream-script.ts";
import { changeConfiguration } from "./configuration.ts";

/** To be called before the first request of a file. */
export function setLimits(limits: Partial<Record<LimitName, number>>): void {
  const shared = JSON.parse(String(env["LIMITS"])) as Json;
  changeConfiguration({ LIMITS: JSON.stringify({ ...shared, ...limits }) });
}
