/**
 * Values that a client carries for the gateway, so that the gateway stores nothing: cursors, the state of
 * a server's questions, and the ids of its tasks. They are sealed and valid only for the principal and the
 * endpoint that got them.
 */

import { seal, sealedWith, unseal } from "../lib/seal.ts";
import { isObject, type JsonObject } from "../protocol/json-rpc.ts";
import type { SessionKeys } from "./keyring.ts";

type Purpose = "cursor" | "request-state" | "task" | "older-task";

/** The principal and endpoint that a value is sealed for, and the keys. */
export interface SealScope {
  readonly keys: SessionKeys;
  readonly principal: string;
  /** The path of the endpoint. */
  readonly route: string;
}

/** @param value any JSON value. */
export async function sealFor(
  { keys, principal, route }: SealScope,
  purpose: Purpose,
  value: unknown,
): Promise<string> {
  return seal(await keys.keyring(), purpose, { p: principal, r: route, v: value });
}

/**
 * @returns `undefined` for a text that was forged, cut, or sealed for another principal, endpoint or
 *   purpose, or by another gateway. The cases cannot be distinguished.
 */
export async function unsealFor(
  { keys, principal, route }: SealScope,
  purpose: Purpose,
  text: string,
): Promise<unknown> {
  const keyId = sealedWith(text);
  if (keyId === undefined) return undefined;
  const sealed = await unseal(await keys.keyringFor(keyId), purpose, text);
  const { p, r, v }: JsonObject = isObject(sealed) ? sealed : {};
  return p === principal && r === route ? v : undefined;
}
