/** Changes the configuration of the Worker under test for one file. */

import { abortAllDurableObjects } from "cloudflare:test";
import { env } from "cloudflare:workers";

import { forgetConfigs } from "../../src/config/config.ts";

type Variables = Partial<
  Record<"ACTIVITY" | "LIMITS" | "MCP_SERVERS" | "PUBLISHING" | "VAULT_SECRET", string>
>;

let usual: Variables | undefined;

/**
 * To be called before the first request of a file, since an object keeps the configuration with which it
 * came to life.
 */
export function changeConfiguration(variables: Variables): void {
  usual ??= {
    ACTIVITY: String(env["ACTIVITY"]),
    LIMITS: String(env["LIMITS"]),
    MCP_SERVERS: String(env["MCP_SERVERS"]),
    PUBLISHING: "off",
  };
  Object.assign(env, variables);
  forgetConfigs();
}

/**
 * Changes the configuration where an object of a name that files share may live already: an alarm of the file before
 * may have woken it, with the configuration from before. All objects live anew.
 */
export async function beginWith(variables: Variables): Promise<void> {
  changeConfiguration(variables);
  await abortAllDurableObjects();
}

/** Undoes the changes of the file before, and ends the objects that know them. */
export async function restoreConfiguration(): Promise<void> {
  if (usual === undefined) return;
  Object.assign(env, usual);
  usual = undefined;
  forgetConfigs();
  await abortAllDurableObjects();
}
