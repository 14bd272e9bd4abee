/**
 * Seals the secrets of added servers. The purpose names the server and its address: a row that is copied to another
 * server, or given another address, does not open there.
 */

import { type Keyring, unseal } from "../../lib/seal.ts";
import type { AddedServer } from "../../observability/added-servers.ts";
import { isObject } from "../../protocol/json-rpc.ts";

type Secrets = Readonly<Record<string, string>>;
type Sealed = Pick<AddedServer, "slug" | "entry" | "sealed">;

/** @returns `undefined` when no key of the ring opens them. */
export async function openSecrets(ring: Keyring, server: Sealed): Promise<Secrets | undefined> {
  if (server.sealed === undefined) return {};
  const opened = await unseal(ring, purposeOf(server), server.sealed);
  return isObject(opened) ? (opened as Secrets) : undefined;
}

function purposeOf({ slug, entry }: Omit<Sealed, "sealed">): string {
  return JSON.stringify(["added server", 1, slug, entry["url"] ?? ""]);
}
