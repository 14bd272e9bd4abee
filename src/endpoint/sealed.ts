/**
 * Values that a client carries for the gateway, so that nothing has to be kept: cursors, the state
 * of a server's questions, and the ids of its tasks. Sealed, and for nobody but the principal and the
 * endpoint that they were given to.
 */

import { seal, sealedWith, unseal } from "../lib/seal.ts";
import { isObject } from "../protocol/json-rpc.ts";
import type { SessionKeys } from "./keyring.ts";

type Purpose = "cursor" | "request-state" | "task";

/** Whom a value is sealed for, and with what. */
export interface SealScope {
  readonly keys: SessionKeys;
  readonly principal: string;
  /** The path of the endpoint. */
  readonly route: string;
}

/** @param value anything that JSON can carry. */
export async function sealFor(
  { keys, principal, route }: SealScope,
  purpose: Purpose,
  value: unknown,
): Promise<string> {
  return seal(await keys.keyring(), purpose, { p: principal, r: route, v: value });
}

/**
 * @returns `undefined` for what was forged, cut, sealed for somebody else, for another endpoint or
 *   another purpose, or by another gateway. Nothing tells the cases apart.
 */
export async function unsealFor(
  { keys, principal, route }: SealScope,
  purpose: Purpose,
  text: string,
): Promise<unknown> {
  const keyId = sealedWith(text);
  if (keyId === undefined) return undefined;
  const sealed = await unseal(await keys.keyringFor(keyId), purpose, text);
  if (!isObject(sealed) || sealed["p"] !== principal || sealed["r"] !== route) return undefined;
  return sealed["v"];
}
