/**
 * The configuration as it is now: that of the environment, with the servers that operators have added. Each isolate
 * has one snapshot of those (`LiveServers`), which the Worker and all objects in it share.
 */

import { type Config, type ConfigResult, loadConfig } from "../src/config/config.ts";
import {
  JoinedConfig,
  type OpenedServer,
  type OpenedServers,
} from "../src/config/registry/join-servers.ts";
import { LiveServers, SERVED_WITHIN_MS } from "../src/config/registry/live-servers.ts";
import { openSecrets } from "../src/config/registry/secret-seal.ts";
import { settleWithin } from "../src/lib/time-out.ts";
import type {
  AddedServer,
  AddedServers,
  ChangeOutcome,
  Revised,
  ServerStore,
} from "../src/observability/added-servers.ts";
import { vaultKeysOf } from "./keys.ts";
import { called, feedName, registryByClock, registryIn } from "./ports.ts";

/** The longest wait of an operator for the feed of the server that they have changed. */
const FEED_MS = 2000;

type WaitUntil = (promise: Promise<unknown>) => void;

const joined = new WeakMap<Config, JoinedConfig>();
let live: LiveServers<OpenedServers> | undefined;
/** Where the snapshot is read: an isolate has one environment for its whole life. */
let at: { readonly env: Env; readonly config: Config };

/** As far as it is known: waits for nothing. */
export function knownConfig(env: Env): ConfigResult {
  const loaded = loadConfig(env);
  if (!loaded.ok) return loaded;
  const { config } = loaded;
  return { ok: true, config: joinedTo(config).at(liveServers(env, config).known) };
}

/** @returns what to wait for until `knownConfig` is new enough, if anything. It never rejects. */
export function freshConfig(env: Env, waitUntil: WaitUntil): Promise<unknown> | undefined {
  const loaded = loadConfig(env);
  return loaded.ok ? liveServers(env, loaded.config).fresh(waitUntil) : undefined;
}

/** True where `freshConfig` would have to be waited for. */
export function isConfigTooOld(env: Env): boolean {
  const loaded = loadConfig(env);
  return loaded.ok && liveServers(env, loaded.config).isTooOld;
}

/** Reads the snapshot anew, after a change. It never rejects. @returns whether that has worked. */
export async function renewConfig(env: Env): Promise<boolean> {
  const loaded = loadConfig(env);
  return loaded.ok && (await liveServers(env, loaded.config).renewed());
}

/** As `renewConfig`, at most once a second. @returns whether what is known is that of this second. */
export async function seekConfig(env: Env): Promise<boolean> {
  const loaded = loadConfig(env);
  return loaded.ok && (await liveServers(env, loaded.config).sought());
}

/** The store of added servers and switches, as the pages change it: this isolate serves a change at once. */
export function serverStoreIn(env: Env): ServerStore {
  const changed = async (slug: string, change: Promise<ChangeOutcome>): Promise<ChangeOutcome> => {
    const outcome = await change;
    if (outcome.kind !== "changed") return outcome;
    // A feed that cannot be reached follows with its next call or alarm.
    const followed = called(env.FEEDS.getByName(feedName(slug))).configured();
    await Promise.all([renewConfig(env), settleWithin(followed, FEED_MS).catch(() => undefined)]);
    return outcome;
  };
  return {
    addedServers: async () =>
      JSON.parse((await registryIn(env).addedServers()) ?? "null") as AddedServers,
    async addServers(servers) {
      const outcome = await registryIn(env).addServers(JSON.stringify(servers));
      if (outcome.kind === "changed") await renewConfig(env);
      return outcome;
    },
    resealServer: async (slug, before, after) => registryIn(env).resealServer(slug, before, after),
    putServer: (server, revision) =>
      changed(server.slug, registryIn(env).putServer(JSON.stringify(server), revision)),
    removeServer: (slug, revision) => changed(slug, registryIn(env).removeServer(slug, revision)),
    putSwitch: (slug, change, revision) =>
      changed(slug, registryIn(env).putSwitch(slug, change, revision)),
  };
}

function liveServers(env: Env, config: Config): LiveServers<OpenedServers> {
  at = { env, config };
  live ??= new LiveServers({ read: readServers, now: () => Date.now() });
  return live;
}

function joinedTo(config: Config): JoinedConfig {
  const known = joined.get(config);
  if (known !== undefined) return known;
  const made = new JoinedConfig(config);
  joined.set(config, made);
  return made;
}

async function readServers(known: number | undefined): Promise<OpenedServers | undefined> {
  const { env, config } = at;
  const text = await registryByClock(env).addedServers(known);
  if (text === undefined) return undefined;
  const state = JSON.parse(text) as AddedServers;
  const settledAt = state.changedAt + SERVED_WITHIN_MS;
  return { ...state, settledAt, servers: await Promise.all(state.servers.map(opened)) };

  async function opened(server: Revised<AddedServer>): Promise<OpenedServer> {
    // A server without secrets needs no key, which may have to be asked for.
    if (server.sealed === undefined) return { server, secrets: {} };
    return { server, secrets: await openSecrets(await vaultKeysOf(env, config), server) };
  }
}
