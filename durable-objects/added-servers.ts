/** The servers that operators add, as their pages see them. */

import { entriesOf } from "../src/config/clients/client-map.ts";
import { type Config, loadConfig } from "../src/config/config.ts";
import {
  type AddedEntry,
  addedEgress,
  type Resolved,
  resolveAdded,
} from "../src/config/registry/join-servers.ts";
import { editableOf, editServer } from "../src/config/registry/edit-server.ts";
import { exportToml } from "../src/config/registry/export-toml.ts";
import { fillIn } from "../src/config/registry/fill-in.ts";
import { isEdited } from "../src/config/registry/is-edited.ts";
import { isSecret } from "../src/config/registry/pasted-fields.ts";
import { readPasted } from "../src/config/registry/pasted.ts";
import { probe } from "../src/config/registry/probe.ts";
import {
  openPasted,
  openSecrets,
  resealed,
  sealPasted,
  sealSecrets,
} from "../src/config/registry/secret-seal.ts";
import { mapLimited } from "../src/lib/map-limited.ts";
import type { Keyring } from "../src/lib/seal.ts";
import type { AddedServer, ProbeReport } from "../src/observability/added-servers.ts";
import type { ServerRegistry } from "../src/pages/operator/server-registry.ts";
import { vaultKeysOf } from "./keys.ts";
import { serverStoreIn } from "./live-config.ts";

export function addedServersIn(env: Env): ServerRegistry {
  const store = serverStoreIn(env);
  const keys = (): Promise<Keyring> => vaultKeysOf(env, configured(env));
  const resolve = (entry: AddedEntry): Resolved => {
    const config = configured(env);
    return resolveAdded(entry, config, addedEgress(config));
  };
  const refusal = (entry: AddedEntry): readonly string[] => {
    const resolved = resolve(entry);
    return "sentences" in resolved ? resolved.sentences : [];
  };
  return {
    all: () => store.addedServers(),
    isConfigured(slug) {
      const { servers, notices } = configured(env);
      return servers.has(slug) || notices.some((notice) => notice.slug === slug);
    },
    get allowsLoopback() {
      return addedEgress(configured(env)).allowsLoopback === true;
    },
    read: readPasted,
    fillIn,
    sealPasted: async (person, text) => sealPasted(await keys(), person, text),
    openPasted: async (person, token) => openPasted(await keys(), person, token),
    mistakesIn(entry) {
      const [named] = entriesOf({ [entry.slug]: entry.entry });
      return named?.slug === entry.slug ? refusal(entry) : [NO_SLUG];
    },
    isSecret,
    editable: editableOf,
    async edit(server, edit) {
      const edited = editServer(server, await openSecrets(await keys(), server), edit);
      if (edited.kind === "mistakes") return edited;
      const sentences = refusal({ slug: server.slug, ...edited });
      return sentences.length > 0 ? { kind: "mistakes", sentences } : edited;
    },
    async isEdited(server, edit) {
      return isEdited(server, (await openSecrets(await keys(), server)) ?? {}, edit);
    },
    async add(servers) {
      const ring = await keys();
      return store.addServers(
        await Promise.all(servers.map(({ server, secrets }) => withSecrets(ring, server, secrets))),
      );
    },
    async put(server, revision, secrets) {
      if (secrets !== undefined) {
        return store.putServer(await withSecrets(await keys(), server, secrets), revision);
      }
      const { sealed: _, ...kept } = server;
      return store.putServer(kept, revision);
    },
    remove: (slug, revision) => store.removeServer(slug, revision),
    async probe(server, given) {
      const secrets = given ?? (await openSecrets(await keys(), server));
      if (secrets === undefined) return failed("None of the keys that are set opens its secrets.");
      const { slug, label, entry } = server;
      const resolved = resolve({ slug, label, entry, secrets });
      if ("sentences" in resolved) return failed(resolved.sentences.join(" "));
      return probe(resolved.server, configured(env).limits);
    },
    export: exportToml,
    async sealAnew() {
      const [ring, { servers }] = await Promise.all([keys(), store.addedServers()]);
      const sealed = await mapLimited(servers, SEALED_AT_A_TIME, async (server) => {
        const anew = await resealed(ring, server);
        if (anew === undefined || server.sealed === undefined) return false;
        return store.resealServer(server.slug, server.sealed, anew);
      });
      return sealed.filter(Boolean).length;
    },
  };
}

const SEALED_AT_A_TIME = 10;

async function withSecrets(
  ring: Keyring,
  server: AddedServer,
  secrets: Readonly<Record<string, string>>,
): Promise<AddedServer> {
  const { sealed: _, ...plain } = server;
  const sealed = await sealSecrets(ring, server, secrets);
  return { ...plain, ...(sealed !== undefined && { sealed }) };
}

function failed(message: string): ProbeReport {
  return { at: Date.now(), outcome: "failed", message };
}

const NO_SLUG = 'A slug has 1 to 24 characters of a-z, 0-9 and "-", and is not "message".';

/** That of the environment alone. @throws where there is none, which no page is shown without. */
function configured(env: Env): Config {
  const loaded = loadConfig(env);
  if (!loaded.ok) throw new Error("The gateway is not configured");
  return loaded.config;
}
