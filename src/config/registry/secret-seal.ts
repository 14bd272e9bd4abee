/**
 * Seals the secrets of added servers. The purpose names the server and its address: a row that is copied to another
 * server, or given another address, does not open there.
 */

import { type Keyring, seal, sealedWith, unseal } from "../../lib/seal.ts";
import type { AddedServer } from "../../observability/added-servers.ts";
import { isObject } from "../../protocol/json-rpc.ts";

type Secrets = Readonly<Record<string, string>>;
type Sealed = Pick<AddedServer, "slug" | "entry" | "sealed">;

/** @returns `undefined` where there are none. */
export async function sealSecrets(
  ring: Keyring,
  server: Omit<Sealed, "sealed">,
  secrets: Secrets,
): Promise<string | undefined> {
  if (Object.keys(secrets).length === 0) return undefined;
  return seal(ring, purposeOf(server), secrets);
}

/** @returns `undefined` when no key of the ring opens them. */
export async function openSecrets(ring: Keyring, server: Sealed): Promise<Secrets | undefined> {
  if (server.sealed === undefined) return {};
  const opened = await unseal(ring, purposeOf(server), server.sealed);
  return isObject(opened) ? (opened as Secrets) : undefined;
}

/** @returns them sealed with the current key; `undefined` where they are already, or no key opens them. */
export async function resealed(ring: Keyring, server: Sealed): Promise<string | undefined> {
  const { sealed } = server;
  if (sealed === undefined || sealedWith(sealed) === ring.currentId) return undefined;
  const secrets = await openSecrets(ring, server);
  return secrets && sealSecrets(ring, server, secrets);
}

/** Seals what a person has pasted, so that a page can carry it without showing the secrets in it. */
export function sealPasted(ring: Keyring, person: string, text: string): Promise<string> {
  return seal(ring, pastedBy(person), text);
}

/** @returns `undefined` for what was not sealed here for this person. */
export async function openPasted(
  ring: Keyring,
  person: string,
  token: string,
): Promise<string | undefined> {
  const opened = await unseal(ring, pastedBy(person), token);
  return typeof opened === "string" ? opened : undefined;
}

function pastedBy(person: string): string {
  return JSON.stringify(["pasted servers", 1, person]);
}

function purposeOf({ slug, entry }: Omit<Sealed, "sealed">): string {
  return JSON.stringify(["added server", 1, slug, entry["url"] ?? ""]);
}
