/** A server that an operator has added, as the only one or beside others, and an isolate that cannot ask for it. */

import { abortAllDurableObjects } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { onTestFinished, vi } from "vitest";

import { serverStoreIn } from "../../durable-objects/live-config.ts";
import { LiveServers } from "../../src/config/registry/live-servers.ts";
import type { AddedServer } from "../../src/observability/added-servers.ts";
import type { Json } from "../support/scripted-upstream-script.ts";
import { changeConfiguration } from "./configuration.ts";
import type { Upstream } from "./upstream.ts";

const store = serverStoreIn(env);

let entries: Readonly<Record<string, Json>> | undefined;

/** From here on, `MCP_SERVERS` has this server alone. To be called before the first request of a file. */
export function configureOnly({ slug }: Upstream): void {
  entries = JSON.parse(String(env["MCP_SERVERS"])) as Record<string, Json>;
  changeConfiguration({ MCP_SERVERS: JSON.stringify({ [slug]: entries[slug] }) });
}

/** A server that is not in `MCP_SERVERS`, as an operator adds it. */
export function addedEntry({ slug }: Upstream): AddedServer {
  return {
    ...{ slug, state: "live", entry: entries?.[slug] ?? {}, secretNames: [] },
    ...{ provenance: { kind: "url" }, changedBy: "local", changedAt: Date.now() },
  };
}

/** The newest revision of an added server; 0 where there is none. */
export async function revisionOf({ slug }: Upstream): Promise<number> {
  const { servers } = await store.addedServers();
  return servers.find((each) => each.slug === slug)?.revision ?? 0;
}

/** Until the end of the test, which files that share the registry do not see. @param more of the entry. */
export async function add(upstream: Upstream, more: Json = {}): Promise<void> {
  onTestFinished(() => remove(upstream));
  await change(upstream, more);
}

/** @param more of the entry. */
export async function change(upstream: Upstream, more: Json): Promise<void> {
  const { entry, ...server } = addedEntry(upstream);
  await store.putServer({ ...server, entry: { ...entry, ...more } }, await revisionOf(upstream));
}

export async function remove(upstream: Upstream): Promise<void> {
  await store.removeServer(upstream.slug, await revisionOf(upstream));
}

/** All objects come to life anew, in an isolate that can ask nobody what was added until `asked` is called. */
export async function startAnewUnasked(): Promise<{ readonly asked: () => void }> {
  const known = vi.spyOn(LiveServers.prototype, "known", "get").mockReturnValue(undefined);
  const renewed = vi.spyOn(LiveServers.prototype, "renewed").mockResolvedValue(false);
  // What this isolate has read within the last second is not known to a new one.
  const sought = vi.spyOn(LiveServers.prototype, "sought");
  sought.mockImplementation(function (this: LiveServers<never>) {
    return this.renewed();
  });
  await abortAllDurableObjects();
  return { asked: () => [known, renewed, sought].forEach((spy) => spy.mockRestore()) };
}
